#!/usr/bin/env bash
# Builds and tests the library with the libraries of the Kubernetes minor that is not released yet, in a copy of
# the tree in bin/next. It rewrites the paths of the modules that move: cel-go, structured-merge-diff, and the types
# of CRDs. docs/versions.md describes what the copy is for. Arguments: the packages to test.
set -euo pipefail
cd "$(dirname "$0")/.."
version=v0.38.0-beta.0
export GOWORK=off GOTOOLCHAIN=go1.27.4
start=$SECONDS
conformance/minors/preview.sh "$PWD/bin/apiextensions-api"
rm -rf bin/next
mkdir -p bin/next
git ls-files -z -- . ':!cmd' ':!conformance' ':!builtin' ':!celadonvet' ':!tools' ':!oss-fuzz' ':!site' |
  xargs -0 cp --parents -t bin/next
cd bin/next
find . -name '*.go' -exec sed -i -e 's|"github.com/google/cel-go/|"cel.dev/cel-go/|' \
  -e 's|"sigs.k8s.io/structured-merge-diff/v6/|"sigs.k8s.io/structured-merge-diff/v7/|' \
  -e 's|celtypes\.IndexOrError|celtypes.GetOrError|' {} +
# k8s.io/apiserver 0.38 also pins the costs and the limits of older releases of cel-go.
sed -i 's|cel.DefaultUTCTimeZone(true),|& cel.CostModelVersion(0), cel.ExpressionNodeLimit(-1),|' engine/x/celenv/language.go
requires=(-droprequire=github.com/google/cel-go -droprequire=sigs.k8s.io/structured-merge-diff/v6 -go=1.27.0)
requires+=(-require=cel.dev/cel-go@v0.33.2 -require=sigs.k8s.io/structured-merge-diff/v7@v7.0.0)
for name in api apiextensions-apiserver apimachinery apiserver client-go; do requires+=(-require="k8s.io/$name@$version"); done
# What the module proxy does not have yet.
requires+=(-replace=k8s.io/apiextensions-api=../apiextensions-api)
requires+=(-replace=sigs.k8s.io/structured-merge-diff/v7@v7.0.1=sigs.k8s.io/structured-merge-diff/v7@v7.0.0)
go mod edit "${requires[@]}"
go build -mod=mod ./types ./cost ./engine/... ./celadontest ./repl
echo "built after $((SECONDS - start)) seconds"
go test -mod=mod -short -vet=off -tags next "$@"
go test -mod=mod -vet=off -tags next -run 'TestDifferential|TestOverloads|TestCorpus|TestWork' ./engine/x/eval
echo "tested after $((SECONDS - start)) seconds"
