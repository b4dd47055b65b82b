package position

import (
	"slices"
	"strconv"
	"strings"
)

// The field of an API server's message cannot be parsed as a path, because names in it are not
// quoted, even if they contain dots, brackets, or quotes. It is therefore matched against the keys
// of the object.

// Nearest resolves a field, in the notation of the API server, to its key or item in the object. If
// it does not exist, Nearest returns the nearest existing parent.
func Nearest(root *Node, field string) *Node {
	f := follower{match: root, left: len(field) + 1, tries: maxTries}
	if field != "" && field != "<nil>" {
		f.follow(root, "."+strings.TrimPrefix(field, "."))
	}
	return f.match
}

// Value resolves a field, as Nearest does, to its value. It returns nil if the field does not exist.
func Value(root *Node, field string) *Node {
	f := follower{match: root, left: len(field) + 1, tries: maxTries}
	f.follow(root, "."+strings.TrimPrefix(field, "."))
	if f.left > 0 {
		return nil
	}
	return f.value
}

// maxTries limits the number of name lookups per field, because an untrusted field can have very
// many interpretations.
const maxTries = 200

// A follower keeps the node that matched most of a field.
type follower struct {
	match *Node
	value *Node // of match
	left  int   // number of unmatched bytes of the field
	tries int
}

// follow tries shorter names first.
func (f *follower) follow(n *Node, rest string) {
	if rest == "" {
		return
	}
	n = n.Resolve()
	bracket, inside := rest[0] == '[', rest[1:]
	switch {
	case n.Kind == Sequence && bracket:
		number, after, ok := strings.Cut(inside, "]")
		if i, err := strconv.Atoi(number); ok && err == nil && i >= 0 {
			if item := n.Item(i); item != nil {
				f.addMatch(item, item, after)
			}
		}
	case n.Kind != Mapping:
	case bracket:
		f.names(n, inside, func(i int) bool { return inside[i] == ']' }, 1)
	case rest[0] == '.':
		f.names(n, inside, func(i int) bool { return inside[i] == '.' || inside[i] == '[' }, 0)
	}
}

// A name ends where stop returns true. If skip is 0, it can also end at the end of text.
func (f *follower) names(n *Node, text string, stop func(i int) bool, skip int) {
	for end := 0; end <= len(text) && f.left > 0; end++ {
		if end < len(text) && !stop(end) || end == len(text) && skip > 0 {
			continue
		}
		if f.tries--; f.tries < 0 {
			return
		}
		for _, name := range []string{text[:end], unquoted(text[:end], skip > 0)} {
			key, value := n.Get(name)
			if value == nil {
				key, value = n.boolean(name)
			}
			if value != nil && key != nil {
				f.addMatch(key, value, text[end+min(skip, len(text)-end):])
				break
			}
		}
	}
}

// booleans are the scalars that YAML 1.1 reads as booleans, in lower case.
var booleans = map[string][]string{"true": {"y", "yes", "on", "true"}, "false": {"n", "no", "off", "false"}}

// boolean returns the entry of a mapping whose key is a boolean without quotes, such as n, and which is thus named true
// or false in the object.
func (n *Node) boolean(name string) (key, value *Node) {
	for i, key := range n.Keys {
		if key.Kind == Scalar && key.Style == Plain && slices.Contains(booleans[name], strings.ToLower(key.Value)) {
			return key, n.Items[i]
		}
	}
	return nil, nil
}

// unquoted removes the quotes from a map key in Celadon's own notation.
func unquoted(name string, bracket bool) string {
	if n := len(name); bracket && n > 1 && (name[0] == '\'' || name[0] == '"') && name[n-1] == name[0] {
		return name[1 : n-1]
	}
	return name
}

func (f *follower) addMatch(place, value *Node, rest string) {
	if len(rest) < f.left {
		f.match, f.value, f.left = place, value, len(rest)
	}
	f.follow(value, rest)
}
