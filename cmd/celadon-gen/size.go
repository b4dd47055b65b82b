package main

import (
	"fmt"
	"go/types"

	"sigs.k8s.io/controller-tools/pkg/loader"
)

// maxNodes limits the schema nodes of all kinds, because the generator copies the schema of a type to each field
// that has the type. An API server can store a CRD of about 60,000 nodes.
const maxNodes = 100_000

// checkSize returns an error if the kinds of type-checked packages have too many schema nodes.
func checkSize(roots []*loader.Package) error {
	s, nodes := sizes{}, 0
	for _, root := range roots {
		if root.Types == nil {
			continue
		}
		scope := root.Types.Scope()
		for _, name := range scope.Names() {
			if t, ok := scope.Lookup(name).(*types.TypeName); ok && isKind(t.Type()) {
				nodes += s.of(t.Type())
			}
			if nodes > maxNodes {
				return fmt.Errorf("the kinds up to %s.%s have more than %d schema nodes: name fewer packages", root.PkgPath, name, maxNodes)
			}
		}
	}
	return nil
}

// isKind reports whether t is a struct with type and object metadata.
func isKind(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	found := 0
	for field := range s.Fields() {
		if name := field.Name(); field.Embedded() && (name == "TypeMeta" || name == "ObjectMeta") {
			found++
		}
	}
	return found == 2
}

// sizes holds the number of schema nodes of types. It is at most maxNodes + 1.
type sizes map[types.Type]int

func (s sizes) of(t types.Type) int {
	t = types.Unalias(t)
	if n, ok := s[t]; ok {
		return n
	}
	s[t] = 1 // for recursive types
	n := 1
	switch t := t.(type) {
	case *types.Named:
		n = s.of(t.Underlying())
	case *types.Struct:
		for field := range t.Fields() {
			if field.Exported() && n <= maxNodes {
				n += s.of(field.Type())
			}
		}
	case interface{ Elem() types.Type }: // pointers, slices, arrays, and maps
		n += s.of(t.Elem())
	}
	s[t] = min(n, maxNodes+1)
	return s[t]
}
