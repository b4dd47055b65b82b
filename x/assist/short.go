package assist

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/google/cel-go/common/operators"
)

// Summary returns the problem in a few words, without the notation of cel-go.
func (p *Problem) Summary() string { return short(p.Message) }

// Hint returns how to fix the problem on one line, or "". It suggests no names if the message suggests some.
func (p *Problem) Hint() string {
	if p.Words != "" || len(p.Names) == 0 || Suggests(p.Message) {
		return p.Words
	}
	return "did you mean " + strings.Join(p.Names, " or ") + "?"
}

// Suggests reports whether a message of the checker suggests names, as in Kubernetes 1.38.
func Suggests(message string) bool { return strings.Contains(message, " (did you mean '") }

// Fixed returns src with the first fix. It returns "" if there is none that makes a whole expression, and for a missing
// guard, because the expression does not say whether objects without the field are meant to be accepted.
func (p *Problem) Fixed(src string) string {
	if len(p.Fixes) == 0 || len(p.Fixes[0].Edits) == 0 || p.Fixes[0].Partial || p.Kind == Unguarded {
		return ""
	}
	return Apply(src, p.Fixes[0].Edits)
}

// The messages of cel-go, and how to say the same in a few words.
var shortened = []struct {
	message *lazy.Regexp
	short   string
}{
	{lazy.New(`^undefined field '(.+)'$`), "unknown field $1"},
	{lazy.New(`^undeclared reference to '(.+?)'(?: \(in container ''\))?( \(did you mean '.+\?\))?$`), "unknown name $1$2"},
	{lazy.New(`(?s)^Syntax error: missing '(.+)' at '<EOF>'$`), "$1 is missing at the end"},
	{lazy.New(`(?s)^Syntax error: missing '(.+)' at '(.+)'$`), "$1 is missing before $2"},
	{lazy.New(`(?s)^Syntax error: (?:mismatched|extraneous) input '<EOF>' expecting .+$`), "the expression is incomplete"},
	{lazy.New(`(?s)^Syntax error: (?:mismatched|extraneous) input '(.+?)' expecting .+$`), "unexpected $1"},
	{lazy.New(`(?s)^Syntax error: no viable alternative at input '(.+)'$`), "unexpected $1"},
	{lazy.New(`(?s)^Syntax error: token recognition error at: '(.+)'$`), "unexpected $1"},
	{lazy.New(`^Syntax error: `), ""},
	{lazy.New(`^reserved identifier: (.+)$`), "$1 is a reserved word"},
	{lazy.New(`^type '(.+)' does not support field selection$`), "$1 has no fields"},
	{lazy.New(`^unexpected failed resolution of '(.+)'$`), "$1 has no fields"},
	{lazy.New(`^expected type '(.+)' but found '(.+)'$`), "got $2, want $1"},
}

var overloads = lazy.New(`^found no matching overload for '(.+)' applied to '(.*)'$`)

// internalTypes matches names of types that come from paths in the schema.
var internalTypes = lazy.New(`\bselfType[\w.@]*`)

// short returns a message of cel-go in a few words.
func short(message string) string {
	message = internalTypes.ReplaceAllString(message, "object")
	message = strings.NewReplacer("kubernetes.Quantity", "quantity", "kubernetes.Semver", "version", "kubernetes.URL", "URL", "net.IP", "IP", "net.CIDR", "CIDR").Replace(message)
	if match := overloads.FindStringSubmatch(message); match != nil {
		types := strings.TrimSuffix(strings.TrimPrefix(match[2], "("), ")")
		if symbol, ok := operators.FindReverse(match[1]); ok && symbol != "" {
			return "no operator " + symbol + " for " + strings.Join(splitTypes(types), " and ")
		}
		if target, arguments, isMethod := strings.Cut(match[2], ".("); isMethod {
			return target + " has no method " + match[1] + "(" + arguments
		}
		return "no function " + match[1] + match[2]
	}
	for _, s := range shortened {
		if s.message.MatchString(message) {
			return s.message.ReplaceAllString(message, s.short)
		}
	}
	return message
}
