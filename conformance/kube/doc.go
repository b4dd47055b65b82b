// Package kube tests the command with a whole control plane: etcd, kube-apiserver, kubectl, and the
// job controller, all built from the Go module proxy (make -C conformance e2e). It contains only tests:
//
//   - celadon serve as an admission webhook of a real API server;
//   - celadon as a kubectl plugin, and its access to a cluster;
//   - celadon check --policy and engine/policy: responses to requests under our own policies
//     (testdata/policies), generated ones (conformance/policies/scenarios), and published ones
//     (CELADON_POLICIES), with warnings and audit annotations;
//   - celadon in the pods of an Indexed Job of the real job controller. A replacement for the
//     kubelet runs each pod's command as a process.
//
// Package builtin below it writes the schemas of engine/x/builtin and compares their defaults with the
// defaults that Kubernetes sets.
//
// Package conformance, which runs in the daily checks, compares verdicts with the code inside the
// API server. This package tests the processes that users run.
package kube
