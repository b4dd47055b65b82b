package policy

import (
	"cmp"
	"context"
	"errors"
	"sync"

	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/eval"
)

// The parts of policies that have expressions.
const (
	PartVariable   = "variable"
	PartCondition  = "matchCondition"
	PartValidation = "validation"
	PartMessage    = "messageExpression"
	PartAnnotation = "auditAnnotation"
	PartMutation   = "mutation"
)

// An Expression is an expression of a policy or webhook configuration.
type Expression struct {
	Policy string
	// Path is the field, such as "spec.validations[0].expression". Part is one of the constants, such as PartValidation, and
	// Index is the index in the list.
	Path  string
	Part  string
	Index int
	// Name is the name of a matchCondition or variable, or the key of an auditAnnotation.
	Name   string
	Source string
}

// Expressions returns the expressions of a policy or webhook configuration, as far as its fields can be decoded.
func Expressions(document map[string]any) (list []Expression) {
	h, _ := headerOf(document)
	b, _ := bodyOf(document)
	for _, s := range b.sources {
		list = append(list, s.expression(h.name))
	}
	return list
}

func (s *source) expression(policy string) Expression {
	return Expression{Policy: policy, Path: s.path, Part: partNames[s.part], Index: s.index, Name: s.name, Source: s.text}
}

// An ExpressionObserver observes the evaluations of an expression. Its methods are not called
// concurrently for the same Watch.
type ExpressionObserver interface {
	// Probes is called once if the expression compiles.
	eval.Prober
	// Ran is called after each evaluation. value is nil if the evaluation fails or if the value is not a
	// bool.
	Ran(value *bool, err error)
}

// A Watch evaluates the policies of a Set for observers. It is safe for concurrent use.
type Watch struct {
	mu       sync.Mutex
	programs map[*compiledPolicy]*program
}

// Watch returns a Watch for the ValidatingAdmissionPolicies of the set. observer is called for each
// matchCondition, variable, and validation, in the order of the policies, and can return nil. The error is
// an internal error.
func (s *Set) Watch(observer func(Expression) ExpressionObserver) (w *Watch, err error) {
	at := ""
	defer recovered(&at, &w, &err)
	w = &Watch{programs: map[*compiledPolicy]*program{}}
	for _, p := range s.policies {
		at = p.name
		explained, err := p.explained()
		if err != nil {
			return nil, err
		}
		w.programs[p] = explained.watched(p.name, observer)
	}
	return w, nil
}

func (p *program) watched(policy string, observer func(Expression) ExpressionObserver) *program {
	p.compiler.Lock()
	defer p.compiler.Unlock()
	out := *p
	for _, of := range []part{partCondition, partVariable, partValidation} {
		out.parts[of] = make([]*expression, len(p.parts[of]))
		for i, given := range p.parts[of] {
			x := *given
			out.parts[of][i] = &x
			x.observer = observer(x.expression(policy))
			if x.observer == nil || x.checked == nil {
				continue
			}
			probed, err := p.compiler.planner.PlanProbed(x.checked, p.roots, p.compiler.settings.Limits.PerCall, x.observer.Probes(x.checked))
			if err == nil { // otherwise, the conditions of the expression are not observed
				x.program = probed
			}
		}
	}
	return &out
}

// Replay evaluates the policies in a result again. set is the watched Set, or one that WithParams
// derives from it, and res is its result for req. The error is the context's or an internal error.
func (w *Watch) Replay(ctx context.Context, set *Set, req Request, res *Result) (err error) {
	at := ""
	defer recovered(&at, &err, &err)
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range res.Evaluations {
		e := &res.Evaluations[i]
		program := w.programs[e.of]
		if program == nil {
			continue
		}
		at = e.Policy
		s := situation{ctx: ctx, set: set, req: &req, workLeft: maxWork}
		r := newRun(program)
		r.validate(&s, e.of, s.to(e.to), &Evaluation{params: e.params}, nil)
		if _, err := s.end(r, e.Policy); err != nil {
			return err
		}
	}
	return nil
}

var errUnknown = errors.New("the value is not known")

func observe(observer ExpressionObserver, out eval.Outcome) {
	var value *bool
	err := out.Err
	switch v := out.Value.(type) {
	case celtypes.Bool:
		value = (*bool)(&v)
	case *celtypes.Unknown:
		err = cmp.Or(err, errUnknown)
	}
	observer.Ran(value, err)
}
