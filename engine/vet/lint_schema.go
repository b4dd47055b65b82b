package vet

import (
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
	"github.com/celadon-cel/celadon/internal/text/preview"
)

// impossiblePattern also concerns the patterns in rules.
const (
	impossiblePattern = "impossible-pattern"
	yamlBoolean       = "yaml-boolean"
	optionalParent    = "optional-parent"
	contradiction     = "contradictory-schema"
)

type schemaWalk struct {
	*lintState
	unit    *unit
	without []string
	found   []Lint
}

func (w *schemaWalk) add(name string, path *field.Path, steps []engine.Step, message string) {
	if message == "" || slices.Contains(w.without, name) {
		return
	}
	w.found = append(w.found, Lint{Name: name, Version: w.unit.version(), Path: engine.FormatPath(steps), Field: path.String(), Message: message})
}

func (w *schemaWalk) node(s *apiextensions.JSONSchemaProps, path *field.Path, steps []engine.Step) {
	message, _ := w.patternProblem(s.Pattern, s.MinLength, s.MaxLength)
	w.add(impossiblePattern, path.Child("pattern"), steps, message)
	w.enum(s, path.Child("enum"), steps)
	w.bounds(s, path, steps)
	w.required(s, path.Child("required"), steps)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p, at, below := s.Properties[name], path.Child("properties").Key(name), append(steps, engine.Step{Name: name})
		if name == "true" || name == "false" {
			w.add(yamlBoolean, at, below, yamlText("the field has the name", name == "true"))
		}
		w.add(optionalParent, at, below, w.parentProblem(s, name, &p, below))
		w.node(&p, at, below)
	}
	steps = append(steps, engine.Step{Any: true})
	if s.Items != nil && s.Items.Schema != nil {
		w.node(s.Items.Schema, path.Child("items"), steps)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		w.node(s.AdditionalProperties.Schema, path.Child("additionalProperties"), steps)
	}
}

func (w *schemaWalk) enum(s *apiextensions.JSONSchemaProps, path *field.Path, steps []engine.Step) {
	for _, v := range s.Enum {
		text, isText := v.(string)
		switch b, isBool := v.(bool); {
		case isBool && s.Type == "string":
			w.add(yamlBoolean, path, steps, yamlText("the enum of strings has the boolean", b))
			return
		case s.Type == "string" && !isText && v != nil:
			w.add(contradiction, path, steps, fmt.Sprintf("no string equals %v in the enum: quote it", v))
			return
		case (s.Type == "integer" || s.Type == "number") && isText:
			w.add(contradiction, path, steps, fmt.Sprintf("no %s equals %q in the enum: remove the quotes", s.Type, short(text)))
			return
		}
	}
}

func (w *schemaWalk) bounds(s *apiextensions.JSONSchemaProps, path *field.Path, steps []engine.Step) {
	for _, bound := range []struct {
		name  string
		isSet bool
		types []string
	}{
		{"maxLength", s.MaxLength != nil, []string{"string"}}, {"minLength", s.MinLength != nil, []string{"string"}},
		{"pattern", s.Pattern != "", []string{"string"}},
		{"maximum", s.Maximum != nil, []string{"integer", "number"}}, {"minimum", s.Minimum != nil, []string{"integer", "number"}},
		{"maxItems", s.MaxItems != nil, []string{"array"}}, {"minItems", s.MinItems != nil, []string{"array"}},
		{"maxProperties", s.MaxProperties != nil, []string{"object"}}, {"minProperties", s.MinProperties != nil, []string{"object"}},
	} {
		if bound.isSet && s.Type != "" && !slices.Contains(bound.types, s.Type) {
			w.add(contradiction, path.Child(bound.name), steps, fmt.Sprintf("%s has no effect: it is for type %s, and this is type %s",
				bound.name, strings.Join(bound.types, " or "), s.Type))
			return
		}
	}
}

// The server prunes required fields that are not declared.
func (w *schemaWalk) required(s *apiextensions.JSONSchemaProps, path *field.Path, steps []engine.Step) {
	keeps := s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields || s.AdditionalProperties != nil || s.XEmbeddedResource
	for i, name := range s.Required {
		meta := len(steps) == 0 && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name)
		if _, ok := s.Properties[name]; !ok && !keeps && !meta && s.Type == "object" {
			w.add(contradiction, path.Index(i), steps, fmt.Sprintf("every object is rejected: %s is required, and the server drops it, because it is not "+
				"among the properties: declare or remove it", name))
		}
	}
}

func yamlText(found string, v bool) string {
	words := map[bool]string{true: "y, yes, and on", false: "n, no, and off"}
	return fmt.Sprintf("%s %v: YAML reads %s without quotes as %v; quote it", found, v, words[v], v)
}

const (
	maxPatternSteps = 20_000
	maxLengths      = 1 << 12
)

// A false result proves nothing.
func (s *lintState) noMatch(pattern string, minLength, maxLength *int64) bool {
	search := automaton.Search{Steps: maxPatternSteps}
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

// fix is the pattern without the quotes around it, or "".
func (s *lintState) patternProblem(pattern string, minLength, maxLength *int64) (message, fix string) {
	if pattern == "" || !s.noMatch(pattern, minLength, maxLength) {
		return "", ""
	}
	message = "no text matches " + short(pattern)
	if n := len(pattern); n > 2 && pattern[0] == pattern[n-1] && strings.Contains("'\"`/", pattern[:1]) {
		if fix = pattern[1 : n-1]; !s.noMatch(fix, minLength, maxLength) {
			return fmt.Sprintf("%s, because the %c around the pattern is part of it: write %s", message, pattern[0], short(fix)), fix
		}
	}
	if !s.noMatch(pattern, nil, nil) {
		return message + " and has an allowed length: correct the pattern, minLength, or maxLength", ""
	}
	return message + ": ^ matches only at the beginning of a text, and $ only at the end", ""
}

func impossibleMatch(in *inspection) (found *Lint) {
	in.walk.visit(in.expr.ast.NativeRep().Expr(), func(e ast.Expr, _ *exprPath) {
		if found != nil || e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "matches" {
			return
		}
		arg := e.AsCall().Args()[len(e.AsCall().Args())-1]
		pattern, _ := arg.AsLiteral().(celtypes.String)
		if message, fix := in.patternProblem(string(pattern), nil, nil); message != "" {
			found = &Lint{Message: message}
			if e, ok := in.replaced(arg, strconv.Quote(fix)); ok && fix != "" {
				found.Fix = in.fixed(e)
			}
		}
	})
	return found
}

// parentProblem describes an optional property whose absence switches off several defaults or, for spec, required
// fields and rules. It returns "" for other properties.
func (w *schemaWalk) parentProblem(above *apiextensions.JSONSchemaProps, name string, p *apiextensions.JSONSchemaProps,
	steps []engine.Step) (message string) {
	if p.Type != "object" || p.Nullable || p.Default != nil || slices.Contains(above.Required, name) || steps[0].Name == "status" {
		return ""
	}
	needed := slices.DeleteFunc(slices.Clone(p.Required), func(name string) bool { return p.Properties[name].Default != nil })
	if defaults := defaultsOf(p); len(defaults) > 1 {
		message = "the defaults of its fields apply only to objects that have " + engine.FormatPath(steps) +
			": unless its absence has a meaning, add default: " + preview.JSON(defaults, maxShown)
	} else if len(steps) == 1 && name == "spec" && len(p.XValidations) > 0 && len(needed) > 0 {
		message = "objects without spec are accepted, although it requires " + strings.Join(needed, ", ") +
			" and has rules: add required: [spec] at the root"
	}
	isTested := func(r *rule) bool { return r.expr.accepted() && tests(r.expr, name) }
	if message == "" || slices.ContainsFunc(w.unit.rules, isTested) { // its absence has a meaning
		return ""
	}
	return message
}

// If a field has no default or an empty one, defaultsOf returns nil.
func defaultsOf(s *apiextensions.JSONSchemaProps) map[string]any {
	values := map[string]any{}
	for name, p := range s.Properties {
		if p.Default == nil || slices.Contains([]string{`""`, "0", "false", "null", "{}", "[]"}, preview.JSON(*p.Default, maxShown)) {
			return nil
		}
		values[name] = *p.Default
	}
	return values
}
