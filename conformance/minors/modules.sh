#!/usr/bin/env bash
# Writes the module files of the programs oracle and server, one per Kubernetes minor. A file requires the
# versions that k8s.io/apiextensions-apiserver of the minor requires, cel-go's among them, and has its go
# and godebug directives, because some functions of CEL depend on those of the standard library. go.mod is
# the file of oracle's newest and of server's oldest minor. To add a minor or a patch release, edit the
# lists at the end.
set -euo pipefail
cd "$(dirname "$0")"
export GOWORK=off
upstream=k8s.io/apiextensions-apiserver

# write FILE VERSION writes a module file with the libraries of a version, and its sums.
write() {
  local from versions
  from=$(go mod download -json "$upstream@$2" | sed -n 's/^\t"GoMod": "\(.*\)",*$/\1/p')
  go mod edit -print -module="github.com/celadon-cel/celadon/conformance/minors/$(basename "$PWD")" -require="$upstream@$2" "$from" > "$1.new"
  mv "$1.new" "$1"
  go mod tidy -modfile="$1"
  # go mod tidy must not have chosen other versions than upstream.
  versions=$(mktemp)
  awk '$1 == "require" { sub("require ", "") } $2 ~ /^v/ { print $1, $2 }' "$from" | sort > "$versions"
  awk '$1 == "require" { sub("require ", "") } $2 ~ /^v/ { print $1, $2 }' "$1" | sort |
    join "$versions" - | awk -v file="$1" '$2 != $3 { print file ": " $1 " is " $3 ", want " $2; bad = 1 } END { exit bad }'
  rm "$versions"
}

cd oracle
for patch in 28.15 29.15 30.14 31.14 32.13 33.13 34.13 35.10 36.6; do write "1.${patch%.*}.mod" "v0.$patch"; done
write go.mod v0.37.2
# The pre-release of 1.38, with a stand-in of a module that the proxy does not have (preview.sh writes it), and
# without the tests of its dependencies, which the proxy does not have either.
export GOTOOLCHAIN=go1.27.4
preview=v0.38.0-beta.0
from=$(go mod download -json "$upstream@$preview" | sed -n 's/^\t"GoMod": "\(.*\)",*$/\1/p')
go mod edit -print -module=github.com/celadon-cel/celadon/conformance/minors/oracle -require="$upstream@$preview" \
  -replace=k8s.io/apiextensions-api=../../../bin/apiextensions-api \
  -replace=sigs.k8s.io/structured-merge-diff/v7@v7.0.1=sigs.k8s.io/structured-merge-diff/v7@v7.0.0 "$from" > 1.38.mod
../preview.sh ../../../bin/apiextensions-api
go mod tidy -e -modfile=1.38.mod
unset GOTOOLCHAIN
cd ../server
for patch in 31.14 34.13; do write "1.${patch%.*}.mod" "v0.$patch"; done
write go.mod v0.29.15
