# Needs: make, Python 3.11 or newer with its venv module, and Node (for the second verifier in `make test`).
# Everything else is installed on first use into .venv, at the versions of constraints.txt.

VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DEMO   := .demo
FRAMEWORKS := $(VENV)/frameworks
ALVEUS := $(BIN)/alveus --home $(DEMO) --agent demo

.DEFAULT_GOAL := help
.PHONY: help run test lint bench prove docs clean

help:
	@echo 'make run    import an example transcript, ask it a question, prove that nothing was changed'
	@echo 'make test   the tests, then the test vectors with the second verifier (Node)'
	@echo 'make lint   ruff, mypy, import contracts'
	@echo 'make prove  the slow proofs: fault injection at every system call, long state machines, the frameworks (a download of 700 MB)'
	@echo 'make bench  speed, beside the plain implementation'
	@echo 'make docs   the documentation, into site/'
	@echo 'make clean  remove everything that make made'

# The home is made anew each time, so what is printed is what a first day looks like.
run: $(READY)
	@rm -rf $(DEMO)
	$(ALVEUS) init
	$(ALVEUS) import examples/claude-code-session.jsonl
	$(ALVEUS) context "why did we move from PostgreSQL to SQLite?" --budget 800
	$(ALVEUS) verify

# The timeout: a hung lock must fail its test, not hang the run.
test: $(READY)
	@command -v node >/dev/null || { echo 'make test: Node is missing; install nodejs (any version from 18) for vectors/verify.mjs' >&2; exit 1; }
	$(BIN)/python -m pytest --timeout 300
	node vectors/verify.mjs

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

prove: $(READY) $(FRAMEWORKS)/.ready
	$(BIN)/python -m pytest -m prove
	$(FRAMEWORKS)/bin/python -m pytest -p no:asyncio -p no:cacheprovider --timeout 300 tests/doors/frameworks
	npm install --silent --no-save --prefix .venv/node gpt-tokenizer@4.0.0
	NODE_MODULES="$(CURDIR)/.venv/node/node_modules" node tests/o200k.mjs

bench: $(READY)
	$(BIN)/python bench/run.py
	$(BIN)/python bench/recall.py
	$(BIN)/python bench/vectors.py
	$(BIN)/python bench/audit.py
	$(BIN)/python bench/tiers.py
	$(BIN)/python bench/kernels.py
	$(BIN)/python bench/kernels.py bench/held_out --only table
	$(BIN)/python bench/digest.py
	$(BIN)/python bench/importers.py
	$(BIN)/python bench/hooks.py
	$(BIN)/python bench/protocol.py

docs: $(READY)
	$(BIN)/mkdocs build --strict --quiet
	@echo 'site/index.html'

clean:
	rm -rf $(VENV) $(DEMO) site dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

# The stamp is written last: an installation that was interrupted is begun again.
$(READY): pyproject.toml constraints.txt
	@python=$$(for p in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
	    $$p -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; \
	  done); \
	test -n "$$python" || { \
	  echo 'make: no Python 3.11 or newer with venv was found; install it (Debian: apt install python3-venv) or name one: make PYTHON=/path/to/python3' >&2; \
	  exit 1; }; \
	echo "making $(VENV) with $$($$python --version), once" >&2; \
	$(BIN)/python -c '' 2>/dev/null || $$python -m venv --clear $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt pip
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt --build-constraint constraints.txt \
	  --group dev --editable .
	@touch $@

# The frameworks that the extras are for, beside the rest: `make test` does without them, and skips their tests aloud.
$(FRAMEWORKS)/.ready: $(READY)
	@$(BIN)/python -m venv --clear --without-pip $(FRAMEWORKS)
	@$(BIN)/python -m pip --python $(FRAMEWORKS)/bin/python install -qq --disable-pip-version-check -c constraints.txt \
	  --build-constraint constraints.txt --group frameworks \
	  --editable '.[anthropic,claude-agent-sdk,langchain,langgraph,openai-agents,pydantic-ai]'
	@touch $@
