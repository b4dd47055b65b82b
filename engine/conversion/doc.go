// Package conversion converts objects between the versions of a CRD, as the API server does with a
// conversion webhook. [Webhook] calls a webhook over HTTPS, [Reviews] and [Batched] call any function
// that handles a ConversionReview, and [Func] calls a Go function that converts an object. Each provides
// a [Converter] for [engine.Config].
//
// Responses are untrusted and are checked as in the API server. The size and time of a webhook's
// response are limited; the others do not limit the time of the functions that they call.
package conversion

// How it works: a Converter calls a function that converts an object (review.go sends a ConversionReview, Func calls
// a Go function) and then checks the result as the API server does (answer.go). Kind, name, namespace, and uid must
// be unchanged, and the version must be the requested version. Labels and annotations are taken from the result. All
// other metadata is silently restored. The error messages are the API server's: see
// k8s.io/apiextensions-apiserver/pkg/apiserver/conversion.
