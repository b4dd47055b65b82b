// Package trace tells why an object was refused: of each cause that a rule made,
// the values in the rule that decided.
//
//	res, err := e.Validate(ctx, req)
//	whys, err := trace.NewExplainer(e).Why(ctx, res.Prepared(), res.Causes)
//
// Objects are decided without it: it is far slower than what evaluates rules.
package trace

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/eval"
	"github.com/celadon-cel/celadon/internal/expr"
	"github.com/celadon-cel/celadon/internal/tracing"
	"github.com/celadon-cel/celadon/types"
)

// Value is a part of a rule and what it was, in the form of decoded JSON.
type Value struct {
	Expr  string
	Value any
}

// Explainer tells why the rules of one CRD refused an object. It is safe for
// concurrent use and remembers what it compiled.
type Explainer struct {
	engine *engine.Engine

	mu       sync.Mutex
	desks    map[string]*expr.Desk // by version and path
	programs map[engine.RuleRef]*tracing.Program
}

// NewExplainer makes an explainer.
func NewExplainer(e *engine.Engine) *Explainer {
	return &Explainer{engine: e, desks: map[string]*expr.Desk{}, programs: map[engine.RuleRef]*tracing.Program{}}
}

// Why explains the causes of a refusal, whose result says what its rules saw: for
// each the values that decided, in the order of its rule; nil where no rule made
// the cause, or where it cannot be told, as where that is too much work. The
// error is of bugs of ours, each an *engine.InternalError: all other causes are
// explained beside it. It never changes what was decided.
func (x *Explainer) Why(ctx context.Context, seen *engine.Prepared, causes []engine.Cause) (whys [][]Value, err error) {
	whys = make([][]Value, len(causes))
	if seen == nil {
		return whys, nil
	}
	var bugs []error
	for i, cause := range causes {
		if cause.Rule == nil {
			continue
		}
		why, err := x.why(ctx, seen, cause)
		if err != nil {
			bugs = append(bugs, err)
		}
		whys[i] = why
	}
	return whys, errors.Join(bugs...)
}

// why explains one cause; the error is a bug of ours, and names the rule.
func (x *Explainer) why(ctx context.Context, seen *engine.Prepared, cause engine.Cause) (why []Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			why, err = nil, &engine.InternalError{Rule: cause.Rule, Reason: fmt.Sprintf("explaining: %v", p), Stack: debug.Stack()}
		}
	}()
	t, err := x.trace(ctx, seen, cause)
	var broken *eval.InternalError
	if errors.As(err, &broken) {
		return nil, &engine.InternalError{Rule: cause.Rule, Reason: fmt.Sprintf("explaining: %v", broken.Panic), Stack: broken.Stack}
	}
	if err != nil {
		return nil, nil // it is too much, or nowhere to be found
	}
	return values(t.Why()), nil
}

// values leaves the steps between out.
func values(parts []tracing.Part) (out []Value) {
	for _, p := range parts {
		if p.Step {
			continue
		}
		text := p.Text
		if p.At != "" {
			text += " (" + p.At + ")"
		}
		out = append(out, Value{text, expr.Native(p.Value)})
	}
	return out
}

var errNotFound = errors.New("the cause's place is not found in the object")

// trace evaluates a cause's rule once more, where it failed.
func (x *Explainer) trace(ctx context.Context, seen *engine.Prepared, cause engine.Cause) (*tracing.Trace, error) {
	steps, err := placeOf(cause)
	if err != nil {
		return nil, err
	}
	at, before, ok := seen.Values(steps)
	if !ok {
		return nil, errNotFound
	}
	p, err := x.program(*cause.Rule)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, at, before)
}

// placeOf is the rule's path with the indexes and keys of the cause's field.
func placeOf(cause engine.Cause) ([]engine.Step, error) {
	steps, err := engine.ParsePath(cause.Rule.Path)
	if err != nil || !slices.ContainsFunc(steps, func(s engine.Step) bool { return s.Any }) {
		return steps, err
	}
	field, err := engine.ParsePath(cause.Field)
	if err != nil { // a rule's fieldPath can end it as ".[key]"
		field, err = engine.ParsePath(strings.ReplaceAll(cause.Field, ".[", "["))
	}
	if err != nil || len(field) < len(steps) {
		return nil, errNotFound
	}
	for i := range steps {
		if steps[i].Any {
			steps[i] = field[i]
		}
	}
	return steps, nil
}

func (x *Explainer) program(rule engine.RuleRef) (*tracing.Program, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p, ok := x.programs[rule]; ok {
		return p, nil
	}
	d, err := x.desk(rule)
	if err != nil {
		return nil, err
	}
	env, err := d.Env(rule.OptionalOldSelf)
	if err != nil {
		return nil, err
	}
	checked, err := types.Check(env, rule.Rule)
	if err != nil {
		return nil, err
	}
	p, err := tracing.New(d, checked, rule.Rule, rule.OptionalOldSelf)
	if err == nil {
		x.programs[rule] = p
	}
	return p, err
}

func (x *Explainer) desk(rule engine.RuleRef) (*expr.Desk, error) {
	key := rule.Version + " " + rule.Path
	if d, ok := x.desks[key]; ok {
		return d, nil
	}
	node, err := x.engine.At(rule.Version, rule.Path)
	if err != nil {
		return nil, err
	}
	d, err := node.Desk()
	if err == nil {
		x.desks[key] = d
	}
	return d, err
}
