package policyvet

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/regexp/lazy"
)

// A mutationHint explains an error about the expression of a mutation. The first whose patterns match is used.
type mutationHint struct {
	message, source *lazy.Regexp // of the error, and of the expression; nil matches any
	hint            string
	// fixed is the replacement of source in the corrected expression, or "".
	fixed string
}

const onePatch = "a patch is not a map: write JSONPatch{op: 'add', path: '/…', value: …}"

// The messages come from cel-go and from k8s.io/apiserver/pkg/admission/plugin/policy/mutating.
var mutationHints = []mutationHint{
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

// explainMutation adds the hint and the correction of a mutation that does not compile.
func (v *vetter) explainMutation(s *subject, kinds []*kind, e *Error) {
	if len(e.Expression) > maxExplainedLength {
		return
	}
	for _, h := range mutationHints {
		if h.message != nil && !h.message.MatchString(e.Message) || h.source != nil && !h.source.MatchString(e.Expression) {
			continue
		}
		e.Hint = h.hint
		if h.fixed == "" {
			return
		}
		if fixed := h.source.ReplaceAllString(strings.TrimSpace(e.Expression), h.fixed); v.isCorrect(s, kinds, e.Path, fixed) {
			e.Fixed = fixed
		}
		return
	}
}
