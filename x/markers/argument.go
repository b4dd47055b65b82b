package markers

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/scanner"

	"github.com/celadon-cel/celadon/internal/text/spell"
)

// Argument is a name=value pair in a marker.
type Argument struct {
	Name  string
	Value Value
}

// badArgument is the error at which a generator stops reading a marker.
type badArgument struct {
	offset  int // in the file
	message string
}

// arguments parses name=value pairs. start is the offset of text in the file. The tokens are those of text/scanner,
// as in controller-tools: a value is quoted, in backticks, or bare, and a bare value ends at a comma, semicolon, or
// closing brace. If strict is set, the marker belongs to controller-tools and its arguments are checked. The
// arguments of other markers are unknown, and their lists (a;b) are read as a single bare value.
func arguments(text string, start int, strict bool) (list []Argument, bad *badArgument) {
	p := &argumentParser{text: text, start: start, strict: strict}
	p.Init(strings.NewReader(text))
	p.Mode = scanner.ScanIdents | scanner.ScanStrings | scanner.ScanRawStrings | scanner.SkipComments
	p.Error = func(_ *scanner.Scanner, message string) { p.fail(p.Position.Offset, message+quoting) }
	for p.bad == nil {
		if p.Scan() != scanner.Ident {
			if p.peek() == scanner.EOF && len(list) > 0 {
				p.fail(len(text), "the marker ends with its line: write all arguments on one line")
			}
			p.fail(p.Position.Offset, "want the name of an argument, such as message"+quoting)
			break
		}
		name, at := p.TokenText(), p.Position.Offset
		if p.Scan() != '=' {
			p.fail(p.Position.Offset, "want = after "+name+quoting)
			break
		}
		if strict && !stringArguments[name] && name != boolArgument {
			why := "unknown argument " + name
			if near := spell.Nearest(name, append(slices.Sorted(maps.Keys(stringArguments)), boolArgument)); near != "" {
				why += ": did you mean " + near + "?"
			}
			p.fail(at, why)
			break
		}
		value, ok := p.value(name)
		if !ok {
			break
		}
		list = append(list, Argument{name, value})
		if p.peek() == scanner.EOF {
			break
		}
		if p.Scan() != ',' {
			p.fail(p.Position.Offset, "want a comma after the value of "+name+quoting)
		}
	}
	if strict && !slices.ContainsFunc(list, func(a Argument) bool { return a.Name == "rule" }) {
		p.fail(len(text), "the argument rule is missing")
	}
	return list, p.bad
}

const quoting = `; write " in a quoted rule as \", or quote the rule with backticks`

type argumentParser struct {
	scanner.Scanner
	text   string
	start  int
	strict bool
	bad    *badArgument
}

// fail records the first error and ignores later errors.
func (p *argumentParser) fail(offset int, message string) {
	if p.bad == nil {
		p.bad = &badArgument{p.start + max(0, min(offset, len(p.text))), message}
	}
}

// peek skips white space and returns the next character without consuming it.
func (p *argumentParser) peek() rune {
	for p.Peek() == ' ' || p.Peek() == '\t' || p.Peek() == '\r' || p.Peek() == '\n' {
		p.Next()
	}
	return p.Peek()
}

func (p *argumentParser) value(name string) (Value, bool) {
	tok := p.Scan()
	from := p.Position.Offset
	if p.strict && name == boolArgument {
		text := p.TokenText()
		if text != "true" && text != "false" {
			p.fail(from, "want true or false")
		}
		return Value{Text: text, raw: text, start: p.start + from}, p.bad == nil
	}
	if tok == scanner.String || tok == scanner.RawString {
		raw := p.TokenText()
		text, err := strconv.Unquote(raw)
		if err != nil {
			p.fail(from, "the value of "+name+" is not a Go string"+quoting)
			return Value{}, false
		}
		return Value{Text: text, raw: raw, start: p.start + from}, true
	}
	if tok == scanner.EOF {
		return Value{start: p.start + len(p.text)}, true
	}
	list := !p.strict && !stringArguments[name]
	for next := p.peek(); next != ',' && next != '}' && next != scanner.EOF && (next != ';' || list); next = p.peek() {
		p.Scan()
	}
	// As in controller-tools, a bare value that is followed by a space and a comma loses its last
	// token: TokenText returns "" after peek has skipped the space.
	raw := p.text[from : p.Position.Offset+len(p.TokenText())]
	return Value{Text: raw, raw: raw, start: p.start + from, cut: p.TokenText() == ""}, true
}

var stringArguments = map[string]bool{"rule": true, "message": true, "messageExpression": true, "reason": true, "fieldPath": true}

const boolArgument = "optionalOldSelf"
