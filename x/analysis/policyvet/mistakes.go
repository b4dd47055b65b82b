package policyvet

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/regexp/lazy"
)

// A knownMistake explains an error about an expression. The first whose patterns match is used.
type knownMistake struct {
	message, source *lazy.Regexp // of the error, and of the expression; nil matches any
	hint            string
	// fixed is the replacement of source in the corrected expression, or "".
	fixed string
}

const onePatch = "a patch is not a map: write JSONPatch{op: 'add', path: '/…', value: …}"

// The messages come from cel-go and from k8s.io/apiserver/pkg/admission/plugin/policy/mutating.
var mutationMistakes = []knownMistake{
	{lazy.New(`^must evaluate to Object but got map`), nil, "write Object{spec: Object.spec{…}}, and a map only where the schema has one, as for labels", ""},
	{lazy.New(`^must evaluate to list\(JSONPatch\) but got JSONPatch$`), lazy.New(`(?s)^(.*)$`), "put the patch in [ ]", "[$1]"},
	{lazy.New(`^must evaluate to list\(JSONPatch\) but got list\(map`), nil, onePatch, ""},
	{nil, lazy.New(`(?:^|[^\w])\{\s*['"]op['"]\s*:`), onePatch, ""},
	{lazy.New(`undeclared reference to 'object'`), lazy.New(`\bobject((?:\.\w+)*\s*\{)`), "types begin with a capital letter: Object{…}, Object.spec{…}", "Object$1"},
	{lazy.New(`Syntax error`), lazy.New(`\w\{\s*['"]\w+['"]\s*:`), "the names of fields have no quotes: JSONPatch{op: 'add', …}, Object.spec{replicas: 3}", ""},
	{lazy.New(`undeclared reference to 'escapeKey'`), lazy.New(`\bescapeKey\(`), "the function is called jsonpatch.escapeKey", "jsonpatch.escapeKey("},
	{lazy.New(`expected type of field '(\w+)' is ''`), lazy.New(`JSONPatch`), "a JSONPatch has the fields op, path, from, and value", ""},
	{lazy.New(`undeclared reference to '(\w+)'`), lazy.New(`(?:^|[^\w])\{\s*\w+\s*:`), "write the type of an object: Object.spec{replicas: 3}; the keys of a map need quotes", ""},
	{lazy.New(`expected type 'bool' but found 'Object'`), nil, "write a condition as condition ? Object{…} : Object{}", ""},
	{lazy.New(`'_\?_:_' applied to '\(bool, list\(JSONPatch\), map`), lazy.New(`:\s*\{\}\s*$`), "write [] for no patch", ": []"},
	{lazy.New(`expected type '.+' but found '.+'`), lazy.New(`\{\s*['"]`), "the values of a map have one type: write dyn(…) around those of other types, or Object.….{…} in place of the map", ""},
}

const untyped = "policies do not know the types of fields: "

// The messages come from cel-go and from k8s.io/apiserver/pkg/admission/plugin/cel.
var resultMistakes = []knownMistake{
	{lazy.New(`^must evaluate to bool but got dyn$`), lazy.New(`^([\w.]+)$`), untyped + "compare the value, for example with == true", "$1 == true"},
	{lazy.New(`^must evaluate to bool but got dyn$`), lazy.New(`(?s)^(.*)$`), untyped + "compare the value, for example with == true", "($1) == true"},
	{lazy.New(`^must evaluate to string but got dyn$`), lazy.New(`(?s)^(.*)$`), untyped + "convert the value with string(…)", "string($1)"},
	{lazy.New(`^must evaluate to one of \[string null_type\] but got dyn$`), nil, untyped + "convert the value with string(…)", ""},
	{lazy.New(`'_\?_:_' applied to '\(bool, string, null\)'`), lazy.New(`:\s*null$`), "write '' in place of null: an empty text is not used", ": ''"},
}

// explainKnown adds the hint and the correction of a mistake in a list. It also returns true if the expression is too
// long.
func (v *vetter) explainKnown(s *subject, kinds []*kind, list []knownMistake, e *Error) bool {
	if len(e.Expression) > maxExplainedLength {
		return true
	}
	for _, h := range list {
		if h.message != nil && !h.message.MatchString(e.Message) || h.source != nil && !h.source.MatchString(strings.TrimSpace(e.Expression)) {
			continue
		}
		e.Hint = h.hint
		if h.fixed == "" {
			return true
		}
		if fixed := h.source.ReplaceAllString(strings.TrimSpace(e.Expression), h.fixed); v.isCorrect(s, kinds, e.Path, fixed) {
			e.Fixed = fixed
		}
		return true
	}
	return false
}
