package repl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/assist"
)

// samples holds names and values of the current session for the examples of :help. Without a CRD, it
// holds those of a typical CRD.
type samples struct {
	session *Session
	// path is the path of a field, relative to the session's path, or "" if there are no fields. field
	// is the expression that reads it, or self.
	path, field string
	decl        *types.Decl
	schema      *schemaNode
	// value is the value that rules see, and raw the value in the object itself, without defaults. Each is
	// nil if there is none.
	value, raw any
	// guard tests that the optional fields on the path are present.
	guard string
}

func newSamples(s *Session) *samples {
	p := &samples{session: s, path: "spec.replicas", field: "self.spec.replicas", decl: &types.Decl{Kind: types.Int}}
	here := s.state.location
	if here == nil {
		return p
	}
	p.path, p.field, p.decl, p.schema, p.value = "", types.Self, here.node.Decl, s.schemaHere(), here.self
	if obj := s.state.object; obj != nil && s.state.visible(obj) != nil {
		p.raw, _ = valueAt(obj.value, here.steps)
	}
	if best := bestField(p.fields()); best != nil {
		best.session = s
		return best
	}
	return p
}

const (
	maxSampleDepth  = 3
	maxSampleFields = 500
)

// fields returns the fields below p up to maxSampleDepth.
func (p *samples) fields() (all []*samples) {
	level := []*samples{p}
	for range maxSampleDepth {
		var next []*samples
		for _, parent := range level {
			for _, child := range parent.children() {
				if len(all) < maxSampleFields {
					all, next = append(all, child), append(next, child)
				}
			}
		}
		level = next
	}
	return all
}

// children returns the fields of p that rules can read. At the root of an object, only the fields that
// the CRD declares are returned, without the status.
func (p *samples) children() (all []*samples) {
	for _, name := range p.decl.FieldNames() {
		f := p.decl.Fields[name]
		if p.decl.Root && slices.Contains([]string{"apiVersion", "kind", "metadata", statusName}, name) || !f.Visible() {
			continue
		}
		step := engine.Step{Name: name}
		child := &samples{
			path: joinPath(p.path, engine.FormatPath([]engine.Step{step})), field: p.field + "." + f.Escaped,
			decl: f.Decl, schema: assist.SchemaBelow(p.schema, step), guard: p.guard,
		}
		if m, ok := p.value.(map[string]any); ok {
			child.value = m[name]
		}
		if m, ok := p.raw.(map[string]any); ok {
			child.raw = m[name]
		}
		if !f.Required {
			child.guard += "!has(" + child.field + ") || "
		}
		all = append(all, child)
	}
	return all
}

func joinPath(parent, step string) string {
	if parent == "" || strings.HasPrefix(step, "[") {
		return parent + step
	}
	return parent + "." + step
}

// sampleKinds lists the kinds of fields from the best example to the worst.
var sampleKinds = []types.Kind{types.Int, types.String, types.Bool, types.Double, types.List, types.Map, types.IntOrString, types.Duration, types.Timestamp, types.Object}

// bestField returns the field that serves best as an example, or nil: one that the object has, of a
// simple type, and near the session's path.
func bestField(all []*samples) *samples {
	if len(all) == 0 {
		return nil
	}
	rank := func(p *samples) int {
		kind := slices.Index(sampleKinds, p.decl.Kind)
		if kind < 0 {
			kind = len(sampleKinds)
		}
		rank := 10*kind + 4*strings.Count(p.guard, "has(") + strings.Count(p.field, ".")
		if p.value == nil {
			rank += 1000
		}
		if p.raw == nil {
			rank += 1000
		}
		return rank
	}
	return slices.MinFunc(all, func(a, b *samples) int { return cmp.Compare(rank(a), rank(b)) })
}

// condition returns a condition on the field.
func (p *samples) condition() string {
	switch p.decl.Kind {
	case types.Int:
		return p.field + " >= 0"
	case types.Double:
		return p.field + " >= 0.0"
	case types.String:
		return p.field + " != ''"
	case types.Bool:
		return p.field + " == true"
	case types.List, types.Map:
		return "size(" + p.field + ") <= 100"
	case types.Object:
		for _, name := range p.decl.FieldNames() {
			if f := p.decl.Fields[name]; f.Visible() {
				return "has(" + p.field + "." + f.Escaped + ")"
			}
		}
	}
	return p.field + " == " + p.field
}

// rule returns a condition that tests first whether optional fields are present.
func (p *samples) rule() string { return p.guard + p.condition() }

// word returns the field if it has a value, so that the expression can be evaluated, and otherwise a
// constant.
func (p *samples) word() string {
	if p.session.state.location != nil && p.value != nil {
		return p.field
	}
	return "'a-b-c'.split('-')"
}

// library returns the name of a function that the session's Kubernetes version has.
func (p *samples) library() string {
	if slices.Contains(functions(p.session), "quantity") {
		return "quantity"
	}
	return "url"
}

// test returns a condition that can be evaluated without an object if the object does not have the
// field.
func (p *samples) test() string {
	if p.session.state.location != nil && p.value != nil {
		return p.condition()
	}
	return "[1, 2, 3].all(x, x > 0)"
}

// text returns a string expression about the field.
func (p *samples) text() string {
	switch p.decl.Kind {
	case types.Int, types.Double, types.Bool, types.String:
		return "'invalid value: ' + string(" + p.field + ")"
	}
	return "'the value is invalid'"
}

// fieldPath returns the path of the field from the current path, or of the current path.
func (p *samples) fieldPath() string { return cmp.Or(p.path, "/") }

// parent returns the first step of the path of the field, or / for the root.
func (p *samples) parent() string {
	steps, err := engine.ParsePath(p.path)
	if err != nil || len(steps) == 0 {
		return "/"
	}
	return engine.FormatPath(steps[:1])
}

// json returns a value for the field: its value in the object, if that is short, or a value of its
// type.
func (p *samples) json() string {
	if p.value != nil {
		if text := formatJSON(p.value); len(text) <= 40 {
			return text
		}
	}
	if values := assist.Enum(p.schema); len(values) > 0 {
		return formatJSON(values[0])
	}
	switch p.decl.Kind {
	case types.Int, types.IntOrString:
		return "3"
	case types.Double:
		return "1.5"
	case types.Bool:
		return "true"
	case types.List:
		return "[]"
	case types.Map, types.Object:
		return "{}"
	case types.Duration:
		return `"90s"`
	}
	return `"example"`
}

// number returns the number of a rule at the current path: the last that was changed, or the first.
func (p *samples) number() int {
	return max(0, min(p.session.state.rule, len(p.session.rulesHere())-1))
}

// numbered returns a line with the number of a rule: %d in format.
func (p *samples) numbered(format string) string { return fmt.Sprintf(format, p.number()) }

// current returns the text of the rule with that number, or a condition if it is long.
func (p *samples) current() string {
	if all := p.session.rulesHere(); len(all) > 0 {
		if text, ok := lex.Join(all[p.number()].Rule); ok && len(text) <= 100 {
			return text
		}
	}
	return p.rule()
}
