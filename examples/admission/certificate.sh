#!/usr/bin/env bash
# Creates a certificate for the Service, valid for a year, with the files that a cluster
# needs: secret.yaml, and webhook.yaml, which trusts its CA. It also creates a client
# certificate for API servers, from a separate CA: see --client-ca in docs/admission.md.
# usage: certificate.sh DIRECTORY
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: certificate.sh DIRECTORY}
name=celadon.celadon.svc
umask 077
mkdir -p "$dir"
cd "$dir"

# authority NAME creates a CA with the key NAME.key and the certificate NAME.crt.
authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
    -subj "/CN=celadon $1" -keyout "$1.key" -out "$1.crt" 2>>openssl.log
}
# certificate CA NAME SUBJECT EXTENSIONS creates NAME.key, and NAME.crt signed by the CA.
certificate() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -subj "/CN=$3" -keyout "$2.key" -out "$2.csr" 2>>openssl.log
  printf '%b' "$4" >"$2.ext"
  openssl x509 -req -in "$2.csr" -CA "$1.crt" -CAkey "$1.key" -CAcreateserial -days 365 \
    -extfile "$2.ext" -out "$2.crt" 2>>openssl.log
}
authority ca
certificate ca tls "$name" "subjectAltName=DNS:$name\nextendedKeyUsage=serverAuth\n"
authority client-ca
certificate client-ca client kube-apiserver "extendedKeyUsage=clientAuth\n"

cat >secret.yaml <<SECRET
apiVersion: v1
kind: Secret
metadata:
  name: celadon-tls
  namespace: celadon
type: kubernetes.io/tls
data:
  tls.crt: $(base64 <tls.crt | tr -d '\n')
  tls.key: $(base64 <tls.key | tr -d '\n')
  client-ca.crt: $(base64 <client-ca.crt | tr -d '\n')
SECRET
sed -e '/annotations:/d' -e '/inject-ca-from:/d' \
  -e "s|^  clientConfig:|&\n    caBundle: $(base64 <ca.crt | tr -d '\n')|" \
  "$here/manifests/5-webhook.yaml" >webhook.yaml
