package vet

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/regexp/automaton"
)

// The names of lints about schemas. impossiblePattern also concerns the patterns in rules.
const (
	impossiblePattern = "impossible-pattern"
	yamlBoolean       = "yaml-boolean"
	optionalParent    = "optional-parent"
)

// A schemaWalk finds the lints of a schema.
type schemaWalk struct {
	*lintState
	unit    *unit
	without []string
	found   []Lint
}

func (w *schemaWalk) add(name string, path *field.Path, steps []engine.Step, message string) {
	if slices.Contains(w.without, name) {
		return
	}
	l := Lint{Name: name, Path: engine.FormatPath(steps), Field: path.String(), Message: message}
	if len(w.unit.versions) == 1 {
		l.Version = w.unit.versions[0]
	}
	w.found = append(w.found, l)
}

// node checks s and the schemas of its fields and elements. steps is its path in objects.
func (w *schemaWalk) node(s *apiextensions.JSONSchemaProps, path *field.Path, steps []engine.Step) {
	if message, _ := w.patternProblem(s.Pattern, s.MinLength, s.MaxLength); message != "" {
		w.add(impossiblePattern, path.Child("pattern"), steps, message)
	}
	if message := enumProblem(s); message != "" {
		w.add(yamlBoolean, path.Child("enum"), steps, message)
	}
	steps = steps[:len(steps):len(steps)]
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p, at, below := s.Properties[name], path.Child("properties").Key(name), append(steps, engine.Step{Name: name})
		if message := keyProblem(name); message != "" {
			w.add(yamlBoolean, at, below, message)
		}
		if message := w.parentProblem(s, name, &p, below); message != "" {
			w.add(optionalParent, at, below, message)
		}
		w.node(&p, at, below)
	}
	if s.Items != nil && s.Items.Schema != nil {
		w.node(s.Items.Schema, path.Child("items"), append(steps, engine.Step{Any: true}))
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		w.node(s.AdditionalProperties.Schema, path.Child("additionalProperties"), append(steps, engine.Step{Any: true}))
	}
}

const (
	// maxPatternSteps limits the search for a text that a pattern matches, and maxLengths its length.
	maxPatternSteps = 20_000
	maxLengths      = 1 << 12
)

// noMatch reports whether it is proved that no text with allowed length matches a pattern.
func (s *lintState) noMatch(pattern string, minLength, maxLength *int64) bool {
	search := automaton.Search{Steps: maxPatternSteps, Count: 1}
	if minLength != nil {
		search.MinLength = int(min(max(*minLength, 0), maxLengths))
	}
	if maxLength != nil && *maxLength >= 0 && *maxLength < maxLengths {
		search.MaxLength = int(*maxLength)
	}
	key := fmt.Sprint(search.MinLength, " ", search.MaxLength, " ", pattern)
	none, known := s.noMatches[key]
	if !known && len(s.noMatches) < maxPatterns {
		if language, err := automaton.Compile(pattern); err == nil && language.Size() <= maxStates {
			found := language.Find(search)
			none = found.Complete && len(found.Texts) == 0
		}
		s.noMatches[key] = none
	}
	return none
}

// unquoted returns a pattern without the quotes or slashes around it, or "" if the result does not match either.
func (s *lintState) unquoted(pattern string, minLength, maxLength *int64) string {
	n := len(pattern)
	if n < 3 || pattern[0] != pattern[n-1] || !strings.ContainsRune("'\"`/", rune(pattern[0])) {
		return ""
	}
	if s.noMatch(pattern[1:n-1], minLength, maxLength) {
		return ""
	}
	return pattern[1 : n-1]
}

// patternProblem describes a pattern that matches no text with an allowed length, or returns "". fix is a pattern without
// quotes that does, or "".
func (s *lintState) patternProblem(pattern string, minLength, maxLength *int64) (message, fix string) {
	if pattern == "" || !s.noMatch(pattern, minLength, maxLength) {
		return "", ""
	}
	fix = s.unquoted(pattern, minLength, maxLength)
	message = "no text matches " + short(pattern)
	switch {
	case fix != "":
		message += fmt.Sprintf(", because the %c around the pattern is part of it: write %s", pattern[0], short(fix))
	case !s.noMatch(pattern, nil, nil):
		message += " and has an allowed length: correct the pattern, minLength, or maxLength"
	default:
		message += ": ^ matches only at the beginning of a text, and $ only at the end"
	}
	return message, fix
}

// impossibleMatch finds calls of matches() with a pattern that matches no text.
func impossibleMatch(in *inspection) (found *problem) {
	if !strings.Contains(in.spec.Rule, "matches") {
		return nil
	}
	in.walk.visit(in.expr.ast.NativeRep().Expr(), func(e ast.Expr, _ *exprPath) {
		if found != nil || e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "matches" {
			return
		}
		args := e.AsCall().Args()
		pattern, ok := args[len(args)-1].AsLiteral().(celtypes.String)
		if !ok {
			return
		}
		if message, fix := in.patternProblem(string(pattern), nil, nil); message != "" {
			found = &problem{message: message}
			if e, ok := in.replaced(args[len(args)-1], strconv.Quote(fix)); ok && fix != "" {
				found.fix = in.fixed(e)
			}
		}
	})
	return found
}

// enumProblem describes a value of an enum of strings that is a boolean, because YAML reads some words as booleans.
func enumProblem(s *apiextensions.JSONSchemaProps) string {
	if s.Type != "string" {
		return ""
	}
	for _, v := range s.Enum {
		if v, ok := v.(bool); ok {
			return fmt.Sprintf("the enum has the boolean %v, which no string equals: YAML reads %s without quotes as %v; quote the value",
				v, wordsFor(v), v)
		}
	}
	return ""
}

// keyProblem describes a name of a property that was probably such a word.
func keyProblem(name string) string {
	if name != "true" && name != "false" {
		return ""
	}
	return fmt.Sprintf("the property has the name %s, perhaps because YAML reads %s without quotes as %s: quote the name",
		name, wordsFor(name == "true"), name)
}

// wordsFor returns the words that YAML reads as a boolean.
func wordsFor(v bool) string {
	if v {
		return "y, yes, and on"
	}
	return "n, no, and off"
}

// parentProblem describes an optional property whose absence switches off defaults, required fields, and rules below it.
func (w *schemaWalk) parentProblem(above *apiextensions.JSONSchemaProps, name string, p *apiextensions.JSONSchemaProps,
	steps []engine.Step) (message string) {
	if p.Type != "object" || p.Nullable || p.Default != nil || slices.Contains(above.Required, name) || steps[0].Name == "status" {
		return ""
	}
	needed := slices.DeleteFunc(slices.Clone(p.Required), func(name string) bool { return p.Properties[name].Default != nil })
	switch {
	case len(p.Properties) > 1 && allDefaulted(p):
		message = "the defaults of its fields apply only to objects that have " + engine.FormatPath(steps) +
			": add default: " + defaultFor(p) + " to it, unless its absence has a meaning"
	case len(steps) == 1 && name == "spec" && len(p.XValidations) > 0 && len(needed) > 0:
		message = "objects without spec are accepted, although it requires " + strings.Join(needed, ", ") +
			" and has rules: add required: [spec] at the root"
	}
	isTested := func(r *rule) bool { return r.expr != nil && !r.expr.rejected && tests(r.expr, name) }
	if message == "" || slices.ContainsFunc(w.unit.rules, isTested) { // its absence has a meaning
		return ""
	}
	return message
}

// defaultFor returns a default for an object whose fields all have defaults. Servers validate a default of a CRD before
// they apply the defaults below it.
func defaultFor(p *apiextensions.JSONSchemaProps) string {
	fields := map[string]any{}
	for name, field := range p.Properties {
		if slices.Contains(p.Required, name) || anyRules(p) {
			fields[name] = *field.Default
		}
	}
	text, err := json.Marshal(fields)
	if err != nil || len(text) > maxShown {
		return "an object with the defaults of its fields"
	}
	return string(text)
}

// allDefaulted reports whether each field of an object has a default that is not empty.
func allDefaulted(s *apiextensions.JSONSchemaProps) bool {
	for _, p := range s.Properties {
		if p.Default == nil || isEmpty(*p.Default) {
			return false
		}
	}
	return true
}

func isEmpty(v apiextensions.JSON) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return v == nil || v == "" || v == false || v == int64(0) || v == float64(0)
}
