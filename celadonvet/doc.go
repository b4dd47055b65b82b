// Package celadonvet implements an analyzer that vets the CEL rules in Go markers, like celadon
// vet. Use it with go vet -vettool, as a module plugin of golangci-lint (package plugin), or with
// any other driver for golang.org/x/tools/go/analysis.
//
// It reports the errors that the API server would return for the rules, for example for estimated costs above
// the limits; the bounds that would bring the costs within the limits; lints; and markers that do not match the
// CRDs. The schemas come from the CRDs that a generator produced from the packages: those that the -crd flag
// names, or by default those in config/crd, manifests, and payload-manifests.
package celadonvet

// How it works. A rule of a package can appear in CRDs of kinds from other packages, so the whole
// module is vetted at once (module.go), when the first package with a marker is analyzed. Each pass
// then reports the findings in its own files (analyzer.go). A process that analyzes many packages
// vets the module once.
