# Every target sets up what it needs: a virtual environment in the checkout, from the pinned requirements.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-slow check docs wheel wheel-check bench lock clean

demo: .venv/.base
	$(BIN)/dowsax demo --out demo

PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0
# Most tests run a program a few times only. It compiles three times as fast without optimisation.
# Without the pass algsimp, programs crash or compute wrong numbers (jaxlib 0.10.2).
COMPILE_FAST := --xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false \
	--xla_cpu_parallel_codegen_split_count=1 \
	--xla_disable_hlo_passes=constant_folding,while-loop-invariant-code-motion,simplify-while-loops

# Tests start the command line often: bytecode is written even where the environment says not to.
test: .venv/.dev
	PYTHONDONTWRITEBYTECODE= XLA_FLAGS="$(COMPILE_FAST)" $(PYTEST) -m "not slow"

# Studies that take minutes each. Exit code 5 says that there are none.
test-slow: .venv/.dev
	$(PYTEST) -m slow || [ $$? -eq 5 ]

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/basedpyright

docs: .venv/.docs
	$(BIN)/python -m tools.reference_pages
	$(BIN)/python -m zensical build --clean --strict

wheel: .venv/bin/python
	rm -rf dist
	$(BIN)/pip wheel -q --no-deps --wheel-dir dist .

# Installs the wheel outside of the checkout, once for each Python that can be had, and runs it there.
wheel-check: wheel
	-$(BIN)/pip install -q uv
	$(BIN)/python -m tools.check_wheel dist/*.whl

bench: .venv/.peers
	$(BIN)/python -m benchmarks.run

# Pins without hashes, hosts or paths, so that any mirror serves; what runs has the pins of what tests it.
COMPILE := $(BIN)/pip-compile -q --strip-extras --no-emit-index-url --no-emit-trusted-host \
	--no-emit-find-links --no-header --no-annotate pyproject.toml
# Not the extra `all`, which refers to dowsax itself: its path would be written down.
BASE_EXTRAS := --extra console --extra results --extra viz
lock: .venv/.dev
	$(COMPILE) $(BASE_EXTRAS) --extra arviz --extra mavlink --extra mcap --extra mqtt --extra ray --extra serial --extra dev -o requirements-dev.txt
	$(COMPILE) $(BASE_EXTRAS) -c requirements-dev.txt -o requirements.txt
	$(COMPILE) --extra peers -c requirements-dev.txt -o requirements-peers.txt
	$(COMPILE) --extra docs -c requirements-dev.txt -o requirements-docs.txt

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.base: requirements.txt pyproject.toml | .venv/bin/python
	$(BIN)/pip install -q -r requirements.txt
	$(BIN)/pip install -q --no-deps -e .
	touch $@

# Has all that .base has.
.venv/.dev: requirements-dev.txt pyproject.toml | .venv/bin/python
	$(BIN)/pip install -q --no-deps --no-compile -r requirements-dev.txt
	$(BIN)/pip install -q --no-deps -e .
	touch .venv/.base $@

.venv/.peers: requirements-peers.txt .venv/.dev
	$(BIN)/pip install -q -r requirements-peers.txt
	touch $@

.venv/.docs: requirements-docs.txt .venv/.base
	$(BIN)/pip install -q -r requirements-docs.txt
	touch $@

clean:
	rm -rf .venv build demo dist site .pytest_cache .ruff_cache
