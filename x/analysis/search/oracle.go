package search

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/access"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/x/trace/record"
)

// All validation by the engine goes through this file.

type oracle struct {
	*solver
	writes    int
	limit     int
	validated bool
	// weight is the additional cost of large objects, in writes.
	weight    int
	lists     int
	evaluated int
	created   map[*engine.Engine]creation // the latest accepted old object
	strict    bool                        // a write is of no use if its old object is rejected
}

type creation struct {
	obj map[string]any
	res *engine.Result
}

// perWrite is the number of evaluations of parts of rules that count as one write.
const perWrite = 16

// perWeight is the number of values in an object that count as one write.
const perWeight = 500

// perAsk and perVisit are the work of a write and of a visited value or property. costPerUnit is the rule cost per
// unit of work.
const (
	perAsk   = 500
	perVisit = 40

	costPerUnit = 4
)

// spent returns the work done so far, in writes.
func (j *oracle) spent() int {
	return j.writes + j.weight + j.evaluated/perWrite + j.maker.texts.spent/perText
}

// perText is the number of steps of a string search that count as one write.
const perText = 6000

// errSpent ends a search.
var errSpent = errors.New("the limit of objects to try was reached")

type verdict struct {
	complaints []complaint
	// undecided is set if a rule exceeded the work limit.
	undecided bool
	result    *engine.Result
	byOther   *engine.Result
	other     bool // the other form is validating
}

// A complaint is a reason to reject the write or, if old is set, to reject the old object. other is
// set for complaints of the other form of the CRD.
type complaint struct {
	old, other bool
	cause      engine.Cause
}

func (v *verdict) accepted() bool { return len(v.complaints) == 0 && !v.undecided }

// runs reports whether a rule ran on the object. It needs a traced validation.
func (v *verdict) runs(ref engine.RuleRef) bool {
	return slices.ContainsFunc(v.result.Rules, func(r engine.RuleResult) bool { return r.RuleRef == ref && r.Runs > 0 })
}

func (v *verdict) rejectedByOther() bool {
	return !v.undecided && v.byOther != nil && !v.byOther.Allowed &&
		!slices.ContainsFunc(v.complaints, func(c complaint) bool { return c.old || !c.other })
}

func (w *candidate) request() engine.Request {
	return (&Witness{Operation: w.op, Object: w.obj, Old: w.old}).Request()
}

// newOracle also resets the count of string search steps.
func (h *solver) newOracle(limit int) *oracle {
	h.maker.texts.spent = 0
	return &oracle{solver: h, limit: limit, created: map[*engine.Engine]creation{}}
}

// decide validates the write, and the writes that create its old object, with each form of the CRD.
func (j *oracle) decide(w *candidate) (*verdict, error) {
	if j.validated && j.work.Empty() {
		return nil, errSpent
	}
	j.validated = true // the first write is always validated: a witness needs its verdict
	v := &verdict{}
	var err error
	if v.result, err = j.by(j.engine, w, v); err != nil {
		return nil, err
	}
	if j.other != nil {
		v.other = true
		if v.byOther, err = j.by(j.other.engine, w, v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (j *oracle) by(e *engine.Engine, w *candidate, v *verdict) (*engine.Result, error) {
	before := len(v.complaints)
	if err := j.stored(e, w, v); err != nil || j.strict && len(v.complaints) > before {
		return nil, err
	}
	req := w.request()
	req.Trace = j.want == Accepted // Accepted requires that the rule ran
	return j.validate(e, req, v, false)
}

// stored validates the writes that create the old object.
func (j *oracle) stored(e *engine.Engine, w *candidate, v *verdict) error {
	if w.old == nil {
		return nil
	}
	created := w.old
	status, ok := w.old["status"]
	if w.split && ok {
		created = maps.Clone(w.old)
		delete(created, "status")
	}
	res, err := j.create(e, created, v)
	if err != nil || !w.split || !ok || status == nil {
		return err
	}
	if res != nil && equalJSON(res.Object["status"], status) { // the create already set this status, as a default
		return nil
	}
	_, err = j.validate(e, engine.Request{Object: w.old, OldObject: created, Subresource: "status"}, v, true)
	return err
}

// create validates the write that creates an old object. It keeps the latest accepted object, because most writes of
// a search have the same old object.
func (j *oracle) create(e *engine.Engine, obj map[string]any, v *verdict) (*engine.Result, error) {
	if last, ok := j.created[e]; ok && equalJSON(last.obj, obj) {
		j.writes++
		return last.res, nil
	}
	before := len(v.complaints)
	res, err := j.validate(e, engine.Request{Object: obj}, v, true)
	if res != nil && len(v.complaints) == before && !v.undecided {
		j.created[e] = creation{copied(obj).(map[string]any), res}
	}
	return res, err
}

func (j *oracle) validate(e *engine.Engine, req engine.Request, v *verdict, old bool) (*engine.Result, error) {
	if j.spent() >= j.limit {
		return nil, errSpent
	}
	j.writes++
	var n volume
	n.add(req.Object, j.root.d)
	j.weight += n.values / perWeight
	j.work.Spend(perAsk + perVisit*(n.visits+2*j.largeDefaults))
	j.lists = max(j.lists, n.longest)
	res, err := e.Validate(j.ctx, req)
	if res != nil {
		j.work.Spend(int(res.Cost)/costPerUnit + 4*len(res.Rules))
	}
	var overwork *engine.WorkLimitError
	if errors.As(err, &overwork) {
		v.undecided = true
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v.undecided = v.undecided || res.Undecided != nil
	for _, cause := range res.Causes {
		v.complaints = append(v.complaints, complaint{old, v.other, cause})
	}
	if !res.Allowed && len(res.Causes) == 0 {
		v.complaints = append(v.complaints, complaint{old, v.other, engine.Cause{Message: res.Failure.Message}})
	}
	return res, nil
}

func unanalyzed(err error) string {
	var bad *engine.CompileError
	if errors.As(err, &bad) {
		return bad.Summary()
	}
	return err.Error()
}

type program struct {
	expr     *expr.Expr
	compiler *expr.Compiler
	parts    *record.Parts
	sizes    map[int64]int // of the parts, by id
	cost     int           // of the last evaluation of the whole rule
}

func (s *Search) compile(ref engine.RuleRef) (*program, error) {
	compiler := s.compilers[ref.Path]
	if compiler == nil {
		at, err := s.engine.At(ref.Version, ref.Path)
		if err != nil {
			return nil, err
		}
		if compiler, err = access.Compiler(at); err != nil {
			return nil, err
		}
		s.compilers[ref.Path] = compiler
	}
	x, err := compiler.Compile(ref.Rule, ref.OptionalOldSelf)
	if err != nil {
		return nil, err
	}
	parts, err := record.NewParts(compiler, x, ref.OptionalOldSelf)
	if err != nil {
		return nil, err
	}
	return &program{expr: x, compiler: compiler, parts: parts, sizes: map[int64]int{}}, nil
}

// size returns the work of evaluating a part. The first call for a part returns the work of planning it instead.
func (p *program) size(e ast.Expr) int {
	if n, ok := p.sizes[e.ID()]; ok {
		if e.Kind() == ast.ComprehensionKind {
			n += p.cost / costPerUnit
		}
		return n
	}
	n := 0
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(ast.Expr) { n++ }))
	p.sizes[e.ID()] = n
	return n * planned
}

// planned is the work of planning an expression. Evaluating it counts as 1.
const planned = 20

// cheap reports whether the cost estimate is so far below the limit that exceeding it is very unlikely.
func (p *program) cheap() bool {
	return p.expr.Estimate().Max < uint64(p.compiler.Limit())/10
}

// outcome evaluates the whole rule. old is nil if no old value exists. The result is "" if the evaluation exceeds the
// work limit.
func (p *program) outcome(ctx context.Context, optionalOldSelf bool, self, old any) Want {
	out := p.compiler.Eval(ctx, p.expr, optionalOldSelf, self, old)
	p.cost = int(out.Cost)
	var overwork *eval.OverworkError
	switch {
	case out.Stopped:
		return OverBudget
	case errors.As(out.Err, &overwork):
		return ""
	case out.Err != nil:
		return Errs
	case out.False():
		return Rejected
	}
	return Accepted
}
