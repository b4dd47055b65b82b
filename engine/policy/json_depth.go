package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// How it works: a copy operation can double the depth of an object, but the API server decodes at most 10,000
// levels of JSON. Its library encodes the patched object first, which fails for parts below the root that are
// deeper, and then the decoder fails. Here, nodes are built without a limit, because that does not traverse
// them, and every traversal ends at the limit.

const (
	// maxDepth is the number of levels that encoding/json decodes.
	maxDepth = 10_000
	// maxWraps limits how often the error of a deep object is repeated: the library repeats it for each level
	// between the root and the part that is too deep.
	maxWraps = 100
	// maxLevel is a level below the root at which an object is too deep for an error with fewer than maxWraps.
	maxLevel = 2*maxDepth + maxWraps
)

// depthOf returns the number of levels of a JSON value, or most+1 if there are more than most.
func depthOf(v any, most int) (depth int) {
	switch v := v.(type) {
	case map[string]any:
		if most == 0 {
			return 1
		}
		for _, field := range v {
			if depth = max(depth, depthOf(field, most-1)); depth == most {
				break
			}
		}
		return depth + 1
	case []any:
		if most == 0 {
			return 1
		}
		for _, item := range v {
			if depth = max(depth, depthOf(item, most-1)); depth == most {
				break
			}
		}
		return depth + 1
	}
	return 0
}

// result returns the patched document, unless it is too deep.
func (p *patcher) result() (any, error) {
	v, ok := p.root.json(0)
	if ok && depthOf(v, maxDepth) <= maxDepth {
		return v, nil
	}
	if err := p.root.encodingError(); err != nil {
		return nil, err
	}
	return nil, apierrors.NewInternalError(fmt.Errorf("couldn't get version/kind; json parse error: %w", depthError(v)))
}

// clone returns a copy of a node, and counts its bytes.
func (p *patcher) clone(n *patchNode) (*patchNode, error) {
	if n == nil {
		return nil, nil
	}
	v, ok := n.json(0)
	deep := !ok || depthOf(v, maxDepth) > maxDepth
	if deep {
		if err := n.encodingError(); err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(v)
	p.copied += len(data)
	p.work += len(data)
	return &patchNode{value: v, deep: deep}, err
}

// json returns the decoded JSON of a node at a level. It shares memory with parts that are not expanded. It
// returns false at maxLevel.
func (n *patchNode) json(level int) (v any, ok bool) {
	switch {
	case n == nil:
		return nil, true
	case level == maxLevel:
		return nil, false
	case n.kind == listNode:
		list := make([]any, len(n.list))
		for i, item := range n.list {
			if list[i], ok = item.json(level + 1); !ok {
				return nil, false
			}
		}
		return list, true
	case n.kind == objectNode && n.object == nil:
		return nil, true
	case n.kind == objectNode:
		object := make(map[string]any, len(n.object))
		for name, field := range n.object {
			if object[name], ok = field.json(level + 1); !ok {
				return nil, false
			}
		}
		return object, true
	}
	return n.value, true
}

// encodingError returns the error of the server's library if a part of n is too deep to be encoded, or nil.
func (n *patchNode) encodingError() error {
	_, part, at := n.tooDeep(0)
	if part == nil {
		return nil
	}
	text := strings.Repeat("json: error calling MarshalJSON for type *jsonpatch.lazyNode: ", min(at, maxWraps))
	if part.deep {
		text += "json: error calling MarshalJSON for type *json.RawMessage: "
	}
	return errorText(text + depthError(part).Error())
}

// tooDeep returns the depth of a node, or the first part that is too deep and its level. The order is that in which
// the server's library encodes. All parts at maxLevel count as too deep.
func (n *patchNode) tooDeep(level int) (depth int, part *patchNode, at int) {
	switch {
	case n == nil:
		return 0, nil, 0
	case level == maxLevel || n.deep && n.kind == valueNode:
		return 0, n, level
	case n.kind == valueNode:
		return depthOf(n.value, maxDepth), nil, 0
	}
	open, parts := opened(n)
	for _, one := range parts {
		d, part, at := one.(*patchNode).tooDeep(level + 1)
		if part != nil {
			return 0, part, at
		}
		depth = max(depth, d)
	}
	if depth++; depth > maxDepth && level > 0 {
		return 0, n, level
	}
	if open == 0 {
		depth = 0
	}
	return depth, nil, 0
}

// depthError returns the error of encoding/json for a node or value with more than maxDepth levels.
func depthError(v any) error {
	open := openedAt(v, maxDepth)
	if open == 0 {
		open = '{' // deeper than maxLevel
	}
	return fmt.Errorf("invalid character '%c' exceeded max depth", open)
}

// openedAt returns the character that opens the first list or object at a level of a node or value, or 0.
func openedAt(v any, level int) rune {
	open, parts := opened(v)
	if level == 0 {
		return open
	}
	for _, part := range parts {
		if open := openedAt(part, level-1); open != 0 {
			return open
		}
	}
	return 0
}

// opened returns the character that opens a list or object, and its parts in the order of its JSON. It returns 0 for
// other values.
func opened(v any) (open rune, parts []any) {
	switch v := v.(type) {
	case *patchNode:
		switch {
		case v == nil || v.kind == objectNode && v.object == nil:
			return 0, nil
		case v.kind == listNode:
			for _, item := range v.list {
				parts = append(parts, item)
			}
			return '[', parts
		case v.kind == objectNode:
			for _, name := range slices.Sorted(maps.Keys(v.object)) {
				parts = append(parts, v.object[name])
			}
			return '{', parts
		}
		return opened(v.value)
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, v[name])
		}
		return '{', parts
	case []any:
		return '[', v
	}
	return 0, nil
}
