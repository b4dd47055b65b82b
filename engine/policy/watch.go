package policy

import (
	"context"
	"errors"
	"fmt"
	"sync"

	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/eval"
)

// An Expression identifies a matchCondition, variable, or validation of a policy.
type Expression struct {
	Policy string
	// Path is the field, such as "spec.validations[0].expression". Part is "validation",
	// "matchCondition", or "variable", and Index is the index in the list.
	Path  string
	Part  string
	Index int
	// Name is the name of a matchCondition or variable.
	Name   string
	Source string
}

// An ExpressionObserver observes the evaluations of an expression. Its methods are not called
// concurrently for the same Watch.
type ExpressionObserver interface {
	// Probes is called once if the expression compiles.
	eval.Prober
	// Ran is called after each evaluation. value is nil if the evaluation fails or if the value is no
	// bool.
	Ran(value *bool, err error)
}

// A Watch evaluates the policies of a Set for observers. It is safe for concurrent use.
type Watch struct {
	mu       sync.Mutex
	programs map[*compiledPolicy]*program
}

// Watch returns a Watch for the policies of the set. observer is called for each expression, in the
// order of the policies, and can return nil. The error is an internal error.
func (s *Set) Watch(observer func(Expression) ExpressionObserver) (w *Watch, err error) {
	at := ""
	defer func() {
		if p := recover(); p != nil {
			w, err = nil, internal(at, p)
		}
	}()
	w = &Watch{programs: map[*compiledPolicy]*program{}}
	for _, p := range s.policies {
		at = p.name
		compiled, c, err := compilePolicy(s.settings, p.document, func(string, string, int) {}, true)
		if err != nil {
			return nil, err
		}
		watcher := &expressionWatcher{policy: p.name, program: compiled, planner: c.planner, perCall: s.settings.perCall, observer: observer}
		watcher.list("matchCondition", "spec.matchConditions", compiled.conditions)
		watcher.list("variable", "spec.variables", compiled.variables)
		watcher.list("validation", "spec.validations", compiled.validations)
		w.programs[p] = compiled
	}
	return w, nil
}

// An expressionWatcher adds observers to the expressions of a program.
type expressionWatcher struct {
	policy   string
	program  *program
	planner  *eval.Planner
	perCall  int64
	observer func(Expression) ExpressionObserver
}

func (w *expressionWatcher) list(part, path string, list []*expression) {
	for i, x := range list {
		x.observer = w.observer(Expression{Policy: w.policy, Path: fmt.Sprintf("%s[%d].expression", path, i), Part: part, Index: i, Name: x.name, Source: x.source})
		if x.observer == nil || x.checked == nil {
			continue
		}
		probed, err := w.planner.PlanProbed(x.checked, w.program.roots, w.perCall, x.observer.Probes(x.checked))
		if err == nil { // otherwise, the conditions of the expression are not observed
			x.program = probed
		}
	}
}

// Replay evaluates the policies in a result again. set is the watched Set, or one that WithParams
// derives from it, and res is its result for req. The error is the context's or an internal error.
func (w *Watch) Replay(ctx context.Context, set *Set, req Request, res *Result) (err error) {
	at := ""
	defer func() {
		if p := recover(); p != nil {
			err = internal(at, p)
		}
	}()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range res.Evaluations {
		e := &res.Evaluations[i]
		program := w.programs[e.of]
		if program == nil {
			continue
		}
		at = e.Policy
		s := situation{set: set, req: &req}
		r := newRun(program)
		r.start(ctx, maxWork)
		r.authority.decide = set.authorize
		r.validate(&s, e.of, s.to(e.to), e.params)
		switch {
		case r.bug != nil:
			return internal(e.Policy, r.bug)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
	return nil
}

var errUnknown = errors.New("the value is not known")

func observe(observer ExpressionObserver, out eval.Outcome) {
	switch {
	case out.Err != nil:
		observer.Ran(nil, out.Err)
		return
	case celtypes.IsUnknown(out.Value):
		observer.Ran(nil, errUnknown)
		return
	}
	if value, ok := out.Value.(celtypes.Bool); ok {
		truth := bool(value)
		observer.Ran(&truth, nil)
		return
	}
	observer.Ran(nil, nil)
}
