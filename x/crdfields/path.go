// Package crdfields finds the fields in objects that their CRD names by JSONPath: the columns that
// kubectl get prints, and the selectable fields. It finds them as the API server does.
package crdfields

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/client-go/util/jsonpath"
)

// errMany rejects a path that can produce too many values. The server accepts such a path, but runs
// out of memory for a nested object.
var errMany = errors.New("want one path with at most one of .., ?(), and [a,b], and at most 8 members in [a,b]")

const (
	// maxPath limits the length of a path. The parser recurses for every character, and a stack
	// overflow is not recoverable.
	maxPath = 4 << 10
	// maxUnion limits how often a path produces the same value.
	maxUnion = 8
)

// parse parses a JSONPath. Evaluating the result does not fail for a missing field.
func parse(name, path string) (*jsonpath.JSONPath, error) {
	if len(path) > maxPath {
		return nil, fmt.Errorf("jsonPath: too long (got %d characters, want at most %d)", len(path), maxPath)
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

// branches counts the parts of a path that can produce a value more than once.
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
	case *jsonpath.IdentifierNode: // range and end, which repeat paths
		return 2
	}
	return 0
}

// first returns the first value of a path and drops any others, as the server does.
func first(results [][]reflect.Value) (value any, ok bool) {
	if len(results) == 0 || len(results[0]) == 0 {
		return nil, false
	}
	return results[0][0].Interface(), true
}
