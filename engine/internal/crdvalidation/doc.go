// Package crdvalidation is k8s.io/apiextensions-apiserver's validation of CRDs, to the
// letter: TestUpstream makes the files from upstream's, or holds them to these.
//
// Upstream's own package imports all of k8s.io/apiserver/pkg/util/webhook for three
// functions that look at a URL, a service and a CA. That brings gRPC, OpenTelemetry and
// a proxy's client, and with them 130 packages and a fifth of the command.
package crdvalidation
