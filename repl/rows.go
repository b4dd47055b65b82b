package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"

	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// An Evaluator evaluates an expression over many objects, at the session's path. If the path has a step
// [*], it evaluates the expression for each element. It is safe for concurrent use.
type Evaluator struct {
	// Price holds the type and the estimate of the expression.
	Price Answer

	x       *expr.Expr
	state   *state
	pattern []engine.Step
}

// A Row is the result of an expression for an object, or for an element of a list or map in it.
type Row struct {
	// Path is the path of self if the session's path has a step [*], and empty otherwise.
	Path string
	// Value is nil if Err is set. Err is a *NoValueError if the object is of another version or has no value at the
	// session's path.
	Value *Value
	Err   error
	// Cost is in CEL cost units.
	Cost uint64
}

// maxRowValue limits the size of a value, in bytes.
const maxRowValue = 1 << 20

// maxElements limits the elements of an object for which an expression is evaluated.
const maxElements = 100_000

// Evaluator compiles an expression for use with many objects. It returns an *engine.CompileError if the expression does
// not compile, and ErrNoCRD without a CRD. The session must not change while the result is in use.
func (s *Session) Evaluator(src string) (*Evaluator, error) {
	if s.state.crd == nil {
		return nil, ErrNoCRD
	}
	x, err := s.compile(src, false)
	if err != nil {
		return nil, err
	}
	return &Evaluator{Price: *s.price(x), x: x, state: s.state, pattern: s.state.location.steps}, nil
}

// Rows evaluates the expression for an object. old is its old version, or nil.
func (e *Evaluator) Rows(ctx context.Context, object, old map[string]any) []Row {
	version, err := e.state.crd.engine.VersionOf(object)
	if err == nil && version != e.state.version {
		err = &NoValueError{Reason: "the object is not of version " + e.state.version, Command: "switch to its version with :use"}
	}
	var p *engine.Prepared
	if err == nil {
		p, err = e.state.prepareWrite(object, old)
	}
	if err != nil {
		return []Row{{Err: err}}
	}
	var paths [][]engine.Step
	elements(p.Self, e.pattern, nil, &paths)
	switch at := engine.FormatPath(e.pattern); {
	case len(paths) == 0:
		return []Row{{Err: &NoValueError{Reason: "the object has no value at " + phrase.Path(at), Command: "use :cd to another path"}}}
	case len(paths) > maxElements:
		return []Row{{Err: fmt.Errorf("the object has over %s elements at %s", count(maxElements), at)}}
	}
	rows := make([]Row, 0, len(paths))
	for _, path := range paths {
		rows = append(rows, e.row(ctx, p, path))
	}
	return rows
}

// prepareWrite returns the write of an object as rules see it. If only a webhook could convert the old object, the
// write is a create.
func (st *state) prepareWrite(object, old map[string]any) (*engine.Prepared, error) {
	req, err := st.sent(context.Background(), st.write(object, old))
	if err != nil {
		return nil, err
	}
	p, err := st.crd.prepare(req)
	if old != nil && errors.As(err, new(*engine.NotCheckedError)) {
		return st.prepareWrite(object, nil)
	}
	return p, err
}

func (e *Evaluator) row(ctx context.Context, p *engine.Prepared, path []engine.Step) Row {
	self, old, _ := p.Values(path)
	out := e.x.Eval(ctx, self, old)
	row := Row{Cost: out.Cost, Err: out.Err}
	if slices.ContainsFunc(e.pattern, func(step engine.Step) bool { return step.Any }) {
		row.Path = engine.FormatPath(path)
	}
	var overwork *eval.OverworkError
	switch {
	case out.Value != nil && eval.SizeAtMost(out.Value, maxRowValue):
		row.Value = &Value{out.Value}
	case out.Value != nil:
		row.Err = fmt.Errorf("the value would have over %d MiB when written out", maxRowValue>>20)
	case e.x.UsesOldSelf() && old == nil:
		row.Err = errors.New("no old object: give one with --old PATH")
	case errors.As(out.Err, &overwork):
		row.Err = fmt.Errorf("undecided: %w", out.Err)
	default:
		if bug := internal(out.Err); bug != nil {
			row.Err = bug
		}
	}
	return row
}

// elements appends the paths in v that match pattern and have a value. It stops when there are more than maxElements
// paths.
func elements(v any, pattern, at []engine.Step, out *[][]engine.Step) {
	if len(*out) > maxElements {
		return
	}
	if len(pattern) == 0 {
		if v != nil {
			*out = append(*out, slices.Clone(at))
		}
		return
	}
	if step := pattern[0]; !step.Any {
		child, _ := valuediff.At(v, step)
		elements(child, pattern[1:], append(at, step), out)
		return
	}
	for step, child := range valuediff.Children(v) {
		elements(child, pattern[1:], append(at, step), out)
	}
}

// True reports whether the value is the boolean true.
func (v *Value) True() bool { return v.val == celtypes.True }
