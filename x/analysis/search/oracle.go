package search

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/trace/record"
)

// All that is asked of the engine is asked here.

// oracle asks the engine what it makes of writes, and counts.
type oracle struct {
	ctx    context.Context
	engine *engine.Engine
	other  *engine.Engine // nil where there is none
	asked  int
	limit  int
	judged bool
	work   *work.Meter
	root   node
	// weight is what large objects cost beside being asked about.
	weight int
	// lists is the length of the longest list that was asked about.
	lists int
	texts *texts
	// evaluated counts parts of rules that were evaluated.
	evaluated int
}

// perWrite is how many parts of rules are evaluated at the price of one write.
const perWrite = 16

// perWeight is how many values an object may have at the price of one write.
const perWeight = 500

// count is how many values there are in one.
func count(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			n += count(below)
		}
	case []any:
		for _, below := range v {
			n += count(below)
		}
	case string:
		return 1 + len(v)/256
	}
	return n + 1
}

// longest is the length of the longest list in a value.
func longest(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			n = max(n, longest(below))
		}
	case []any:
		n = len(v)
		for _, below := range v {
			n = max(n, longest(below))
		}
	}
	return n
}

// The work of a write: in any case, for each value of the object and each property
// of the schema that is looked at, and for the cost of the rules.
const (
	perAsk   = 500
	perVisit = 40

	costPerUnit = 4
)

// visits returns how many values and properties are looked at in a value.
func (n node) visits(v any) (sum int) {
	switch v := v.(type) {
	case map[string]any:
		if n.s != nil {
			sum = len(n.s.Properties) / 4
		}
		for name, below := range v {
			sum += n.property(name).visits(below)
		}
	case []any:
		items := node{}
		if n.s != nil {
			items.s = n.s.Items
		}
		for _, below := range v {
			sum += items.visits(below)
		}
	case string:
		sum = len(v) / 64
	}
	return sum + 1
}

// property returns the schema of a field, without its declaration.
func (n node) property(name string) node {
	if n.s == nil {
		return node{}
	}
	if prop, ok := n.s.Properties[name]; ok {
		return node{s: &prop}
	}
	if n.s.AdditionalProperties != nil {
		return node{s: n.s.AdditionalProperties.Structural}
	}
	return node{}
}

// overBudget: rules stopped because all together cost too much.
func overBudget(cause engine.Cause) bool {
	return cause.Rule == nil && strings.Contains(cause.Detail, "running out of cost budget")
}

// spent is what was done, in writes.
func (j *oracle) spent() int {
	return j.asked + j.weight + j.evaluated/perWrite + j.texts.spent/perText
}

// perText is how many steps in search of a text are the price of one write.
const perText = 6000

// errSpent means that as many writes were asked for as may be.
var errSpent = errors.New("as many objects as may be were tried")

// verdict is what the engine makes of a world.
type verdict struct {
	complaints []complaint
	// ran are the rules that the write ran.
	ran map[engine.RuleRef]int
	// undecided: some rule asks for more work than is done.
	undecided bool
	result    *engine.Result
	byOther   *engine.Result
}

// complaint is why a write is refused or, with old, why there cannot be its old
// object. Those of the other form of the CRD are marked.
type complaint struct {
	old, other bool
	cause      engine.Cause
}

func (v *verdict) accepted() bool { return len(v.complaints) == 0 && !v.undecided }

// refusedByOther: the write is, by the other form of the CRD alone.
func (v *verdict) refusedByOther() bool {
	return !v.undecided && v.byOther != nil && !v.byOther.Allowed &&
		!slices.ContainsFunc(v.complaints, func(c complaint) bool { return c.old || !c.other })
}

// request is the write itself.
func (w *candidate) request() engine.Request {
	req := engine.Request{Object: w.obj, OldObject: w.old, Trace: true}
	if w.op == Status {
		req.Subresource = "status"
	}
	return req
}

// newOracle asks the hunt's forms of the CRD.
func (h *solver) newOracle(limit int) *oracle {
	h.maker.texts.spent = 0
	j := &oracle{ctx: h.ctx, engine: h.engine, texts: h.maker.texts, limit: limit, work: h.work, root: h.root}
	if h.other != nil {
		j.other = h.other.engine
	}
	return j
}

// decide decides the write, and those that lead to its old object, by each form of
// the CRD.
func (j *oracle) decide(w *candidate) (*verdict, error) {
	if j.judged && j.work.Empty() {
		return nil, errSpent
	}
	j.judged = true // the first time in any case: a witness needs its verdict
	v := &verdict{ran: map[engine.RuleRef]int{}}
	var err error
	if v.result, err = j.by(j.engine, w, v); err != nil {
		return nil, err
	}
	if v.result != nil {
		for _, r := range v.result.Rules {
			v.ran[r.RuleRef] += r.Runs
		}
	}
	if j.other != nil {
		mine := len(v.complaints)
		if v.byOther, err = j.by(j.other, w, v); err != nil {
			return nil, err
		}
		for i := range v.complaints[mine:] {
			v.complaints[mine+i].other = true
		}
	}
	return v, nil
}

func (j *oracle) by(e *engine.Engine, w *candidate, v *verdict) (*engine.Result, error) {
	if err := j.stored(e, w, v); err != nil {
		return nil, err
	}
	return j.ask(e, w.request(), v, false)
}

// stored asks for the writes by which the old object comes to be: it is created
// and, where the status has an operation of its own, gets its status.
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
	res, err := j.ask(e, engine.Request{Object: created}, v, true)
	if err != nil || !w.split || !ok || status == nil {
		return err
	}
	if res != nil && equalJSON(res.Object["status"], status) { // its default
		return nil
	}
	_, err = j.ask(e, engine.Request{Object: w.old, OldObject: created, Subresource: "status"}, v, true)
	return err
}

func (j *oracle) ask(e *engine.Engine, req engine.Request, v *verdict, old bool) (*engine.Result, error) {
	if j.spent() >= j.limit {
		return nil, errSpent
	}
	j.asked++
	j.weight += count(req.Object) / perWeight
	j.work.Spend(perAsk + perVisit*j.root.visits(req.Object))
	j.lists = max(j.lists, longest(req.Object))
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
		v.complaints = append(v.complaints, complaint{old: old, cause: cause})
	}
	if !res.Allowed && len(res.Causes) == 0 {
		v.complaints = append(v.complaints, complaint{old: old, cause: engine.Cause{Message: res.Failure.Message}})
	}
	return res, nil
}

// outcome is what a rule gives at one place.
type outcome uint8

const (
	passes outcome = iota
	refuses
	errs
	exceeds
	unclear
)

// unanalysed says why a rule cannot be asked about.
func unanalysed(err error) string {
	var bad *engine.CompileError
	if errors.As(err, &bad) {
		return bad.Summary()
	}
	return err.Error()
}

// program is a rule that can be asked at one place, as a whole and in parts.
type program struct {
	expr  *expr.Expr
	desk  *expr.Compiler
	parts *record.Parts
	sizes map[int64]int // of the parts, by id
	cost  int           // of the last evaluation of the whole rule
}

// compileRule compiles a rule once more, with its parts.
func compileRule(e *engine.Engine, ref engine.RuleRef, optionalOldSelf bool) (*program, error) {
	at, err := e.At(ref.Version, ref.Path)
	if err != nil {
		return nil, err
	}
	desk, err := at.Compiler()
	if err != nil {
		return nil, err
	}
	x, err := desk.Compile(ref.Rule, optionalOldSelf)
	if err != nil {
		return nil, err
	}
	parts, err := record.NewParts(desk, x, optionalOldSelf)
	if err != nil {
		return nil, err
	}
	return &program{expr: x, desk: desk, parts: parts, sizes: map[int64]int{}}, nil
}

// size returns the work of evaluating a part: its expressions and, of a macro, the cost
// of the whole rule, which is about as much. The first time it is larger, because the
// part is then planned.
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

// planned is the work of planning an expression, which is evaluated for 1.
const planned = 20

// cheap is true where the estimate of one evaluation is so far below what it may
// cost that it would have to be quite wrong, which it is by a few units at most.
func (p *program) cheap() bool {
	return p.expr.Estimate().Max < uint64(p.desk.Limit())/10
}

// outcome evaluates the whole rule; old is nil when there is none.
func (p *program) outcome(ctx context.Context, optionalOldSelf bool, self, old any) outcome {
	out := p.desk.Eval(ctx, p.expr, optionalOldSelf, self, old)
	p.cost = int(out.Cost)
	var overwork *eval.OverworkError
	switch {
	case out.Stopped:
		return exceeds
	case errors.As(out.Err, &overwork):
		return unclear
	case out.Err != nil:
		return errs
	case out.False():
		return refuses
	}
	return passes
}
