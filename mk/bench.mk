bench: setup-dev ## measure against the bars; one JSON line a result
	$(PYTHON) -m bench $(BENCH)
.PHONY: bench
