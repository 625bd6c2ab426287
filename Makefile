# Everything runs in .venv, made on first use. `make demo` and `make test` each do all the set-up they need.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
WHEEL := build/wheel
# A file stays with one process, which makes what its tests share once. Files go in their order: many short ones come last.
PARALLEL := -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: demo test check wheel docs clean

demo: $(INSTALLED)
	$(BIN)/porter migrate examples/softmax.cu --target maca --out build/demo

# What continuous integration does.
test: check wheel

check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest $(PARALLEL)

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

# torch goes first and alone: it is the large one, and pip must not choose another version for the sake of the rest.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("porter needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	@command -v g++ > /dev/null || { echo "porter needs g++" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet -c constraints.txt torch
	$(BIN)/pip install --quiet -c constraints.txt -e '.[test]'
	$(BIN)/porter doctor --warm
	touch $@
