// Package schema implements the part of a custom resource's schema that is not CEL, with the API
// server's results: value validation, ratcheting, pruning, defaulting, list types, and the metadata
// of embedded resources. A schema is compiled once and is then safe for concurrent use:
//
//	s, err := schema.Compile(props, structural, minor)
//	obj, unknown, err := s.Prepare(obj, schema.Preparation{Prune: true, Track: true, Default: true})
//	errs := s.Validate(nil, obj)            // create
//	errs = s.ValidateUpdate(nil, obj, old)  // update
//	errs = append(errs, s.ListTypes(nil, obj)...)
//	if status := s.Property("status"); status != nil {
//		errs = status.ValidateUpdate(field.NewPath("status"), obj["status"], old["status"])
//	}
//	errs = append(errs, s.ValidateEmbedded(nil, obj)...)
//
// Values are decoded JSON: map[string]any, []any, string, int64, float64, bool, and nil. No
// function modifies a value passed to it: Prepare copies the maps and lists on the path to a change or
// to an embedded resource, shares everything else, and returns the object itself if there is neither.
// Copy a result before you modify it.
//
// The errors are the same as in k8s.io/apiextensions-apiserver. There, their order depends on Go
// maps; here, it follows the object with its keys sorted.
package schema

// How it works: there are two walks over a value. valid and distinct track neither paths nor
// errors, and rarely allocate. For values that they do not accept, report and listReport repeat the
// API server's algorithm step by step. For the rare schemas with Schema.marked, report does so for all
// values. In it, branches of anyOf compete by the number of passed checks, and an unchanged value drops
// its errors. The first walk does not need the old value of an update, because ratcheting can only drop
// errors. kube-openapi's own constructors make most error messages.
//
// valid may be wrong in one direction only: if it returns false but report finds no error, the
// value is valid.
