package position

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

func newNode(v any) (*Node, error) {
	n := &Node{Kind: Scalar}
	switch v := v.(type) {
	case nil:
		n.Value = "null"
	case string:
		if !utf8.ValidString(v) {
			return nil, fmt.Errorf("%q: want UTF-8", v)
		}
		n.Value, n.Tag = v, "!!str"
		return n, nil
	case bool:
		n.Value = strconv.FormatBool(v)
	case int:
		n.Value = strconv.Itoa(v)
	case int64:
		n.Value = strconv.FormatInt(v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%v: want a number that JSON can represent", v)
		}
		n.Value = strconv.FormatFloat(v, 'g', -1, 64)
	case Map:
		n.Kind, n.Tag = Mapping, "!!map"
		for _, e := range v {
			if err := n.hold(e.Key, e.Value); err != nil {
				return nil, err
			}
		}
		return n, nil
	case map[string]any:
		ordered := Map{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			ordered = append(ordered, Entry{key, v[key]})
		}
		return newNode(ordered)
	case []any:
		n.Kind, n.Tag = Sequence, "!!seq"
		for _, item := range v {
			if err := n.hold("", item); err != nil {
				return nil, err
			}
		}
		return n, nil
	default:
		return nil, fmt.Errorf("a value of type %T: want a string, bool, int, int64, float64, nil, []any, map[string]any or Map", v)
	}
	n.Tag = (&yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}).ShortTag()
	return n, nil
}

func (n *Node) hold(key string, v any) error {
	item, err := newNode(v)
	if err != nil {
		return err
	}
	n.Items = append(n.Items, item)
	if n.Kind == Mapping {
		name, err := newNode(key)
		if err != nil {
			return err
		}
		n.Keys = append(n.Keys, name)
	}
	return nil
}

func (p *plan) expected(n *Node) *Node {
	if with, ok := p.replaced[n]; ok {
		return with
	}
	if !p.touched[n] {
		return n
	}
	after := &Node{Kind: n.Kind, Value: n.Value, Tag: n.Tag, Anchor: n.Anchor}
	for i := 0; i <= len(n.Items); i++ {
		for _, a := range p.added[n] {
			if a.at == i {
				after.append(a.key, a.value)
			}
		}
		if i == len(n.Items) {
			break
		}
		if item := p.expected(n.Items[i]); item != nil {
			var key *Node
			if n.Kind == Mapping {
				if key = n.Keys[i]; p.replaced[key] != nil {
					key = p.replaced[key]
				}
			}
			after.append(key, item)
		}
	}
	return after
}

func (n *Node) append(key, item *Node) {
	if n.Kind == Mapping {
		n.Keys = append(n.Keys, key)
	}
	n.Items = append(n.Items, item)
}

// equal reports whether two nodes have the same content, regardless of style.
func equal(a, b *Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && a.Tag == b.Tag && a.Anchor == b.Anchor &&
		slices.EqualFunc(a.Keys, b.Keys, equal) && slices.EqualFunc(a.Items, b.Items, equal)
}
