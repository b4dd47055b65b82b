SHELL := bash
.DEFAULT_GOAL := help

GO ?= go
BIN := bin/celadon
# Corpora are folders of real CRDs and cases. Tests without their corpus are skipped.
CELADON_CORPUS ?= $(wildcard $(abspath ../shared/corpus))
export CELADON_CORPUS
# Recorded answers of real servers of each Kubernetes version.
CELADON_VERSIONS ?= $(wildcard $(abspath ../shared/versions))
export CELADON_VERSIONS
# Real admission policies.
CELADON_POLICIES ?= $(wildcard $(abspath ../shared/policies))
export CELADON_POLICIES
# CRDs of each release of real projects.
CELADON_HISTORY ?= $(wildcard $(abspath ../shared/history))
export CELADON_HISTORY
WORLDS ?= 20000
SERVER_WORLDS ?= 500
ORACLE_CRDS ?= 5000
ATTACK ?= short
FUZZTIME ?= 5m
PARSES ?= 1000000
TESTFLAGS = -timeout 30m
CELADON_BROWSER ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)

.PHONY: help
help: ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 20

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
PACKAGES := ./cmd/celadon/... ./...

# Separate modules, in addition to cmd/celadon, conformance, and tools. Each is linted and tested
# like the library, with the celadon that make build builds.
MODULES := celadontest/fakeclient celadontest/remote examples/operator celadonvet cmd/celadon-gen tools/release

# The inner loop: short tests of the packages in which verdicts are made, and what is built on them,
# without corpora. Go runs only the tests of packages that have changed since the last run.
QUICK ?= ./types/... ./cost/... ./engine/... ./internal/... ./x/... ./celadontest

.PHONY: quick
quick: export CELADON_CORPUS =
quick: export CELADON_VERSIONS =
quick: export CELADON_POLICIES =
quick: export CELADON_HISTORY =
quick: ## Run the short tests of the library, without corpora (QUICK: packages)
	$(GO) test -short -vet=off $(QUICK)

# The tests of the library and the command leave a core idle half of the time, so those of the other
# modules run next to them, with less priority. The real API server and the browser have the highest,
# because their requests time out.
.PHONY: test
test: build ## Run every test, the real API server's included
	@$(MAKE) --no-print-directory -j4 test-main test-modules test-conformance window TESTFLAGS='$(TESTFLAGS)'

.PHONY: test-main
test-main: build
	nice -n 5 $(GO) test $(TESTFLAGS) $(PACKAGES)

.PHONY: test-modules
test-modules: build
	@set -e; for module in $(MODULES); do echo "$$module"; (cd $$module && PATH="$(CURDIR)/bin:$$PATH" nice $(GO) test $(TESTFLAGS) ./...); done
	@set -e; cd celadontest/fakeclient; for end in go newest; do echo "$$end.mod"; \
		GOWORK=off nice $(GO) test $(TESTFLAGS) -modfile=$$end.mod ./...; done
	@$(MAKE) --no-print-directory played
	@$(MAKE) --no-print-directory site-check

.PHONY: test-conformance
test-conformance: build
	cd conformance && $(GO) test $(TESTFLAGS) -v ./...

# The library is built and tested with the oldest supported k8s.io release, which the root go.mod
# requires, and with those of WINDOW: modules in tools/window. Its answers must not depend on them.
# Each change is tested with both ends of the window. The releases between them take minutes to
# compile, so make nightly adds them.
WINDOW ?= cel-0.31
WINDOW_TEST = GOWORK=off CELADON_ANSWERS=$(CURDIR)/bin/window/$(1) nice $(GO) test -vet=off -timeout 30m -count=1 -tags window $(2) ./internal/testing/window

.PHONY: window
window: ## Build and test the library with each supported k8s.io release, and compare the answers
	@mkdir -p bin/window
	CELADON_ANSWERS=$(CURDIR)/bin/window/workspace nice $(GO) test -vet=off -count=1 ./internal/testing/window
	$(call WINDOW_TEST,oldest)
	cmp bin/window/workspace bin/window/oldest
	GOWORK=off nice $(GO) test -vet=off -timeout 30m -tags window ./types ./cost ./engine ./engine/celgo ./engine/x/celenv ./engine/x/celvalue ./celadontest
	GOWORK=off nice $(GO) test -vet=off -short -timeout 30m -tags window ./repl
	@set -e; for release in $(WINDOW); do echo "$$release"; \
		$(call WINDOW_TEST,$$release,-modfile=tools/window/$$release.mod); cmp bin/window/workspace bin/window/$$release; \
		GOWORK=off nice $(GO) build -modfile=tools/window/$$release.mod ./types ./cost ./engine/... ./celadontest ./repl; done

.PHONY: conformance
conformance: ## Run all corpora and many made-up CRDs on the real API server (CELADON_CORPUS, SERVER_WORLDS)
	cd conformance && CELADON_FULL=1 $(GO) test -v -timeout 150m . -worlds $(SERVER_WORLDS)
	CELADON_FULL=1 $(GO) test -timeout 30m ./engine/vet

.PHONY: attack
attack: ## Attack the command: hostile trees, rules, clients and texts (ATTACK=long for all of it)
	CELADON_ATTACK=$(ATTACK) $(GO) test -count=1 -timeout 30m -run TestAttack \
		$$(grep -rl --include='*_test.go' '^func TestAttack' celadonvet cmd engine internal x | xargs dirname | sort -u | sed 's/^/.\//')

.PHONY: fuzz-inputs
fuzz-inputs: ## Run each fuzz target (FUZZTIME each)
	@set -e; for target in $$(grep -ro --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sed 's/^\.\///; s/\/[^/]*:func /:/' | sort); do \
		echo "$$target"; (cd $${target%%:*} && $(GO) test . -run '^$$' -fuzz "^$${target##*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x); done

.PHONY: parses
parses: ## Parse and check made-up and mutated expressions with cel-go's code and ours (PARSES=n)
	CELADON_PARSES=$(PARSES) $(GO) test -v -count=1 -timeout 0 -run 'TestMadeUpExpressions|TestTolerant' ./internal/cel/parse ./internal/cel/check ./internal/cel/estimate

.PHONY: vulnerabilities
vulnerabilities: ## Look for known vulnerabilities in linked modules; needs the network
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 $(PACKAGES)

.PHONY: nightly
nightly: ## Run the tests that take too long for each change
	$(MAKE) attack ATTACK=long
	CELADON_SEARCH=long $(GO) test -timeout 120m -run 'TestFindInCorpus|TestFindsWhatMaintainersRefuse' -v ./x/analysis/search
	CELADON_SEARCH=long $(GO) test -timeout 60m -run TestLintCorpus -v ./x/analysis/lint
	CELADON_SEARCH=long $(GO) test -timeout 60m -run 'TestPlanted|TestLossless' ./x/roundtrip
	CELADON_PROVE=long $(GO) test -timeout 240m -v ./x/analysis/prove # also compares with z3 and cvc5, if they are installed
	CELADON_COMPARE=long $(GO) test -timeout 60m -run OfCorpus -v ./x/analysis/compare
	cd cmd/celadon-gen && CELADON_MARKERS=long $(GO) test -timeout 60m -run TestMapping -v .
	CELADON_FULL=1 $(MAKE) window WINDOW="$(basename $(notdir $(wildcard tools/window/*.mod)))"
	CELADON_EMBED=1 $(GO) test -count=1 -v -run TestEmbedders ./internal/testing/window
	$(MAKE) conformance
	$(MAKE) compare-minors
	$(MAKE) servers
	CELADON_FULL=1 $(MAKE) explain
	CELADON_FULL=1 $(GO) test -timeout 60m -v -run 'Corpus|Truncated|Outline' ./x/assist ./internal/yaml/position ./repl
	$(MAKE) release-check
	$(MAKE) e2e
	$(MAKE) shown
	$(MAKE) played-long
	$(MAKE) editors
	CELADON_LSP=long $(GO) test -count=1 -timeout 120m -v -run 'TestSame|TestHeap|TestMends' ./cmd/celadon/internal/lsp
	CELADON_SHELL=long $(GO) test -count=1 -timeout 60m -v -run 'TestTerminalRandomKeys|TestShellMemory' ./repl ./cmd/celadon
	CELADON_SHARDS=long $(GO) test -count=1 -timeout 120m -v -run 'TestMillionInShards|TestShardsMerged' ./cmd/celadon
	CELADON_DOCS=long $(GO) test -count=1 -timeout 60m -v -run TestDocsExamples ./cmd/celadon
	cd conformance && $(GO) test -v -timeout 60m -run TestSequences . -sequences 10000
	$(GO) test -tags upstreamcel -timeout 60m $(PACKAGES)
	$(MAKE) race
	$(MAKE) bench-compare
	$(MAKE) parses
	$(MAKE) fuzz-inputs

# The playground's page. Its dist/ is committed, so that go build needs no npm. The files
# that run the engine in the browser are not.
PAGE := cmd/celadon/internal/playground/page
SITE := bin/site

.PHONY: page
page: ## Build the playground's page, which go build takes in, from its sources (needs npm)
	cd $(PAGE) && npm ci && node build.mjs

# The site is docs/ with the playground below it. SITE_BASE is its path on the host, for example /v0.1/.
PLAYGROUND := $(SITE)/playground

.PHONY: site
site: ## Build the documentation and the playground as static files into bin/site (needs npm)
	cd site && npm ci && node build.mjs $(CURDIR)/$(SITE)
	cp "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" $(PLAYGROUND)
	GOOS=js GOARCH=wasm $(GO) build -tags=grpcnotrace -trimpath -ldflags='-s -w' -o $(PLAYGROUND)/celadon.wasm ./cmd/celadon/wasm
	gzip -9 -n -c $(PLAYGROUND)/celadon.wasm > $(PLAYGROUND)/celadon.wasm.gz
	node site/brotli.mjs $(PLAYGROUND)/celadon.wasm
	rm $(PLAYGROUND)/celadon.wasm

# The engine of the playground takes minutes to compile and compress, so it is left out. The rest is built
# twice, because the same sources must give the same bytes.
SITE_CHECK := bin/site-check

.PHONY: site-check
site-check: build ## Build the documentation, check its links, and try it in a headless Chromium (CELADON_BROWSER; needs npm)
	@cd site && if ! command -v npm >/dev/null || ! npm ci --silent; then \
		echo 'NO NPM, or it gives no packages: the site was neither built nor tried in a browser'; \
	else set -e; \
		for n in 1 2; do node build.mjs $(CURDIR)/$(SITE_CHECK)/$$n; done; \
		diff -r $(CURDIR)/$(SITE_CHECK)/1 $(CURDIR)/$(SITE_CHECK)/2; \
		tests=test/links.test.mjs; \
		if test -z "$(CELADON_BROWSER)"; then \
			echo 'NO CHROMIUM: the site was not tried in a browser (make browser installs one, or CELADON_BROWSER names it)'; \
		else tests="$$tests test/site.test.mjs"; fi; \
		CELADON_BROWSER=$(CELADON_BROWSER) CELADON_SITE=$(CURDIR)/$(SITE_CHECK)/1 node --test --test-reporter=spec $$tests; \
	fi

.PHONY: browser
browser: ## Install Chromium for the page's tests, where there is none (Debian, as root)
	@test -n "$(CELADON_BROWSER)" || { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends chromium >/dev/null; }

.PHONY: played
played: build ## Hold the page to its sources, and drive it in a headless Chromium (CELADON_BROWSER; needs npm)
	@cd $(PAGE) && if ! command -v npm >/dev/null || ! npm ci --silent; then \
		echo 'NO NPM, or it gives no packages: the playground was neither built anew nor tried in a browser'; \
	elif ! node build.mjs --check; then exit 1; \
	elif test -z "$(CELADON_BROWSER)"; then \
		echo 'NO CHROMIUM: the playground was not tried in a browser (make browser installs one, or CELADON_BROWSER names it)'; \
	else CELADON_BROWSER=$(CELADON_BROWSER) CELADON_SITE=$(CELADON_SITE) node --test --test-reporter=spec test/page.test.mjs; fi

.PHONY: played-long
played-long: build site ## The same with the engine in the browser too, its sizes, times and memory, and the corpus
	rm -rf bin/answers && mkdir -p bin/answers
	CELADON_PLAYGROUND=long CELADON_ANSWERS=$(CURDIR)/bin/answers $(GO) test -count=1 -timeout 60m -run TestAnswersOfCorpus ./cmd/celadon
	CELADON_PLAYGROUND=long $(GO) test -count=1 -timeout 30m -run TestPrefixes ./cmd/celadon/internal/playground/service
	$(MAKE) played CELADON_SITE=$(CURDIR)/$(PLAYGROUND)
	cd $(PAGE) && CELADON_BROWSER=$(CELADON_BROWSER) CELADON_PLAYGROUND=long CELADON_ANSWERS=$(CURDIR)/bin/answers node --test --test-reporter=spec test/long.test.mjs
	cd site && CELADON_BROWSER=$(CELADON_BROWSER) CELADON_SITE=$(CURDIR)/$(SITE) node --test --test-reporter=spec test/site.test.mjs

.PHONY: release-files
release-files: # additional files in a release's archives, for .goreleaser.yaml
	rm -rf bin/release && mkdir -p bin/release/completions bin/release/man
	$(GO) build -trimpath -o bin/release/celadon ./cmd/celadon
	bin/release/celadon completion bash > bin/release/completions/celadon.bash
	bin/release/celadon completion zsh > bin/release/completions/_celadon
	bin/release/celadon completion fish > bin/release/completions/celadon.fish
	bin/release/celadon completion powershell > bin/release/completions/celadon.ps1
	$(GO) run -trimpath -tags man ./cmd/celadon bin/release/man $(firstword $(subst T, ,$(RELEASE_DATE)))
	cd tools/release && $(GO) build -o ../../bin/release/tool .
	bin/release/tool notices . > bin/release/NOTICES.txt

.PHONY: release-check
release-check: ## Make a release of HEAD and use it as its users would, without publishing it
	cd tools/release && CELADON_RELEASE=$(CURDIR) $(GO) test -count=1 -v -timeout 180m -run TestRelease .

.PHONY: release-tags
release-tags: ## Commit and tag a release of HEAD in dist/tree, to be looked at and pushed (VERSION=v0.1.0)
	rm -rf dist/tree && git clone --quiet . dist/tree
	cd tools/release && $(GO) run . tag $(CURDIR)/dist/tree $(VERSION)

.PHONY: openapi
openapi: ## Build celadon-openapi into bin/
	$(GO) build -o bin/celadon-openapi ./cmd/celadon/openapi/celadon-openapi

.PHONY: e2e
e2e: ## Run celadon under a whole control plane, built from the Go module proxy (16 minutes of processor once)
	cd conformance/kube && GOWORK=off $(GO) build -ldflags '-s -w' -o ../../bin/kube/etcd go.etcd.io/etcd/server/v3
	cd conformance/kube && stamp=k8s.io/component-base/version && export GOWORK=off && version=$$($(GO) list -m -f '{{.Version}}' k8s.io/kubernetes) && minor=$${version#v1.} && \
		$(GO) build -o ../../bin/kube/ -ldflags "-s -w -X $$stamp.gitVersion=$$version -X $$stamp.gitMajor=1 -X $$stamp.gitMinor=$${minor%%.*}" \
		k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kubectl
	$(GO) build -o bin/kube/celadon ./cmd/celadon
	cd conformance && $(GO) build -o ../bin/kube/scenarios ./policies/scenarios
	cd conformance/kube && export GOWORK=off && $(GO) vet ./... && $(GO) mod tidy -diff && CELADON_KUBE=$(abspath bin/kube) $(GO) test -count=1 -timeout 60m -v ./...

.PHONY: e2e-record
e2e-record: ## Record the answers of the API server that make e2e built to the policies in conformance/kube/testdata
	cd conformance/kube && GOWORK=off CELADON_KUBE=$(abspath bin/kube) $(GO) test -count=1 -timeout 30m -v -run 'TestPolicies$$' . -args -update

.PHONY: explain
explain: ## Hold celadon explain to a real kubectl, built from the Go module proxy
	cd conformance/kubectl && GOWORK=off $(GO) build -o ../../bin/kubectl .
	cd conformance && CELADON_KUBECTL=$(abspath bin/kubectl) $(GO) test -count=1 -timeout 60m -v -run TestExplain .

.PHONY: vscode
vscode: ## Package the VS Code client into bin/celadon.vsix; the same commit gives the same bytes (needs npm)
	cd editors/vscode && npm ci --silent && TZ=UTC SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) npm run package
	mkdir -p bin && mv editors/vscode/celadon.vsix bin/celadon.vsix

.PHONY: editors
editors: build ## Package the VS Code client, and drive celadon lsp with the editors that are installed
	@if command -v npm >/dev/null; then $(MAKE) vscode && cd editors/vscode && CELADON=$(abspath $(BIN)) npm test; \
	else echo 'NO NPM: the VS Code client was neither packaged nor tried'; fi
	CELADON_EDITORS=1 $(GO) test -count=1 -v -run TestEditors ./cmd/celadon

.PHONY: shown
shown: ## Look at pages of celadon docs in a headless Chromium (CELADON_BROWSER)
	@if test -n "$(CELADON_BROWSER)"; then CELADON_BROWSER=$(CELADON_BROWSER) $(GO) test -count=1 -v -run TestPagesInBrowser ./cmd/celadon; \
	else echo 'NO CHROMIUM: the pages of celadon docs were not looked at (CELADON_BROWSER names one)'; fi

.PHONY: fuzz
fuzz: ## Compare made-up worlds with the API server's code (WORLDS=n)
	cd conformance && $(GO) test -v -timeout 0 -run TestWorlds ./fuzz -worlds $(WORLDS)

# One module per Kubernetes minor, with the libraries of that minor.
MINORS := $(patsubst conformance/minors/%/go.mod,%,$(wildcard conformance/minors/1.*/go.mod))

.PHONY: oracles
oracles: ## Check and build the oracles of all Kubernetes minors into bin/oracles, which takes several minutes
	@set -e; for minor in oracle $(MINORS); do echo "$$minor"; (cd conformance/minors/$$minor && GOWORK=off $(GO) vet . && $(GO) mod tidy -diff); done
	@set -e; for minor in $(MINORS); do (cd conformance/minors/$$minor && GOWORK=off $(GO) build -o $(CURDIR)/bin/oracles/$$minor .); done

.PHONY: compare-minors
compare-minors: oracles ## Compare Celadon with the libraries of all Kubernetes minors (ORACLE_CRDS, with about 20 rules each)
	cd conformance && CELADON_ORACLES=$(CURDIR)/bin/oracles $(GO) test -count=1 -v -timeout 0 -run 'TestGenerated|TestCorpus' ./minors/compare -crds $(ORACLE_CRDS)
	cd conformance && CELADON_FULL=1 CELADON_ORACLES=$(CURDIR)/bin/oracles $(GO) test -count=1 -v -timeout 60m -run 'TestSuite$$' .

.PHONY: suite
suite: oracles ## Record the answers of the API servers in the conformance suite (docs/conformance-suite.md)
	cd conformance && CELADON_ORACLES=$(CURDIR)/bin/oracles $(GO) test -count=1 -v -timeout 60m -run 'TestSuite$$' . -update
	cd conformance && $(GO) test -count=1 ./suite ./suite/celadon -update

SERVERS := $(notdir $(patsubst %/go.mod,%,$(wildcard conformance/minors/servers/1.*/go.mod)))

.PHONY: servers
servers: ## Compare Celadon with real servers of older Kubernetes minors, built into bin/servers
	@set -e; for module in server $(SERVERS:%=servers/%); do echo "$$module"; (cd conformance/minors/$$module && GOWORK=off $(GO) vet . && $(GO) mod tidy -diff); done
	@set -e; for minor in $(SERVERS); do (cd conformance/minors/servers/$$minor && GOWORK=off $(GO) build -o $(CURDIR)/bin/servers/$$minor .); done
	cd conformance && CELADON_SERVERS=$(CURDIR)/bin/servers $(GO) test -count=1 -timeout 60m -v -run 'TestMinors|TestSuiteOnMinors' .

.PHONY: bench-peers
bench-peers: ## Measure against other programs and the API server's code, and write docs/speed.md
	cd conformance && $(GO) run ./peers -write

# A timed result depends on the machine, so this is no part of make ci.
.PHONY: bench-compare
bench-compare: ## Compare the speed with that of another commit (BASE; by default, the last tag)
	cd conformance && $(GO) run ./peers/compare -base '$(BASE)'

.PHONY: lint
lint: ## gofmt, vet, staticcheck, actionlint, tidy modules
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'run gofmt -w on these'; exit 1; }
	$(GO) vet $(PACKAGES)
	GOWORK=off $(GO) build -modfile=tools/go.mod -o bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck $(PACKAGES)
	GOWORK=off $(GO) build -modfile=tools/go.mod -o bin/actionlint github.com/rhysd/actionlint/cmd/actionlint
	bin/actionlint -shellcheck= -pyflakes= .github/workflows/*.yml docs/ci-*.yaml
	$(GO) mod tidy -diff
	cd cmd/celadon && $(GO) mod tidy -diff
	cd conformance && $(GO) vet ./... && $(GO) mod tidy -diff
	cd tools && $(GO) mod tidy -diff
	@set -e; for module in $(MODULES); do echo "$$module"; (cd $$module && $(GO) vet ./... && $(GO) mod tidy -diff); done
	cd celadontest/fakeclient && $(GO) mod tidy -diff -modfile=newest.mod

.PHONY: race
race: ## Run the engine's and the command's tests under the race detector
	$(GO) test -race ./types ./cost ./engine/... ./celadontest ./repl ./cmd/...
	cd celadontest/fakeclient && $(GO) test -race ./...
	cd celadontest/remote && $(GO) test -race ./...

# go mod tidy reads all modules that are compiled.
.PHONY: modules
modules: ## Download what make ci needs into the module cache
	@for module in . cmd/celadon conformance tools $(MODULES); do (cd $$module && $(GO) mod tidy -diff >/dev/null); done
	@cd celadontest/fakeclient && $(GO) mod tidy -diff -modfile=newest.mod >/dev/null

# The short attacks are part of the tests. Vet is part of lint; otherwise, the tests would
# run some of its analyzers on all dependencies again.
.PHONY: ci
ci: export CELADON_ATTACK = $(ATTACK)
ci: TESTFLAGS = -vet=off -timeout 30m
ci: lint test demo ## All that must pass before a change lands
