// Package markers finds, for each rule of a CRD, the marker comment in Go source from which a generator made it.
//
//	src := markers.Parse(files, markers.Config{Import: packageFiles})
//	m := src.Map(crd)
//	for _, r := range m.Rules {
//		fmt.Println(r.Field, r.Marker.At("rule", 1, 7)) // types.go:41:69
//	}
//
// Parse takes text instead of paths, so an editor can pass unsaved files. The package does not
// type-check or execute the source.
package markers

// How it works. Markers are parsed as in sigs.k8s.io/controller-tools (argument.go), with the position of every byte
// (value.go), and assigned to a type or field by the same rules (comments.go). The schema of a CRD and the Go types
// are then walked together (walk.go, resolve.go): a field leads to its type, and embedded structs are part of the
// enclosing struct. All markers on the way to a schema node may have made its rules; their text decides which marker
// did (match.go). If the types cannot be followed, for example because a module is missing, the text alone decides.
//
// Only types that lead to a rule are followed, so packages that are imported for other purposes are never read.
