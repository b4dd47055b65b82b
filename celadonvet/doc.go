// Package celadonvet is celadon vet of Go packages as an analyzer: for
// go vet -vettool, for golangci-lint's module plugins (package plugin), and for
// whatever else runs analyzers of golang.org/x/tools/go/analysis.
//
// It says of each +kubebuilder:validation:XValidation marker what the API server would
// say of its rule, what the rule may cost, and which bounds would make it fit. What the
// rule is about comes from the CRDs that a generator made of the package, which the
// -crd flag names.
package celadonvet

// How it works. Rules of one package are in the CRDs of kinds of others, so a whole
// module is vetted at once (module.go), as soon as one of its packages has a marker;
// each pass then takes the findings that stand in its files (analyzer.go). A process
// that passes over many packages vets the module once.
