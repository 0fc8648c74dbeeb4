quality: setup-dev ## measure answers with a harness (MEMBENCH=<folder> DATA=<folder>)
	MEMBENCH="$(MEMBENCH)" DATA="$(DATA)" $(PYTHON) -m bench.quality $(QUALITY)
.PHONY: quality
