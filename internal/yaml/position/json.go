package position

import (
	"encoding/json"
	"strings"
)

// maxDepth limits the nesting of JSON. The YAML parser has the same limit.
const maxDepth = 10_000

// parseJSON returns nil if text is not a single JSON object or array.
func parseJSON(text string) *Node {
	blanks := len(text) - len(strings.TrimLeft(strings.TrimPrefix(text, bom), " \t\r\n"))
	if blanks == len(text) || text[blanks] != '{' && text[blanks] != '[' {
		return nil
	}
	p := &jsonParser{text: text, base: blanks, end: blanks, dec: json.NewDecoder(strings.NewReader(text[blanks:]))}
	p.dec.UseNumber()
	n := p.value(0)
	if n == nil || strings.Trim(text[n.End:], " \t\r\n") != "" {
		return nil
	}
	return n
}

type jsonParser struct {
	text      string
	dec       *json.Decoder
	base, end int // offset of the decoder's input; end of the last token
}

// On errors, next returns a zero Delim.
func (p *jsonParser) next() (t json.Token, start int) {
	start = p.end
	for start < len(p.text) && strings.IndexByte(" \t\r\n,:", p.text[start]) >= 0 {
		start++
	}
	t, err := p.dec.Token()
	if err != nil {
		return json.Delim(0), start
	}
	p.end = p.base + int(p.dec.InputOffset())
	return t, start
}

// value returns nil on errors.
func (p *jsonParser) value(depth int) *Node {
	t, start := p.next()
	n := &Node{Start: start, Begin: start, Known: true, Style: Plain}
	switch t := t.(type) {
	case json.Delim:
		if t != '{' && t != '[' || depth == maxDepth || !p.members(n, t == '{', depth) {
			return nil
		}
	case string:
		n.Value, n.Tag, n.Style = t, "!!str", DoubleQuoted
	case json.Number:
		n.Value, n.Tag = t.String(), "!!int"
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	case bool:
		n.Value, n.Tag = p.text[start:p.end], "!!bool"
	case nil:
		n.Value, n.Tag = "null", "!!null"
	}
	n.End = p.end
	return n
}

func (p *jsonParser) members(n *Node, object bool, depth int) bool {
	n.Style, n.Kind, n.Tag = Flow, Sequence, "!!seq"
	if object {
		n.Kind, n.Tag = Mapping, "!!map"
	}
	for p.dec.More() {
		if object {
			key := p.value(maxDepth)
			if key == nil || key.Style != DoubleQuoted {
				return false
			}
			n.Keys = append(n.Keys, key)
		}
		item := p.value(depth + 1)
		if item == nil {
			return false
		}
		n.Items = append(n.Items, item)
	}
	n.indexed()
	t, _ := p.next()
	return t == json.Delim('}') || t == json.Delim(']')
}
