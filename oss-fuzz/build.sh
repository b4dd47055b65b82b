#!/usr/bin/env bash
# Builds the fuzz targets of oss-fuzz/targets in OSS-Fuzz's image for Go. It changes the tree, which is
# a clone that is used only once.
set -euo pipefail
cd "$SRC/celadon"
module=github.com/celadon-cel/celadon

# The compiler replaces files of the Go toolchain, which is not possible in the module cache.
toolchain=$(go env GOROOT)
if [[ $toolchain == "$(go env GOMODCACHE)"/* ]]; then
  cp -r "$toolchain" "$SRC/go"
  chmod -R u+w "$SRC/go"
  export GOROOT=$SRC/go PATH=$SRC/go/bin:$PATH GOTOOLCHAIN=local
fi
# The compiled targets use this package instead of testing.
for dir in . builtin cmd/celadon conformance; do
  (cd "$dir" && go get github.com/AdamKorcz/go-118-fuzz-build/testing@fc5dc53b9db8)
done

# Some targets read files. They are not in the image that runs the targets, except next to the binary.
for dir in cmd/celadon engine/admission engine/x/eval x/publish; do
  mkdir -p "$OUT/celadon/$dir"
  [ ! -d "$dir/testdata" ] || cp -r "$dir/testdata" "$OUT/celadon/$dir/"
  file=$(grep -l '^func Fuzz' "$dir"/*_test.go | head -n 1)
  cat > "$dir/chdir_test.go" <<CODE
$(grep '^package ' "$file")

import (
	"os"
	"path/filepath"
)

func init() {
	if binary, err := os.Executable(); err == nil {
		_ = os.Chdir(filepath.Join(filepath.Dir(binary), "celadon/$dir"))
	}
}
CODE
done
cp -r examples "$OUT/celadon/"

# The target is imported, so it cannot be in package main.
sed -i 's/^package main$/package celadon/' cmd/celadon/*.go

# The files of a package are compiled together with its tests, so external tests get a package of their
# own if they contain a target, and are removed otherwise.
cut -d ' ' -f 1 oss-fuzz/targets | sort -u | while read -r dir; do
  mapfile -t external < <(grep -l '^package [a-z0-9]*_test$' "$dir"/*_test.go)
  if [ "${#external[@]}" = 0 ]; then continue; fi
  if grep -q '^func Fuzz' "${external[@]}"; then
    mkdir -p "$dir/external"
    for file in "${external[@]}"; do
      sed 's/^package [a-z0-9]*_test$/package external/' "$file" > "$dir/external/$(basename "$file" _test.go)_external.go"
    done
  fi
  rm "${external[@]}"
done

while read -r dir function; do
  name=${dir//\//_}_$function
  if grep -qs "^func $function(" "$dir"/external/*.go; then dir=$dir/external; fi
  (cd "$dir" && compile_native_go_fuzzer_v2 "$module/$dir" "$function" "$name") # the folder may import its internal packages
  test -f "$OUT/$name" || { echo "$name was not built" >&2; exit 1; }
done < oss-fuzz/targets
