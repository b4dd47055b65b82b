include tools/common.mk

BIN := bin/celadon
FUZZTIME ?= 5m
TESTFLAGS = -timeout 60m

.PHONY: build
build: ## Build the command into bin/
	$(GO) build -o $(BIN) ./cmd/celadon

.PHONY: demo
demo: build ## Check the objects in examples/ against their CRDs
	@echo '$$ celadon check --crd examples/crontab/crd.yaml examples/crontab/objects'
	@$(BIN) check --crd examples/crontab/crd.yaml examples/crontab/objects; test $$? -eq 1
	@echo
	@echo '$$ celadon check --crd examples/crontab/crd.yaml --old examples/crontab/objects examples/crontab/updates'
	@$(BIN) check --crd examples/crontab/crd.yaml --old examples/crontab/objects examples/crontab/updates; test $$? -eq 1

# The packages of the library and of the command, which is a module of its own. Its tests take longest,
# so they start first.
PACKAGES := ./cmd/celadon/... ./builtin/... ./...

# Separate modules, in addition to cmd/celadon, conformance, and tools. Each is linted and tested
# like the library, with the celadon that make build builds.
MODULES := celadontest/fakeclient examples/operator celadonvet conformance/markers tools/release

# The inner loop: short tests of the packages in which verdicts are made, without corpora. Go runs only the tests of packages that have changed since the last run.
QUICK ?= ./types/... ./cost ./engine ./engine/policy ./engine/vet ./engine/x/...

.PHONY: quick
quick: ## Run the short tests of the library, without corpora (QUICK: packages)
	CELADON_LEVEL=quick $(GO) test -short -vet=off -ldflags=-w $(QUICK)

# The tests of the library and the command leave a core idle half of the time, so those of the other
# modules run next to them, with less priority. The real API server and the browser have the highest,
# because their requests time out.
.PHONY: test
test: build ## Run every test, the real API server's included
	@$(MAKE) --no-print-directory -j4 test-main test-modules test-conformance window TESTFLAGS='$(TESTFLAGS)'

.PHONY: test-main
test-main: build
	nice -n 5 $(GO) test $(TESTFLAGS) $(PACKAGES)

# The ends of the window of the fake client that are tested. The workspace has the releases of newest.mod.
FAKECLIENT ?= go

.PHONY: test-modules
test-modules: build
	@set -e; for module in $(MODULES); do echo "$$module"; (cd $$module && PATH="$(CURDIR)/bin:$$PATH" nice $(GO) test $(TESTFLAGS) ./...); done
	@set -e; cd celadontest/fakeclient; for end in $(FAKECLIENT); do echo "$$end.mod"; \
		GOWORK=off nice $(GO) test $(TESTFLAGS) -modfile=$$end.mod ./...; done
	@$(MAKE) --no-print-directory -C site played check

.PHONY: test-conformance
test-conformance: build
	cd conformance && $(GO) test $(TESTFLAGS) -v ./...

# The library is built and tested with the oldest supported k8s.io release, which the root go.mod
# requires, and with those of WINDOW: modules in tools/window. Its answers must not depend on them.
# Each change is tested with both ends of the window. The releases between them take minutes to
# compile, so make nightly adds them.
WINDOW ?= cel-0.31
WINDOW_TEST = GOWORK=off CELADON_ANSWERS=$(CURDIR)/bin/window/$(1) nice $(GO) test -vet=off -ldflags=-w -timeout 30m -count=1 -tags window $(2) ./internal/testing/window

.PHONY: window
window: ## Build and test the library with each supported k8s.io release, and compare the answers
	@mkdir -p bin/window
	CELADON_ANSWERS=$(CURDIR)/bin/window/workspace nice $(GO) test -vet=off -ldflags=-w -timeout 30m -count=1 ./internal/testing/window
	$(call WINDOW_TEST,oldest)
	cmp bin/window/workspace bin/window/oldest
	GOWORK=off nice $(GO) test -vet=off -ldflags=-w -timeout 30m -tags window ./types ./cost ./engine ./engine/x/celgo ./engine/x/celenv ./engine/x/celvalue ./celadontest
	GOWORK=off nice $(GO) test -vet=off -ldflags=-w -short -timeout 30m -tags window ./repl
	@set -e; for release in $(WINDOW); do echo "$$release"; \
		$(call WINDOW_TEST,$$release,-modfile=tools/window/$$release.mod); cmp bin/window/workspace bin/window/$$release; \
		GOWORK=off nice $(GO) build -modfile=tools/window/$$release.mod ./types ./cost ./engine/... ./celadontest ./repl; done

# The packages that make next tests.
NEXT ?= ./types ./cost ./engine ./engine/x/celenv ./engine/x/eval ./celadontest

.PHONY: next
next: ## Build and test the library with the Kubernetes libraries that are not released yet, in a copy of the tree
	nice tools/next.sh $(NEXT)

.PHONY: conformance
conformance: ## Run all corpora and many made-up CRDs on the real API server (conformance/Makefile has more)
	$(MAKE) -C conformance full

.PHONY: attack
attack: ## Attack the command: hostile trees, rules, clients and texts (CELADON_LEVEL=long for all of it)
	$(GO) test -count=1 -timeout 30m -run TestAttack \
		$$(grep -rl --include='*_test.go' '^func TestAttack' celadonvet cmd engine internal x | xargs dirname | sort -u | sed 's/^/.\//')

.PHONY: fuzz
fuzz: ## Run each fuzz target (FUZZTIME each)
	@set -e; for target in $$(grep -ro --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sed 's/^\.\///; s/\/[^/]*:func /:/' | sort); do \
		echo "$$target"; (cd $${target%%:*} && $(GO) test . -run '^$$' -fuzz "^$${target##*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x); done

.PHONY: vulnerabilities
vulnerabilities: ## Look for known vulnerabilities in linked modules; needs the network
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 $(PACKAGES)

.PHONY: nightly
nightly: export CELADON_LEVEL = long
nightly: ## Run the tests that take too long for each change
	$(MAKE) attack
	$(GO) test -timeout 120m -run 'TestFindInCorpus|TestFindsWhatMaintainersRefuse' -v ./x/analysis/search
	$(GO) test -timeout 60m -run TestLintCorpus -v ./x/analysis/lint
	$(GO) test -timeout 60m -run 'TestPlanted|TestLossless' ./x/roundtrip
	$(GO) test -timeout 240m -v ./x/analysis/prove # also compares with z3 and cvc5, if they are installed
	$(GO) test -timeout 60m -run OfCorpus -v ./x/analysis/compare
	cd conformance/markers && $(GO) test -timeout 60m -run TestMapping -v .
	$(MAKE) window WINDOW="$(basename $(notdir $(wildcard tools/window/*.mod)))"
	$(GO) test -count=1 -v -run 'TestEmbedders|TestNewMinor' ./internal/testing/window
	$(MAKE) next
	$(MAKE) test-modules FAKECLIENT='go newest'
	$(GO) test -timeout 60m -v -run 'Corpus|Truncated|Outline' ./x/assist ./internal/yaml/position ./repl
	$(GO) test -count=1 -timeout 120m -v -run 'TestSame|TestHeap|TestMends|TestPrefixes' ./cmd/celadon/internal/lsp ./cmd/celadon/internal/playground/service
	$(GO) test -count=1 -timeout 60m -v -run 'TestTerminalRandomKeys|TestShellMemory' ./repl ./cmd/celadon
	$(GO) test -count=1 -timeout 120m -v -run 'TestMillionInShards|TestShardsMerged|TestDocsExamples|TestSameBytes' ./cmd/celadon
	$(MAKE) -C conformance full minors servers explain e2e scoreboard bench-compare
	cd conformance && $(GO) test -v -timeout 60m -run TestSequences . -sequences 10000
	$(MAKE) -C tools/release check
	$(MAKE) npm
	$(MAKE) -C site shown played-long
	$(MAKE) -C editors/vscode editors
	CELADON_LEVEL=full $(GO) test -tags upstreamcel -timeout 60m $(PACKAGES)
	CELADON_LEVEL=full $(GO) test -race ./types ./cost ./engine/... ./celadontest ./repl ./cmd/... ./celadontest/fakeclient
	CELADON_PARSES=1000000 $(GO) test -v -count=1 -timeout 0 -run 'TestMadeUpExpressions|TestTolerant' ./internal/cel/parse ./internal/cel/check ./internal/cel/estimate
	$(MAKE) fuzz

.PHONY: site
site: ## Build the documentation and the playground as static files into bin/site (site/Makefile has more; needs npm)
	$(MAKE) -C site site

# The engine in WebAssembly, with the file of Go that runs it, for make npm and make site.
WASM ?= bin/npm

.PHONY: wasm
wasm:
	mkdir -p $(WASM)
	cp "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" $(WASM)
	GOOS=js GOARCH=wasm $(GO) build -tags=grpcnotrace -trimpath -ldflags='-s -w' -o $(WASM)/celadon.wasm ./cmd/celadon/wasm

.PHONY: npm
npm: wasm ## Build the JavaScript package of the engine into bin/npm, and test it with Node
	cp cmd/celadon/wasm/npm/* LICENSE THIRD_PARTY_LICENSES.md bin/npm
	cd bin/npm && CELADON_EXAMPLES=$(CURDIR)/examples node --test

.PHONY: corpus
corpus: ## Download real CRDs into bin/corpus, for tests that need them
	tools/corpus.sh bin/corpus

.PHONY: bench-peers
bench-peers: ## Measure against other programs and the API server's code, and write docs/speed.md
	cd conformance && $(GO) run ./peers -write

.PHONY: lint
lint: ## gofmt, the analyzers of vet and staticcheck, actionlint, tidy modules
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'run gofmt -w on these'; exit 1; }
	cd tools && GOWORK=off $(GO) build -o ../bin/lint ./lint
	bin/lint $(PACKAGES)
	GOWORK=off $(GO) build -modfile=tools/go.mod -o bin/actionlint github.com/rhysd/actionlint/cmd/actionlint
	bin/actionlint -shellcheck= -pyflakes= .github/workflows/*.yml docs/ci-*.yaml
	$(GO) mod tidy -diff
	cd cmd/celadon && ../../tools/tidy.sh -diff
	cd builtin && ../tools/tidy.sh -diff
	cd tools && GOWORK=off ../bin/lint ./...
	@set -e; for module in conformance $(MODULES); do echo "$$module"; (cd $$module && $(CURDIR)/bin/lint ./...); done
	@set -e; for module in conformance tools $(MODULES); do (cd $$module && $(GO) mod tidy -diff); done
	cd celadontest/fakeclient && $(GO) mod tidy -diff -modfile=newest.mod

# The short attacks are part of the tests. Vet is part of lint; otherwise, the tests would run some of
# its analyzers on all dependencies again. Linking without DWARF takes half of the time. With GOGC, the
# compiler takes a sixth less, and some tests a third.
.PHONY: ci
ci lint: export GOGC = 400
ci: TESTFLAGS = -vet=off -ldflags=-w -timeout 60m
ci: lint test demo ## All that must pass before a change lands
