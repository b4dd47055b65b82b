// Package schema decides the part of a custom resource's schema that is not
// CEL, with the API server's answers: values, ratcheting, pruning, defaults,
// sets and map lists, and the metadata of embedded resources. A schema is
// compiled once and then safe for concurrent use:
//
//	s, err := schema.Compile(props, structural, formats)
//	obj, unknown := s.Prepare(obj, schema.Preparation{Prune: true, Track: true, Default: true})
//	errs := s.Validate(nil, obj)            // create
//	errs = s.ValidateUpdate(nil, obj, old)  // update
//	errs = append(errs, s.ListTypes(nil, obj)...)
//	if status := s.Property("status"); status != nil {
//		errs = status.ValidateUpdate(field.NewPath("status"), obj["status"], old["status"])
//	}
//	if s.Embedded() {
//		obj, unknown, err := s.CoerceEmbedded(obj, schema.Coercion{})
//		errs := s.ValidateEmbedded(ctx, nil, obj)
//	}
//
// Values are what decoding JSON gives: map[string]any, []any, string, int64,
// float64, bool and nil. Nothing here modifies a value that it is given:
// Prepare and CoerceEmbedded copy the maps and lists on the way to a change and
// share all the rest, and return the object itself when nothing changes. Who
// wants to modify a result in place copies it first.
//
// Errors are those of k8s.io/apiextensions-apiserver as a set. Theirs come in
// the order of Go maps, these in the order of the object with its keys sorted.
package schema

// There are two walks over a value. valid and distinct neither know where they
// are nor what is wrong, and allocate nothing. report and listReport do what the
// API server does, step by step, below what the first walk did not like: it is
// there that branches of anyOf compete by the number of checks that passed, and
// that an unchanged value takes back its errors. Updates need no old value
// before, since ratcheting can only take errors away. The sentences are not
// ours: kube-openapi's own constructors make them.
//
// valid may be wrong in one direction only. Where it says no and report finds
// nothing, there is no error.
