package repl

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/access"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// A location is the path at which expressions are evaluated.
type location struct {
	compiler *expr.Compiler // nil if the schema is not visible to rules
	help     *assist.Context
	root     *types.Decl
	steps    []engine.Step
	// self and old are the values that expressions see. has is set if self has a value, and at a bare location.
	self, old any
	has       bool
}

// newLocation returns the location at steps. seen holds the objects as rules see them, or is nil.
func newLocation(c *crd, version string, steps []engine.Step, seen *engine.Prepared) (*location, error) {
	var obj map[string]any
	if seen != nil {
		obj = seen.Self
	}
	root, err := c.engine.At(version, "")
	if err != nil {
		return nil, err
	}
	steps = concrete(obj, steps)
	help, err := assist.NewContext(c.engine, c.schema(version), version, engine.FormatPath(steps))
	if err != nil {
		return nil, err
	}
	p := &location{help: help, root: root.Decl, steps: steps}
	if p.decl().Kind != types.Hidden {
		if p.compiler, err = access.Compiler(help.Node); err != nil {
			return nil, err
		}
	}
	if obj != nil {
		p.self, p.old, p.has = seen.Values(steps)
		p.has = p.has && p.self != nil
	}
	help.Self, help.Old = p.self, p.old
	return p, nil
}

// concrete replaces each [*] by the first item or the smallest key in obj, if there is one.
func concrete(obj map[string]any, steps []engine.Step) []engine.Step {
	out := slices.Clone(steps)
	for i := range out {
		if !out[i].Any || obj == nil {
			continue
		}
		switch v, _ := valuediff.At(obj, out[:i]...); v := v.(type) {
		case []any:
			if len(v) > 0 {
				out[i] = engine.Step{Item: true}
			}
		case map[string]any:
			if len(v) > 0 {
				out[i] = engine.Step{Name: slices.Min(slices.Collect(maps.Keys(v)))}
			}
		}
	}
	return out
}

func declBelow(d *types.Decl, step engine.Step) *types.Decl {
	if !step.Item && !step.Any {
		if f := d.Fields[step.Name]; f != nil {
			return f.Decl
		}
	}
	if named := !step.Item && !step.Any; step.Item && d.Kind == types.Map || named && d.Kind == types.List {
		return nil
	}
	return d.Elem
}

func declAt(d *types.Decl, steps []engine.Step) *types.Decl {
	for _, step := range steps {
		if d = declBelow(d, step); d == nil {
			return nil
		}
	}
	return d
}

// pattern returns the path in the schema, with every item and map key as [*].
func (p *location) pattern() string { return engine.FormatPath(p.patternSteps()) }

func (p *location) patternSteps() []engine.Step {
	steps := slices.Clone(p.steps)
	d := p.root
	for i, step := range steps {
		if d.Fields[step.Name] == nil || step.Item || step.Any {
			steps[i] = engine.Step{Any: true}
		}
		d = declBelow(d, step)
	}
	return steps
}

// resolve parses a path in the syntax of :cd: relative to p, absolute with a leading slash, or with ".." for the
// parent.
func (p *location) resolve(arg string) ([]engine.Step, error) {
	steps := slices.Clone(p.steps)
	rest := strings.TrimSpace(arg)
	if after, ok := strings.CutPrefix(rest, "/"); ok {
		steps, rest = nil, after
	}
	for rest == ".." || strings.HasPrefix(rest, "../") {
		if len(steps) == 0 {
			return nil, fmt.Errorf("path %q: there is nothing above the root", arg)
		}
		steps = steps[:len(steps)-1]
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, ".."), "/")
	}
	if rest == "." {
		rest = ""
	}
	if len(steps) == len(p.steps) && p.decl().Fields["self"] == nil {
		if after, ok := strings.CutPrefix(rest, "self"); ok && (after == "" || after[0] == '.' || after[0] == '[') {
			rest = after
		}
	}
	more, err := engine.ParsePath(rest)
	return append(steps, more...), err
}

func (p *location) path() string { return engine.FormatPath(p.steps) }

func (p *location) decl() *types.Decl { return p.help.Node.Decl }

func (p *location) suggestion(steps []engine.Step) string {
	d := p.root
	for _, step := range steps {
		switch next := declBelow(d, step); {
		case next != nil:
			d = next
		case d.Kind == types.List:
			return ": want an element, such as [0] or [*]"
		case strings.Contains(step.Name, "/"):
			return ": write a dot between fields"
		default:
			return cmp.Or(p.fromRoot(steps), spell.SuggestOrList(step.Name, d.FieldNames()))
		}
	}
	return ""
}

// fromRoot is the suggestion for a path below p that exists below the root instead, or "".
func (p *location) fromRoot(steps []engine.Step) string {
	at := len(p.steps)
	if at == 0 || len(steps) <= at || !slices.Equal(steps[:at], p.steps) {
		return ""
	}
	if declAt(p.root, steps[at:]) == nil {
		return ""
	}
	return "; did you mean /" + engine.FormatPath(steps[at:]) + "?"
}

// How it works: without a CRD, the session's location is nil, and commands that need a path in the
// schema fail. Expressions are then compiled at a bare location, where self is not declared.

// ErrNoCRD is returned for a command or an expression that needs a CRD if none is loaded.
var ErrNoCRD = errors.New("no CRD is loaded: run :load crd FILE")

// here returns the location at which expressions are compiled.
func (s *Session) here() *location {
	if s.state.crd != nil {
		return s.state.location
	}
	kube := s.state.kube
	if s.bare[kube] == nil {
		help, err := assist.NewBareContext(s.config(kube))
		if err != nil {
			panic(err) // the version was checked
		}
		compiler, err := access.Compiler(help.Node)
		if err != nil {
			panic(err)
		}
		s.bare[kube] = &location{compiler: compiler, help: help, root: help.Node.Decl, has: true}
	}
	return s.bare[kube]
}

func (s *Session) withoutCRD(err error) error {
	var bad *engine.CompileError
	if s.state.crd != nil || !errors.As(err, &bad) {
		return err
	}
	undeclared := func(name string) bool { return strings.Contains(bad.Detail, "undeclared reference to '"+name+"'") }
	if undeclared(types.Self) || undeclared(types.OldSelf) {
		return ErrNoCRD
	}
	return err
}
