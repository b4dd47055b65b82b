// Package conversion takes objects between the versions of a CRD as the API
// server has a conversion webhook do it: [Webhook] asks one over HTTPS,
// [Reviews] whatever takes a ConversionReview and gives one, [Func] is a Go
// function. Each gives a [Converter] for [engine.Config].
//
// Whoever answers is not trusted: an answer is checked as the server checks it.
// That of a webhook is bounded in size and time; what Reviews asks and Func calls
// is not.
package conversion

// How it works: a Converter has somebody make an object (review.go asks by a
// ConversionReview, func.go calls a function) and then does what the server does
// with every answer (answer.go): kind, version, name, namespace and uid must be
// those of the object that was sent; labels and annotations are taken from the
// answer and validated; all other metadata is put back without a word. The texts
// of errors are the server's: see
// k8s.io/apiextensions-apiserver/pkg/apiserver/conversion.
