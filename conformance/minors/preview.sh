#!/usr/bin/env bash
# Writes FOLDER with a stand-in of k8s.io/apiextensions-api, which the module proxy does not have yet: its
# packages are those that k8s.io/apiextensions-apiserver had one pre-release earlier, under another path.
# Delete this file, and the replace directive in oracle/1.38.mod, when the module can be had.
set -euo pipefail
folder=$1
source=k8s.io/apiextensions-apiserver@v0.38.0-alpha.2
from=$(cd "$(mktemp -d)" && GOTOOLCHAIN=go1.27.4 go mod download -json "$source" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
rm -rf "$folder"
mkdir -p "$folder/pkg/apis/apiextensions" "$folder/pkg/client"
for version in v1 v1beta1; do cp -r "$from/pkg/apis/apiextensions/$version" "$folder/pkg/apis/apiextensions"; done
cp -r "$from"/pkg/client/* "$folder/pkg/client"
chmod -R u+w "$folder"
find "$folder" \( -name '*_test.go' -o -name '*conversion.go' \) ! -path '*/client/*' -delete
for version in v1 v1beta1; do # which conversion.go declares
  printf 'package %s\n\nvar nullLiteral = []byte("null")\n' "$version" > "$folder/pkg/apis/apiextensions/$version/null.go"
done
find "$folder" -name '*.go' -exec sed -i 's|k8s.io/apiextensions-apiserver/|k8s.io/apiextensions-api/|g' {} +
printf 'module k8s.io/apiextensions-api\n\ngo 1.27.0\n' > "$folder/go.mod"
