// Package kube runs the command under a whole control plane: etcd, kube-apiserver,
// kubectl and the job controller, all built from the Go module proxy (make e2e). Its
// tests are its only content:
//
//   - celadon serve as an admission webhook that a real API server asks;
//   - celadon as kubectl's plugin, and what it reads of a cluster;
//   - celadon in the pods of an Indexed Job of the real job controller. What stands
//     in for the kubelet is ours: it runs a pod's command as a process.
//
// Package conformance, which is in the daily checks, holds verdicts to the code inside
// the API server; here it is the processes, as users have them.
package kube
