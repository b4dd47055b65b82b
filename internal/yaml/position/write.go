package position

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"go.yaml.in/yaml/v3"
)

type writer struct {
	d      *Document
	eol    string
	width  int  // of indentation
	dashes int  // indentation of lists in mappings
	sorted bool // whether keys are sorted, as by generators
}

func newWriter(d *Document) *writer {
	w := &writer{d: d, eol: "\n", width: 2}
	if strings.Contains(d.text, "\r\n") {
		w.eol = "\r\n"
	}
	var h documentStyle
	h.add(d, d.Root)
	if h.width > 0 {
		w.width = h.width
	}
	w.dashes = max(0, h.dashes-1)
	w.sorted = h.ordered > 9*h.unordered
	return w
}

// documentStyle records the style of a document. For indentation, the first occurrence counts.
type documentStyle struct{ width, dashes, ordered, unordered int }

func (h *documentStyle) add(d *Document, n *Node) {
	if n.Kind == Mapping && n.Style == Block {
		h.mapping(d, n)
	}
	for _, below := range n.Items {
		h.add(d, below)
	}
}

func (h *documentStyle) mapping(d *Document, n *Node) {
	switch {
	case len(n.Keys) < 3:
	case n.inOrder():
		h.ordered++
	default:
		h.unordered++
	}
	if h.width > 0 && h.dashes > 0 {
		return
	}
	for i, v := range n.Items {
		if v.Style != Block || v.Kind == Scalar || d.Position(v.Start).Line == d.Position(n.Keys[i].Start).Line {
			continue
		}
		switch by := v.column(d) - n.column(d); {
		case v.Kind == Sequence && h.dashes == 0:
			h.dashes = by + 1
		case v.Kind == Mapping && h.width == 0:
			h.width = by
		}
	}
}

func (n *Node) inOrder() bool {
	return n.Kind == Mapping && slices.IsSortedFunc(n.Keys, func(a, b *Node) int { return strings.Compare(a.Value, b.Value) })
}

type blockContext struct {
	dash bool  // after a dash, otherwise after a key
	free bool  // nothing follows on the line
	old  *Node // the replaced node, or nil
}

// maxBlockColumn is the column from which values are written in flow style. Otherwise, the indentation of a value with
// thousands of levels would take a thousand times its size.
const maxBlockColumn = 200

// afterIndicator formats a value for the position after a key's colon or a dash, in a block collection at
// column col.
func (w *writer) afterIndicator(v *Node, col int, at blockContext) string {
	switch {
	case v.Kind == Scalar:
		if at.free {
			if block := w.literal(v, col, at.old); block != "" {
				return " " + block
			}
		}
		like := Plain
		if at.old != nil && at.old.Kind == Scalar && at.old.Tag == "!!str" {
			like = at.old.Style
		}
		return " " + w.scalar(v, like)
	case len(v.Items) == 0 || !at.free || col > maxBlockColumn:
		return " " + w.inline(v)
	}
	by := w.width
	if v.Kind == Sequence {
		by = w.dashes
	}
	if at.dash {
		by = 2
	}
	indent := w.eol + strings.Repeat(" ", col+by)
	lines := make([]string, len(v.Items))
	for i, item := range v.Items {
		if v.Kind == Sequence {
			lines[i] = "-" + w.afterIndicator(item, col+by, blockContext{dash: true, free: true})
		} else {
			lines[i] = w.scalar(v.Keys[i], Plain) + ":" + w.afterIndicator(item, col+by, blockContext{free: true})
		}
	}
	text := strings.Join(lines, indent)
	if at.dash {
		return " " + text
	}
	return indent + text
}

func (w *writer) inline(v *Node) string {
	if v.Kind == Scalar {
		if v.Tag == "!!str" {
			return w.quote(v.Value)
		}
		return v.Value
	}
	parts := make([]string, len(v.Items))
	for i, item := range v.Items {
		if parts[i] = w.inline(item); v.Kind == Mapping {
			parts[i] = w.flowKey(v.Keys[i]) + ": " + parts[i]
		}
	}
	text := strings.Join(parts, ", ")
	if v.Kind == Mapping {
		return "{" + text + "}"
	}
	return "[" + text + "]"
}

var word = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// Word formats text as a YAML key or value that is valid in any context, with quotes if necessary.
func Word(text string) string {
	return (&writer{d: &Document{}}).flowKey(&Node{Tag: "!!str", Value: text})
}

func (w *writer) flowKey(key *Node) string {
	if plain := w.scalar(key, Plain); !w.d.json && word.MatchString(plain) {
		return plain
	}
	return w.quote(key.Value)
}

// scalar formats a scalar on a single line, in style like if that can represent it.
func (w *writer) scalar(v *Node, like Style) string {
	switch {
	case v.Tag != "!!str":
		return v.Value
	case w.d.json || like == DoubleQuoted || strings.ContainsAny(v.Value, "\n\r"):
		return w.quote(v.Value)
	case like == SingleQuoted && strings.IndexFunc(v.Value, odd) < 0:
		return "'" + strings.ReplaceAll(v.Value, "'", "''") + "'"
	}
	// The library determines which strings need quotes, including YAML 1.1 booleans.
	encoded, err := yaml.Marshal(v.Value)
	if line := strings.TrimSuffix(string(encoded), "\n"); err == nil && !strings.Contains(line, "\n") {
		return line
	}
	return w.quote(v.Value)
}

func odd(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

// literal formats a multi-line text as a literal block, or returns "" if a block cannot represent
// it.
func (w *writer) literal(v *Node, col int, old *Node) string {
	text := v.Value
	if v.Tag != "!!str" || w.d.json || !strings.Contains(strings.TrimRight(text, "\n"), "\n") || strings.HasSuffix(text, "\n\n") {
		return ""
	}
	head := "|-"
	if trimmed, ok := strings.CutSuffix(text, "\n"); ok {
		text, head = trimmed, "|"
	}
	if strings.IndexByte(" \t\n", text[0]) >= 0 || strings.IndexFunc(strings.ReplaceAll(text, "\n", ""), func(r rune) bool { return r != '\t' && odd(r) }) >= 0 {
		return ""
	}
	indent := col + w.width
	if old != nil && (old.Style == Literal || old.Style == Folded) {
		if by := contentIndent(w.d.text, old); by > col {
			indent = by
		}
		h := header(w.d.text, old.Start)
		head += strings.TrimRight(w.d.text[h.end:h.line], " \t")
	}
	var b strings.Builder
	b.WriteString(head)
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(w.eol)
		if line != "" {
			b.WriteString(strings.Repeat(" ", indent) + line)
		}
	}
	return b.String()
}

func (w *writer) quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case !odd(r):
			b.WriteRune(r)
		case r > 0xffff && w.d.json:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
