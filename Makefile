# Every target sets itself up: a fresh clone needs Python 3.11+, make and a network.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Tests start hundreds of processes: none of them has to compile what another one has compiled.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test check bench bench-actors bench-native bench-gpu bench-promela bench-maude bench-asyncio conformance conformance-folder soak trophies clean

demo: $(READY)
	$(BIN)/python -m pytest -q examples/asyncio || test $$? -eq 1
	cd examples/asyncio && ../../$(BIN)/porcini explore transfers:crossing || test $$? -eq 1
	$(BIN)/porcini explore examples/gcl/vineyard.gcl || test $$? -eq 1
	$(BIN)/porcini explore examples/abs/account.abs || test $$? -eq 1
	$(BIN)/porcini check examples/promela/mutex.pml
	$(BIN)/porcini check examples/maude/table.maude --ltl '[] ~ (eats(0) /\ eats(1))'
	$(BIN)/porcini symbolic examples/par/withdrawals.par || test $$? -eq 1

test: $(READY)
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python benchmarks/gcl.py
	$(BIN)/python benchmarks/engines.py
	$(BIN)/python benchmarks/symbolic.py

bench-actors: $(READY)
	$(BIN)/python benchmarks/actors.py $(ARGS)

# With SPIN on the same files, where `spin` and `gcc` are installed (Debian: apt-get install spin gcc).
bench-promela: $(READY)
	$(BIN)/python benchmarks/promela.py $(ARGS)

# Native code on one core, beside SPIN on the same files; and on a graphics card, where there is one.
bench-native: $(READY)
	$(BIN)/python benchmarks/native.py $(ARGS)

bench-gpu: $(READY)
	$(BIN)/python benchmarks/gpu.py $(ARGS)

# With PyPI's frontrun in an environment of its own beside it.
bench-asyncio: $(READY)
	$(BIN)/python benchmarks/coroutines.py $(ARGS)

bench-maude: $(READY)
	$(BIN)/python benchmarks/rewriting.py $(ARGS)

# Wide programs against outside judges, and mutants against the same programs: fixed seeds.
conformance: $(READY)
	PYTHONPATH=tests $(BIN)/python -m conformance $(ARGS)

# The same with fresh seeds, for as long as one likes: SOAK_SECONDS=1800 make soak, ARGS="gcl abs" for some kinds.
soak: $(READY)
	PYTHONPATH=tests $(BIN)/python -m conformance --soak $(ARGS)

# Bugs in released versions of libraries, which are installed from PyPI into `.trophies`: docs/trophies.md.
trophies: $(READY)
	PORCINI_TROPHIES=1 $(BIN)/python -m pytest -q tests/aio/trophies/test_trophies.py $(ARGS)

# Other people's Promela models, through SPIN and through Porcini: make conformance-folder FOLDER=../models
conformance-folder: $(READY)
	PYTHONPATH=tests $(BIN)/python -m conformance.promela.folder $(FOLDER) $(ARGS)

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev,spot,maude]"
	touch $(READY)

clean:
	rm -rf $(VENV) .trophies build dist .hypothesis .mypy_cache .ruff_cache .import_linter_cache
