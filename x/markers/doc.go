// Package markers finds, for each rule of a CRD, the marker comment in Go source
// that a generator made it of.
//
//	src := markers.Parse(files, markers.Config{Import: packageFiles})
//	m := src.Map(crd)
//	for _, r := range m.Rules {
//		fmt.Println(r.Field, r.Marker.At("rule", 1, 7)) // types.go:41:69
//	}
//
// It takes text, not paths: an editor calls it with what is not saved. Nothing is
// type-checked and nothing of the source is run.
package markers

// How it works. A marker's text is read as sigs.k8s.io/controller-tools reads it
// (argument.go), with the place of every byte of it (value.go), and belongs to a type
// or a field by the same rule (comments.go). The schema of a CRD and the Go types are
// then walked together (walk.go, resolve.go): a field leads to its type, embedded
// structs are part of the struct around them, and the markers of all that on the way
// to a place may have made the place's rules; which one, the text says (match.go).
// Where the types cannot be followed, as those of a module that is missing, the text
// alone decides.
//
// Only what leads to a rule is followed, so that a package that is imported for other
// things is never read.
