package repl

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/yaml/emit"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/trace/record"
)

// An Answer is the result of evaluating an expression.
type Answer struct {
	// Value is the result, or nil if there is none.
	Value *Value
	// Type is the type of the expression in words, such as integer or list of string.
	Type string
	// Estimate is the API server's cost estimate for an evaluation. It can be below Cost, because it counts some
	// operations, such as == of two integers, as 0. Occurrences is how often a rule at this path can run for an object,
	// and Limit is the limit for Total. Cost is the actual cost. All costs are in CEL cost units.
	Estimate    cost.Estimate
	Occurrences uint64
	Limit       uint64
	Cost        uint64
	// Why lists values that explain why the expression is false or failed.
	Why []record.Part
	// Err is set if Value is nil. It wraps a *NoValueError if self, or an oldSelf that the expression uses, has no
	// value.
	Err error
	// Hint describes how to fix Err, or is empty.
	Hint string
	// Status is set if the expression reads a status that rules do not see.
	Status *StatusNote
	// Evaluated is set unless the expression uses self or oldSelf and self has no value.
	Evaluated bool
}

// maxAnswer limits the size of a value, in bytes.
const maxAnswer = 64 << 20

// Eval compiles and evaluates an expression at the session's path. It returns an *engine.CompileError if the expression
// does not compile, ErrNoCRD if it reads self or oldSelf without a CRD, an error that wraps types.ErrHidden if rules
// cannot see the path, and an *engine.InternalError for an internal error. Runtime errors are in the Answer.
func (s *Session) Eval(ctx context.Context, src string) (answer *Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			answer, err = nil, &engine.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()}
		}
	}()
	x, err := s.compile(src, false)
	if err != nil {
		return nil, err
	}
	p, a := s.here(), s.price(x)
	a.Status = s.noteStatus(x, p.steps)
	if needsSelf(x) && !p.has {
		a.Err = s.noSelf()
		return a, nil
	}
	a.Evaluated = true
	out := p.compiler.Eval(ctx, x, false, p.self, p.old)
	if err := internal(out.Err); err != nil {
		return nil, err
	}
	a.Cost, a.Err = out.Cost, out.Err
	switch {
	case out.Value != nil && eval.SizeAtMost(out.Value, maxAnswer):
		a.Value = &Value{out.Value}
	case out.Value != nil:
		a.Err = &eval.OverworkError{Why: fmt.Sprintf("the value would have over %d MiB when written out", maxAnswer>>20)}
	}
	if a.Err != nil && a.Status == nil { // otherwise the note explains it
		a.Hint = assist.Failure(src, a.Err.Error()).Words
	}
	var overwork *eval.OverworkError
	if errors.As(a.Err, &overwork) {
		a.Err = fmt.Errorf("undecided: %w", a.Err)
	}
	if a.Err != nil && x.UsesOldSelf() && p.old == nil {
		a.Err = fmt.Errorf("%w: %w", a.Err, s.noOld())
	}
	if out.Value == celtypes.False || a.Err != nil && ctx.Err() == nil {
		if t, err := s.trace(ctx, x); err == nil {
			a.Why = t.Why()
		}
	}
	return a, nil
}

func internal(err error) error {
	var bug *eval.InternalError
	if !errors.As(err, &bug) {
		return nil
	}
	return &engine.InternalError{Reason: fmt.Sprint(bug.Panic), Stack: bug.Stack}
}

func (s *Session) trace(ctx context.Context, x *expr.Expr) (*record.Trace, error) {
	here := s.here()
	p, err := record.New(here.compiler, x.AST(), x.Source(), false)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, here.self, here.old, record.NewBudget(record.MaxObjectWork))
}

func (s *Session) compile(src string, optionalOldSelf bool) (*expr.Expr, error) {
	p := s.here()
	if p.compiler == nil {
		return nil, fmt.Errorf("%s: %w", phrase.Path(p.path()), types.ErrHidden)
	}
	x, err := p.compiler.Compile(src, optionalOldSelf)
	return x, s.withoutCRD(err)
}

func (s *Session) price(x *expr.Expr) *Answer {
	p := s.helper()
	price := p.Price(x)
	return &Answer{Type: p.TypeOf(x), Estimate: price.Estimate, Occurrences: price.Times, Limit: price.Limit}
}

func needsSelf(x *expr.Expr) bool {
	for _, ref := range x.AST().NativeRep().ReferenceMap() {
		if ref.Name == types.Self || ref.Name == types.OldSelf {
			return true
		}
	}
	return false
}

// A NoValueError reports why self or oldSelf has no value, and a command that can change that.
type NoValueError struct {
	Old             bool
	Reason, Command string
}

func (e *NoValueError) Error() string { return e.Reason + ": " + e.Command }

var (
	errNoObject = &NoValueError{Reason: "no object is loaded", Command: "use :load object FILE"}
	errNoOld    = &NoValueError{Old: true, Reason: "no old object is loaded", Command: "use :load old FILE, or :old copy"}
)

func (s *Session) noSelf() error {
	st := s.state
	switch {
	case st.object == nil:
		return errNoObject
	case st.visible(st.object) == nil:
		return &NoValueError{Reason: "the object is not of version " + st.version, Command: "switch to its version with :use, or load another object"}
	}
	return &NoValueError{Reason: "the object has no value at " + phrase.Path(st.location.path()), Command: "use :set, or :cd to another path"}
}

func (s *Session) noOld() error {
	if s.state.old == nil {
		return errNoOld
	}
	return &NoValueError{Old: true, Reason: "the old object has no value that corresponds to " + phrase.Path(s.state.location.path()), Command: "use :old set, or :cd to another path"}
}

// Total returns the API server's estimate of the rule's cost for an object.
func (a *Answer) Total() uint64 { return cost.Mul(a.Estimate.Max, a.Occurrences) }

func (a *Answer) text(width int) string {
	var b strings.Builder
	switch {
	case a.Value != nil:
		b.WriteString(valueText(a.Value.String(), a.Value.JSON(), width) + whyText(a.Why, width))
	case a.Evaluated:
		b.WriteString(termwidth.Fold("error: "+printable(a.Err.Error())+"\n", width, 2) + hintText(a.Hint, width) + whyText(a.Why, width))
	default:
		b.WriteString(termwidth.Fold("no value: "+printable(a.Err.Error())+"\n", width, 2))
	}
	facts := []string{a.Type}
	if a.Evaluated {
		facts = append(facts, "cost "+phrase.Number(a.Cost))
	}
	b.WriteString(termwidth.Fold("  : "+strings.Join(facts, "; ")+"; "+a.estimateText()+"\n", width, 2))
	return b.String()
}

// estimateText formats the server's estimate, which is not an upper bound of the cost: see Answer.
func (a *Answer) estimateText() string {
	price := assist.Price{Estimate: a.Estimate, Times: a.Occurrences, Total: a.Total(), Limit: a.Limit}
	text := price.Words()
	if a.Evaluated && a.Cost > a.Estimate.Max {
		text += " (the server's estimate, which can be lower than the cost)"
	}
	return text
}

func valueText(line string, native any, width int) string {
	line = printable(line)
	object, isObject := native.(map[string]any)
	if list, ok := native.([]any); ok && len(list) > 0 {
		_, isObject = list[0].(map[string]any)
	} else if len(object) == 0 {
		isObject = false
	}
	if !isObject {
		return line + "\n"
	}
	text, err := emit.YAML(native)
	if err != nil {
		return line + "\n"
	}
	return cutLine(line, width) + "\n" + indent(printable(string(text)))
}

func indent(text string) string {
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// A Value is the value of an expression.
type Value struct{ val ref.Val }

// String formats the value like a CEL literal, with map entries sorted.
func (v *Value) String() string { return format(v.val) }

// JSON returns the value in the form of decoded JSON, as an object would contain it: durations and
// timestamps become strings, bytes become base64, an optional becomes its value or nil, and a uint a uint64.
// Values that JSON cannot represent become strings.
func (v *Value) JSON() any { return expr.Native(v.val) }

// False reports whether the value is the boolean false.
func (v *Value) False() bool { return v.val == celtypes.False }

func format(v ref.Val) string {
	switch v := v.(type) {
	case celtypes.String:
		return strconv.Quote(string(v))
	case celtypes.Bytes:
		return "b" + strconv.Quote(string(v))
	case celtypes.Null:
		return "null"
	case celtypes.Uint:
		return fmt.Sprintf("%du", uint64(v))
	case celtypes.Double:
		text := strconv.FormatFloat(float64(v), 'g', -1, 64)
		if !strings.ContainsAny(text, ".eIN") { // to distinguish it from an int
			text += ".0"
		}
		return text
	case celtypes.Duration:
		return fmt.Sprintf("duration(%q)", v.Duration)
	case celtypes.Timestamp:
		return fmt.Sprintf("timestamp(%q)", v.Time.Format("2006-01-02T15:04:05.999999999Z07:00"))
	case *celtypes.Optional:
		if !v.HasValue() {
			return "optional.none()"
		}
		return "optional.of(" + format(v.GetValue()) + ")"
	case kubecel.Format:
		return fmt.Sprintf("format.named(%q)", v.Name)
	case traits.Mapper:
		var entries []string
		for _, key := range celvalue.Keys(v) {
			entries = append(entries, format(key)+": "+format(expr.Entry(v, key)))
		}
		slices.Sort(entries)
		return "{" + strings.Join(entries, ", ") + "}"
	case traits.Lister:
		var items []string
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			items = append(items, format(it.Next()))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case *celtypes.Type:
		return v.TypeName()
	}
	return fmt.Sprint(v.Value())
}
