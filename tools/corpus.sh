#!/usr/bin/env bash
# Makes a corpus for CELADON_CORPUS: the CRDs with rules in published modules. Go verifies the modules by
# its checksum database. The corpus has no cases, so tests of recorded writes are still skipped.
set -euo pipefail
test $# -eq 1 || { echo 'usage: corpus.sh FOLDER'; exit 2; }
out=$(mkdir -p "$1" && cd "$1" && pwd)
modules="
sigs.k8s.io/gateway-api@v1.6.0
sigs.k8s.io/karpenter@v1.14.0
sigs.k8s.io/cluster-api@v1.14.2
github.com/cert-manager/cert-manager@v1.21.2
github.com/envoyproxy/gateway@v1.9.1
github.com/kubeflow/trainer/v2@v2.0.0
github.com/kyverno/kyverno@v1.19.1
github.com/cilium/cilium@v1.20.2
github.com/openshift/api@v0.0.0-20251015095338-264e80a2b6e7
github.com/crossplane/crossplane/v2@v2.0.2
"
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
for module in $modules; do
	if ! dir=$(GOWORK=off GOFLAGS=-mod=mod go mod download -json "$module" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p') || test -z "$dir"; then
		echo "$module: not available" >&2
		continue
	fi
	folder=$out/crds/$(basename "${module%%@*}")
	mkdir -p "$folder"
	grep -rlE --include='*.yaml' --exclude-dir=charts '^kind: CustomResourceDefinition$' "$dir" | while read -r file; do
		grep -q 'x-kubernetes-validations:' "$file" && test "$(grep -c '^kind:' "$file")" = 1 || continue
		name=${file#"$dir"/}
		cp "$file" "$folder/${name//\//-}"
		chmod u+w "$folder/${name//\//-}"
	done
	echo "$module: $(find "$folder" -name '*.yaml' | wc -l) files"
done
