#!/usr/bin/env bash
# Makes a certificate for the Service by hand, good for a year, and from it what
# a cluster needs: secret.yaml, and webhook.yaml that trusts its CA.
# usage: certificate.sh DIRECTORY
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: certificate.sh DIRECTORY}
name=celadon.celadon.svc
umask 077
mkdir -p "$dir"
cd "$dir"

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
  -subj "/CN=celadon CA" -keyout ca.key -out ca.crt 2>openssl.log
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
  -subj "/CN=$name" -keyout tls.key -out tls.csr 2>>openssl.log
printf 'subjectAltName=DNS:%s\nextendedKeyUsage=serverAuth\n' "$name" >tls.ext
openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 \
  -extfile tls.ext -out tls.crt 2>>openssl.log

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
SECRET
sed -e '/annotations:/d' -e '/inject-ca-from:/d' \
  -e "s|^  clientConfig:|&\n    caBundle: $(base64 <ca.crt | tr -d '\n')|" \
  "$here/manifests/5-webhook.yaml" >webhook.yaml
