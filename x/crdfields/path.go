// Package crdfields finds in objects the fields that their CRD names by JSONPath:
// those that kubectl get prints as columns, and those that field selectors know.
// Both are found as the API server finds them.
package crdfields

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/client-go/util/jsonpath"
)

// errMany is of a path that asks for more than it should: the server takes it,
// and on a nested object it gives more values than there is memory for.
var errMany = errors.New("want one path with no more than one of .., ?() and [a,b], and of [a,b] no more than 8 members")

const (
	// maxPath is how long a path may be: its parser goes a call deeper with every
	// character, and a stack that is full cannot be recovered from.
	maxPath = 4 << 10
	// maxUnion bounds how often a path gives the same value.
	maxUnion = 8
)

// parse reads a JSONPath. A missing field is no error of what it gives.
func parse(name, path string) (*jsonpath.JSONPath, error) {
	if len(path) > maxPath {
		return nil, fmt.Errorf("jsonPath: %d characters: want no more than %d", len(path), maxPath)
	}
	text := "{" + path + "}"
	parsed, err := jsonpath.Parse(name, text)
	if err != nil {
		return nil, fmt.Errorf("jsonPath %q: %w", path, err)
	}
	if len(parsed.Root.Nodes) != 1 || branches(parsed.Root) > 1 {
		return nil, fmt.Errorf("jsonPath %q: %w", path, errMany)
	}
	p := jsonpath.New(name)
	p.AllowMissingKeys(true)
	return p, p.Parse(text)
}

// branches counts the parts of a path that can give a value more than once.
func branches(n jsonpath.Node) int {
	switch n := n.(type) {
	case *jsonpath.ListNode:
		sum := 0
		for _, below := range n.Nodes {
			sum += branches(below)
		}
		return sum
	case *jsonpath.FilterNode:
		return 1 + branches(n.Left) + branches(n.Right)
	case *jsonpath.UnionNode:
		sum := 1
		if len(n.Nodes) > maxUnion {
			sum = len(n.Nodes)
		}
		for _, below := range n.Nodes {
			sum += branches(below)
		}
		return sum
	case *jsonpath.RecursiveNode:
		return 1
	case *jsonpath.IdentifierNode: // range and end, with which paths are repeated
		return 2
	}
	return 0
}

// first is the first value that a path gives; what may come with it is dropped, as
// the server does.
func first(results [][]reflect.Value) (value any, ok bool) {
	if len(results) == 0 || len(results[0]) == 0 {
		return nil, false
	}
	return results[0][0].Interface(), true
}
