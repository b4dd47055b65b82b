package position

import (
	"strconv"
	"strings"
)

// A field in the server's texts is no path that could be parsed: names stand in
// it as they are, whatever dots, brackets and quotes they have. So it is followed
// along the object itself, which knows where its names end.

// Nearest follows a field, as the API server names it, as far as the object goes:
// to its key or item, or those of its nearest parent.
func Nearest(root *Node, field string) *Node {
	f := follower{place: root, left: len(field) + 1, tries: maxTries}
	if field != "" && field != "<nil>" {
		f.follow(root, "."+strings.TrimPrefix(field, "."))
	}
	return f.place
}

// maxTries bounds how many names are looked up for one field: a hostile one can
// be read in very many ways.
const maxTries = 200

// follower remembers the place that used up most of a field.
type follower struct {
	place *Node
	left  int // of the field's text
	tries int
}

// follow reads rest below a node; a shorter name goes before a longer.
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
				f.met(item, item, after)
			}
		}
	case n.Kind != Mapping:
	case bracket:
		f.names(n, inside, func(i int) bool { return inside[i] == ']' }, 1)
	case rest[0] == '.':
		f.names(n, inside, func(i int) bool { return inside[i] == '.' || inside[i] == '[' }, 0)
	}
}

// names tries all names that text may begin with; a name ends where stop says,
// or with the text.
func (f *follower) names(n *Node, text string, stop func(i int) bool, skip int) {
	for end := 0; end <= len(text) && f.left > 0; end++ {
		if end < len(text) && !stop(end) || end == len(text) && skip > 0 {
			continue
		}
		if f.tries--; f.tries < 0 {
			return
		}
		for _, name := range []string{text[:end], unquoted(text[:end], skip > 0)} {
			if key, value := n.Get(name); value != nil && key != nil {
				f.met(key, value, text[end+min(skip, len(text)-end):])
				break
			}
		}
	}
}

// unquoted is a map's key as our own paths have it, in quotes.
func unquoted(name string, bracket bool) string {
	if n := len(name); bracket && n > 1 && (name[0] == '\'' || name[0] == '"') && name[n-1] == name[0] {
		return name[1 : n-1]
	}
	return name
}

func (f *follower) met(place, value *Node, rest string) {
	if len(rest) < f.left {
		f.place, f.left = place, len(rest)
	}
	f.follow(value, rest)
}
