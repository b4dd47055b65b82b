#!/usr/bin/env bash
# Tidies the module in the current folder, or with -diff, shows what would change and fails if anything would.
#
# Modules that require k8s.io/kubernetes need it in place of go mod tidy. That module requires its staging modules at v0.0.0,
# which does not exist, so go mod tidy works only if they are replaced. The written go.mod requires them at the
# version that belongs to k8s.io/kubernetes instead, so that "go install module@version" accepts it.
set -euo pipefail
version=$(sed -n 's/^.*k8s.io\/api v\([0-9.]*\).*$/\1/p' go.mod)
staging="api apiextensions-apiserver apimachinery apiserver cli-runtime client-go cloud-provider cluster-bootstrap
  code-generator component-base component-helpers controller-manager cri-api cri-client cri-streaming
  csi-translation-lib dynamic-resource-allocation endpointslice externaljwt kms kube-aggregator
  kube-controller-manager kube-proxy kube-scheduler kubectl kubelet metrics mount-utils pod-security-admission
  streaming"
replace=() drop=() require=()
for name in $staging; do
  replace+=(-replace "k8s.io/$name=k8s.io/$name@v$version") drop+=(-dropreplace "k8s.io/$name")
done
for name in sample-apiserver sample-cli-plugin sample-controller; do # which nothing builds
  replace+=(-replace "k8s.io/$name=k8s.io/$name@v0.37.1") drop+=(-dropreplace "k8s.io/$name")
done
trap 'rm -f tidy.mod tidy.sum' EXIT
cp go.mod tidy.mod
cp go.sum tidy.sum
go mod edit "${replace[@]}" tidy.mod
GOWORK=off go mod tidy -modfile=tidy.mod
for name in $staging; do
  if grep -qE "^\s*(require )?k8s.io/$name v0" tidy.mod; then require+=(-require "k8s.io/$name@v$version"); fi
done
go mod edit "${require[@]}" "${drop[@]}" tidy.mod
if [ "${1-}" = -diff ]; then
  diff go.mod tidy.mod
  diff go.sum tidy.sum
else
  mv tidy.mod go.mod
  mv tidy.sum go.sum
fi
