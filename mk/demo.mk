demo: setup ## serve, load the samples and ask three questions over MCP
	$(PYTHON) -m ampup_site.demo

.PHONY: demo
