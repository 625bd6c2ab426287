# Everything runs in .venv, made on first use. `make demo` and `make test` each do all the set-up they need.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
WHEEL := build/wheel
# A file stays with one process, which makes what its tests share once. Files go in their order.
PARALLEL := -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: demo test check lint types tests wheel docs clean

demo: $(INSTALLED)
	$(BIN)/porter migrate examples/softmax.cu --target maca --out build/demo

# What continuous integration does.
test: check wheel

# mypy keeps one core busy: tests run on the other meanwhile.
check: lint
	$(MAKE) --jobs 2 types tests

lint: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(INSTALLED)
	$(BIN)/mypy

# Short files come last, so that neither process waits long for the other.
tests: $(INSTALLED)
	$(BIN)/python -m pytest $(PARALLEL) tests/device tests/toolchain tests/pure

# A smoke test of the wheel, in an environment that has everything else but not this checkout: that it holds the files
# which `check` has tested, all of them, finds its data and backends, and runs each command.
PACKAGED := $(addprefix ../../tests/pure/,cli report/test_search_commands.py test_backend_contract.py test_catalogue.py \
    test_packaging.py test_registry.py test_resources.py)

wheel: $(INSTALLED)
	rm -rf $(WHEEL)
	$(BIN)/hatchling build -t wheel -d $(WHEEL)
	$(BIN)/python -m venv --without-pip $(WHEEL)/env
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	    > "$$($(WHEEL)/env/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/dependencies.pth"
	$(BIN)/pip --quiet --python $(WHEEL)/env/bin/python install --no-deps $(WHEEL)/*.whl
	cd $(WHEEL) && env/bin/python -P -m pytest $(PARALLEL) -p no:cacheprovider -c ../../pyproject.toml $(PACKAGED)

# Regenerates what the documentation quotes: the findings reference, the sample output.
docs: $(INSTALLED)
	$(BIN)/python -m pytest --accept tests/pure/docs tests/toolchain/docs

clean:
	rm -rf .venv build porter-out

# pip would compile one file after the other. Of these models few are ever imported, and those are compiled then; some
# files of others are for a newer Python.
SELDOM := transformers/models/

# torch goes first and alone: it is the large one, and pip must not choose another version for the sake of the rest.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("porter needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	@command -v g++ > /dev/null || { echo "porter needs g++" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --no-compile -c constraints.txt torch
	$(BIN)/pip install --quiet --no-compile -c constraints.txt -e '.[test]'
	$(BIN)/python -m compileall -qq -j 0 -x $(SELDOM) .venv/lib || true
	$(BIN)/porter doctor --warm
	touch $@
