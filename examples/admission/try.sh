#!/usr/bin/env bash
# Serves the CRDs of this example on loopback with a temporary certificate, and sends
# the AdmissionReview in review.json, as a cluster would.
# usage: try.sh [FLAGS OF celadon serve]   (CELADON names the command)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
"$here/certificate.sh" "$dir"

: >"$dir/log" # read below, perhaps before the server has opened it
"${CELADON:-celadon}" serve --crd "$here/crds" --tls-cert "$dir/tls.crt" --tls-key "$dir/tls.key" \
  --client-ca "$dir/client-ca.crt" --listen 127.0.0.1:0 --drain 0s "$@" 2>"$dir/log" &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT
port() { sed -n 's/.*"msg":"serving".*"address":"127.0.0.1:\([0-9]*\)".*/\1/p' "$dir/log"; }
until [ -n "$(port)" ]; do
  kill -0 "$server" 2>/dev/null || { cat "$dir/log" >&2; exit 1; }
  sleep 0.1
done

curl --silent --show-error --fail-with-body --noproxy '*' \
  --cacert "$dir/ca.crt" --cert "$dir/client.crt" --key "$dir/client.key" --resolve "celadon.celadon.svc:$(port):127.0.0.1" \
  --header 'Content-Type: application/json' --data-binary @"$here/review.json" \
  "https://celadon.celadon.svc:$(port)/validate?timeout=5s"
echo

kill -TERM "$server"
wait "$server" # drained: exit code 0
