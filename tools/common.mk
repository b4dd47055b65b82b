# Included by each Makefile. ROOT is the top of the repository.
SHELL := bash
.DEFAULT_GOAL := help
GO ?= go
ROOT := $(patsubst %/tools/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
# Corpora are folders of real CRDs and cases. make corpus makes a smaller one.
# Tests without their corpus are skipped.
SHARED := $(abspath $(ROOT)/../shared)
CELADON_CORPUS ?= $(firstword $(wildcard $(SHARED)/corpus $(ROOT)/bin/corpus))
export CELADON_CORPUS
# Recorded answers of real servers of each Kubernetes version.
CELADON_VERSIONS ?= $(wildcard $(SHARED)/versions)
export CELADON_VERSIONS
# Real admission policies.
CELADON_POLICIES ?= $(wildcard $(SHARED)/policies)
export CELADON_POLICIES
# CRDs of each release of real projects.
CELADON_HISTORY ?= $(wildcard $(SHARED)/history)
export CELADON_HISTORY
CELADON_BROWSER ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)

.PHONY: help
help: ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(firstword $(MAKEFILE_LIST)) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 20
