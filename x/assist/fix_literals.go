package assist

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
)

// A literal is a value that other languages or Kubernetes manifests write without quotes.
type literal struct {
	pattern *lazy.Regexp
	// forms are expressions for the value, with $ for its text.
	forms []string
	hint  string
}

// literals holds the hints and fixes for values that CEL cannot read without quotes, the most
// specific pattern first.
var literals = []literal{
	{lazy.New(`\d{4}-\d\d-\d\d(?:[Tt][\d:.]+(?:[Zz]|[-+]\d\d:\d\d)?)?`), []string{`timestamp("$")`}, "is not a date in CEL"},
	{lazy.New(`\d+(?:\.\d+){3}/\d+`), []string{`"$"`, `cidr("$")`}, "is not a CIDR in CEL"},
	{lazy.New(`\d+(?:\.\d+){3}`), []string{`"$"`, `ip("$")`}, "is not an IP address in CEL"},
	{lazy.New(`v?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?`), []string{`semver("$")`, `"$"`}, "is not a version in CEL"},
	{lazy.New(`\d+(?:\.\d+)?(?:[KMGTPE]i|[mkMGTPE])`), []string{`quantity("$")`, `duration("$")`, `"$"`}, "is not a quantity in CEL"},
	{lazy.New(`(?:\d+(?:\.\d+)?(?:ns|us|ms|s|m|h))+`), []string{`duration("$")`, `"$"`}, "is not a duration in CEL"},
	{lazy.New(`\d+(?:\.\d+)?%`), []string{`"$"`}, "is not a number in CEL: % is the remainder of a division; write a number, or a text in quotes"},
	{lazy.New(`[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+/[\w.-]*\w`), []string{`"$"`}, "is not a string in CEL"},
	{lazy.New(`\d[\d_]*_\d+`), []string{"$"}, "is not a number in CEL: write it without _"},
}

var durationNames = lazy.New(`(?i)time|duration|interval|period|ttl|grace|delay|age$|wait|window|deadline`)

type unquoted struct {
	Span
	text  string
	forms []string // that the value can have, the most likely first
	hint  string
}

func (f *fault) unquotedValues() (all []unquoted) {
	masked := f.masked()
	for _, l := range literals {
		for _, at := range l.pattern.FindAllStringIndex(masked, -1) {
			s := Span{at[0], at[1]}
			overlaps := func(u unquoted) bool { return s.Start < u.End && u.Start < s.End }
			if f.insideWord(masked, s) || slices.ContainsFunc(all, overlaps) {
				continue
			}
			u := unquoted{s, masked[s.Start:s.End], nil, l.hint}
			forms := l.forms
			if strings.HasSuffix(u.text, "m") && len(forms) > 2 && durationNames.MatchString(f.clause(s)) {
				forms, u.hint = []string{forms[1], forms[0]}, "is not a duration in CEL"
			}
			compared := strings.ContainsAny(f.clause(s), "<>=")
			for i, form := range forms {
				if (i > 0 && compared || strings.HasSuffix(u.text, "%") && strings.ContainsAny(f.clause(s), "<>")) && form == `"$"` {
					continue // strings and quantities are ordered differently, and 1024Mi equals 1Gi
				}
				u.forms = append(u.forms, strings.ReplaceAll(form, "$", normalized(form, u.text)))
			}
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(a, b unquoted) int { return a.Start - b.Start })
	return all
}

func normalized(form, text string) string {
	switch {
	case strings.HasPrefix(form, "timestamp"):
		if !strings.ContainsAny(text, "Tt") {
			return text + "T00:00:00Z"
		}
	case strings.HasPrefix(form, "semver"):
		return strings.TrimPrefix(text, "v")
	case form == "$":
		return strings.ReplaceAll(text, "_", "")
	}
	return text
}

// masked returns the expression with one byte for each code point. Strings, comments, and characters
// outside of ASCII are spaces.
func (f *fault) masked() string {
	text := make([]byte, len(f.src))
	for i, r := range f.src {
		text[i] = ' '
		if r < 128 {
			text[i] = byte(r)
		}
	}
	for _, t := range lex.Tokens(f.src) {
		if t.Kind == lex.String || t.Kind == lex.Comment {
			for i := t.Start; i < t.End; i++ {
				text[i] = ' '
			}
		}
	}
	return string(text)
}

func (f *fault) insideWord(text string, s Span) bool {
	part := func(i int) bool {
		return i >= 0 && i < len(text) && (lex.LetterOrDigit(rune(text[i])) || text[i] == '.')
	}
	return part(s.Start-1) || part(s.End)
}

func (f *fault) clause(s Span) string {
	start, end := s.Start, s.End
	for start > 0 && f.src[start-1] != '&' && f.src[start-1] != '|' {
		start--
	}
	for end < len(f.src) && f.src[end] != '&' && f.src[end] != '|' {
		end++
	}
	return string(f.src[start:end])
}

func (f *fault) unquotedHint() string {
	values := f.unquotedValues()
	if len(values) == 0 {
		return ""
	}
	u := values[0]
	if strings.Contains(u.hint, ":") {
		return u.text + " " + u.hint
	}
	return u.text + " " + u.hint + ": write " + u.forms[0]
}

// Alternative n of literalEdits gives each value without quotes its form n, or its last form.
func (m *fixer) literalEdits() (all [][]Edit) {
	values := m.unquotedValues()
	for form := range 3 {
		var edits []Edit
		for _, u := range values {
			if len(u.forms) > 0 {
				edits = append(edits, Edit{u.Start, u.End, u.forms[min(form, len(u.forms)-1)]})
			}
		}
		all = append(all, edits)
	}
	return all
}

func isRaw(t lex.Token) bool {
	return strings.ContainsAny(t.Text[:strings.IndexAny(t.Text, `'"`)], "rR")
}

// badEscape returns the first escape sequence of a string that is invalid in CEL, such as \S, or "".
func badEscape(t lex.Token) string {
	if t.Kind != lex.String || isRaw(t) {
		return ""
	}
	for i := 0; i+1 < len(t.Text); i++ {
		if t.Text[i] != '\\' {
			continue
		}
		if !strings.ContainsRune("abfnrtv\\'\"`?xXuU01234567", rune(t.Text[i+1])) {
			return t.Text[i : i+2]
		}
		i++
	}
	return ""
}

func (f *fault) escapeHint() string {
	for _, t := range f.tokens {
		if bad := badEscape(t); bad != "" {
			return bad + ` is not an escape sequence in a string: write r'…' for a pattern, or \` + bad
		}
	}
	return ""
}

func (m *fixer) rawEdits() (edits []Edit) {
	for _, t := range m.tokens {
		if badEscape(t) != "" {
			edits = append(edits, Edit{t.Start, t.Start, "r"})
		}
	}
	return edits
}

func (f *fault) quoteHint() string {
	switch text := string(f.src); {
	case strings.ContainsAny(f.masked(), "`") || strings.ContainsAny(text, "‘’‚‛“”„‟"):
		return "use ' or \" to quote a string"
	case slashPattern.MatchString(text):
		return "a pattern is a string: matches(r'^[a-z]+$')"
	}
	for i, t := range f.tokens {
		if t.Kind == lex.String && !t.Open && f.isName(i+1) && f.tokens[i+1].Start == t.End {
			return fmt.Sprintf("the string ends at the quote before %s: write \\%s inside of a string, or use the other quotes around it", f.at(i+1), t.Text[:1])
		}
	}
	return ""
}

// slashPattern matches a pattern between slashes as the argument of matches, match, or test.
var slashPattern = lazy.New(`(?:match|matches|test)\(\s*(/((?:[^/\\]|\\.)*)/[a-z]*)\s*\)`)

func (m *fixer) quoteEdits() (all [][]Edit) {
	var plain []Edit
	for i, r := range m.src {
		switch {
		case strings.ContainsRune("‘’‚‛`", r):
			plain = append(plain, Edit{i, i + 1, "'"})
		case strings.ContainsRune("“”„‟", r):
			plain = append(plain, Edit{i, i + 1, `"`})
		}
	}
	all = append(all, plain)
	for i := 1; i+1 < len(m.tokens); i++ { // ''a'', as YAML escapes quotes
		before, after := m.tokens[i-1], m.tokens[i+1]
		adjacent := before.End == m.tokens[i].Start && after.Start == m.tokens[i].End
		if (before.Text == "''" || before.Text == `""`) && after.Text == before.Text && adjacent {
			all = append(all, []Edit{{before.Start, before.Start + 1, ""}, {after.Start, after.Start + 1, ""}})
		}
	}
	text := string(m.src)
	if at := slashPattern.FindStringSubmatchIndex(text); at != nil {
		start, pattern := len([]rune(text[:at[2]])), text[at[4]:at[5]]
		quoted := "'" + pattern + "'"
		if strings.Contains(pattern, `\`) && !strings.Contains(pattern, `\\`) {
			quoted = "r" + quoted
		}
		all = append(all, []Edit{{start, start + len([]rune(text[at[2]:at[3]])), quoted}})
	}
	return all
}

func (f *fault) plainName(i int) bool {
	return f.isName(i) && !slices.Contains([]string{".", ".?"}, f.at(i-1)) && !slices.Contains([]string{".", ".?", "("}, f.at(i+1))
}

func (f *fault) known() []string {
	return append(f.names(""), "true", "false", "null", "in")
}

// lookaround matches the start of a lookahead or lookbehind, which RE2 does not have.
var lookaround = lazy.New(`\(\?<?[=!]`)

// badPattern returns the first string at or after the error as a pattern, and the range of its text. bad is nil if the
// pattern is valid.
func (f *fault) badPattern() (text string, s Span, bad *syntax.Error) {
	for _, t := range f.tokens[min(f.token, len(f.tokens)):] {
		if t.Kind != lex.String || t.Open {
			continue
		}
		quote := strings.IndexAny(t.Text, `'"`)
		inner := strings.Trim(t.Text[quote:], t.Text[quote:quote+1])
		if text = inner; !isRaw(t) {
			text = strings.ReplaceAll(inner, `\\`, `\`)
		}
		start := t.Start + quote + (len(t.Text)-quote-len(inner))/2
		_, err := syntax.Parse(text, syntax.Perl)
		errors.As(err, &bad)
		return text, Span{start, start + len([]rune(inner))}, bad
	}
	return "", Span{}, nil
}

func (f *fault) pattern() string {
	text, _, bad := f.badPattern()
	if look := lookaround.FindString(text); look != "" {
		return look + " is not supported: combine two matches() with && and !"
	}
	if bad == nil {
		return ""
	}
	return fmt.Sprintf("the pattern is invalid at %s: %s", bad.Expr, bad.Code)
}

func (m *fixer) patternEdits() [][]Edit {
	text, s, bad := m.badPattern()
	if bad == nil || s.End > len(m.src) {
		return nil
	}
	switch inner := m.textOf(s); bad.Code {
	case syntax.ErrMissingBracket:
		return [][]Edit{{{s.End, s.End, "]"}}}
	case syntax.ErrMissingParen:
		return [][]Edit{{{s.End, s.End, ")"}}}
	case syntax.ErrInvalidRepeatOp:
		return [][]Edit{replace(s, strings.Replace(inner, bad.Expr, bad.Expr[:1], 1))}
	case syntax.ErrMissingRepeatArgument: // the pattern of a file name: *.example.com
		if text == inner && !strings.Contains(inner, `\`) {
			glob := strings.NewReplacer("*", ".*", ".", "[.]", "?", ".").Replace(inner)
			return [][]Edit{replace(s, glob)}
		}
	}
	return nil
}
