package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	"sigs.k8s.io/yaml"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/newest"
	"github.com/celadon-cel/celadon/types"
)

func declare(t testing.TB, text string) *types.Decl {
	t.Helper()
	return declareFor(t, text, newest.Minor)
}

// decode decodes a value in YAML, with the number types that the API server uses.
func decode(t testing.TB, text string) any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := utiljson.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func environment(t testing.TB, d *types.Decl, optionalOldSelf bool) *cel.Env {
	t.Helper()
	env, err := celenv.StoredRules(types.Version{Minor: newest.Minor}).For(d, optionalOldSelf)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

type subject struct {
	env  *cel.Env
	ast  *cel.Ast
	decl *types.Decl
	ours *Program
}

const noLimit = 1 << 40

func newSubject(env *cel.Env, d *types.Decl, src string) (*subject, error) {
	ast, err := celenv.Check(env, src)
	if err != nil {
		return nil, err
	}
	ours, err := New(env, ast, d, noLimit)
	if err != nil {
		return nil, rejectedError{err}
	}
	return &subject{env, ast, d, ours}, nil
}

// rejectedError is the error of a valid expression that Celadon's planner rejects.
type rejectedError struct{ error }

// compiles returns a subject, or nil if src is not a valid expression. The test fails if only
// Celadon's planner rejects src.
func compiles(t *testing.T, env *cel.Env, d *types.Decl, src string) *subject {
	t.Helper()
	s, err := newSubject(env, d, src)
	var rejected rejectedError
	if !errors.As(err, &rejected) {
		return s
	}
	ast, _ := env.Compile(src)
	if _, err := celProgram(env, ast, d, noLimit); err == nil {
		t.Errorf("%s: cel-go plans it, and we: %v", src, rejected)
	}
	return nil
}

func (s *subject) difference(bind func() *Activation, limit int64) (diff string, want Outcome) {
	theirs, err := celProgram(s.env, s.ast, s.decl, limit)
	if err != nil {
		return "cel-go: " + err.Error(), Outcome{}
	}
	return s.against(theirs, bind, limit)
}

type reference struct{ cel.Program }

func celProgram(env *cel.Env, ast *cel.Ast, d *types.Decl, limit int64) (*reference, error) {
	prog, err := env.Program(ast,
		cel.CostLimit(uint64(limit)),
		cel.CostTracking(celcost.Estimator(d)),
		cel.InterruptCheckFrequency(celconfig.CheckFrequency),
	)
	if err != nil {
		return nil, err
	}
	return &reference{prog}, nil
}

func (p *reference) Eval(ctx context.Context, a *Activation) Outcome {
	v, details, err := p.ContextEval(ctx, a)
	out := Outcome{Value: v, Err: err}
	if details != nil && details.ActualCost() != nil {
		out.Cost = *details.ActualCost()
	}
	if err != nil {
		out.Value = nil
		out.Stopped = isStop(err)
	}
	return out
}

func isStop(err error) bool {
	var cancelled interpreter.EvalCancelledError
	return errors.As(err, &cancelled) && cancelled.Cause == interpreter.CostLimitExceeded
}

func (s *subject) against(theirs *reference, bind func() *Activation, limit int64) (diff string, want Outcome) {
	want = theirs.Eval(context.Background(), bind())
	ours := *s.ours
	ours.limit = uint64(limit)
	got := ours.Eval(context.Background(), bind())
	if g, w := show(got), show(want); g != w {
		return fmt.Sprintf("got  %s\nwant %s", g, w), want
	}
	return "", want
}

func show(o Outcome) string {
	text := fmt.Sprintf("cost %d, stopped %v, ", o.Cost, o.Stopped)
	if o.Err != nil {
		return text + "error " + goTypes.Replace(o.Err.Error())
	}
	return text + showValue(o.Value)
}

// goTypes replaces the names of Celadon's Go types in cel-go's errors with upstream's.
var goTypes = strings.NewReplacer(
	"*celvalue.mapValue", "*common.unstructuredMap", "*celvalue.listValue", "*common.unstructuredList", "*celvalue.unknown", "*common.unknownPreserved",
	"*celvalue.setValue", "*common.unstructuredSetList", "*celvalue.mapListValue", "*common.unstructuredMapList",
)

func showValue(v ref.Val) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case traits.Lister:
		var items []string
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			items = append(items, showValue(it.Next()))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case traits.Mapper:
		var items []string
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			key := it.Next()
			items = append(items, showValue(key)+": "+showValue(v.Get(key)))
		}
		slices.Sort(items)
		return "{" + strings.Join(items, ", ") + "}"
	case *celtypes.Optional:
		if v.HasValue() {
			return "optional(" + showValue(v.GetValue()) + ")"
		}
		return "optional.none"
	}
	return fmt.Sprintf("%s(%v)", v.Type().TypeName(), v.Value())
}

func (s *subject) usesOurs() bool { return s.ours.over == nil }
