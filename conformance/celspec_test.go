package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	celpb "cel.dev/expr"
	_ "cel.dev/expr/conformance/proto2" // the types of values in the suite
	_ "cel.dev/expr/conformance/proto3"
	simple "cel.dev/expr/conformance/test"
	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/encoding/prototext"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/internal/testing/gomod"
	"github.com/celadon-cel/celadon/types"
)

func celSpec(t *testing.T) map[string]*simple.SimpleTest {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(gomod.Dir(t, "cel.dev/expr"), "tests/simple/testdata/*.textproto"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	tests := map[string]*simple.SimpleTest{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all simple.SimpleTestFile
		if err := prototext.Unmarshal(data, &all); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, section := range all.Section {
			for _, test := range section.Test {
				name := all.Name + "/" + section.Name + "/" + test.Name
				for tests[name] != nil {
					name += "+"
				}
				tests[name] = test
			}
		}
	}
	return tests
}

type specCase struct {
	src    string
	roots  []celenv.Root
	values map[string]any
}

// specCaseOf returns false if the test declares a function, or if a value or a type cannot be
// converted. Other settings, such as a container of names, do not apply: a server has its own.
func specCaseOf(test *simple.SimpleTest) (c specCase, ok bool) {
	c = specCase{src: test.Expr, values: map[string]any{}}
	for _, d := range test.TypeEnv {
		of := d.GetIdent()
		if of == nil {
			return c, false
		}
		typ, err := celtypes.ProtoAsType(of.Type)
		if err != nil {
			return c, false
		}
		c.roots = append(c.roots, celenv.Root{Name: d.Name, Type: typ})
	}
	for name, v := range test.Bindings {
		value, ok := v.Kind.(*celpb.ExprValue_Value)
		if !ok {
			return c, false
		}
		val, err := cel.ProtoAsValue(celtypes.DefaultTypeAdapter, value.Value)
		if err != nil {
			return c, false
		}
		c.values[name] = val
	}
	return c, true
}

const specLimit = 10_000_000

func (c specCase) upstream(env *celenv.Env) string {
	own, err := env.With(c.roots)
	if err != nil {
		return "environment: " + err.Error()
	}
	checked, issues := own.Compile(c.src)
	if issues.Err() != nil {
		return "compile: " + issues.String()
	}
	program, err := own.Program(checked, cel.CostLimit(specLimit), cel.CostTracking(&library.CostEstimator{}))
	if err != nil {
		return "plan: " + err.Error()
	}
	v, details, err := program.ContextEval(context.Background(), c.values)
	cost := uint64(0)
	if details != nil && details.ActualCost() != nil {
		cost = *details.ActualCost()
	}
	return specResult(v, err, cost)
}

func (c specCase) ours(env *celenv.Env) string {
	scope, err := env.Scope()
	if err != nil {
		return "environment: " + err.Error()
	}
	checked, err := scope.CompileWith(c.roots, c.src)
	if err != nil {
		return "compile: " + err.Error()
	}
	program, err := eval.NewPlanner(scope.Env()).ForVersion(env.Version()).PlanWith(checked, c.roots, specLimit)
	if err != nil {
		return "plan: " + err.Error()
	}
	out := program.Eval(context.Background(), eval.BindRoots(c.roots, c.values))
	return specResult(out.Value, out.Err, out.Cost)
}

func specResult(v ref.Val, err error, cost uint64) string {
	if err != nil {
		return fmt.Sprintf("cost %d, error %s", cost, err)
	}
	return fmt.Sprintf("cost %d, %s", cost, specValue(v))
}

func specValue(v ref.Val) string {
	var items []string
	switch v := v.(type) {
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			items = append(items, specValue(it.Next()))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			key := it.Next()
			items = append(items, specValue(key)+": "+specValue(v.Get(key)))
		}
		slices.Sort(items)
		return "{" + strings.Join(items, ", ") + "}"
	case *celtypes.Optional:
		if v.HasValue() {
			return "optional(" + specValue(v.GetValue()) + ")"
		}
		return "optional.none"
	}
	return fmt.Sprintf("%s(%v)", v.Type().TypeName(), v.Value())
}

func TestCELSpec(t *testing.T) {
	t.Parallel()
	env := celenv.StoredRules(types.Version{Minor: types.Newest})
	counts := map[string]int{}
	tests := celSpec(t)
	for name, test := range tests {
		c, ok := specCaseOf(test)
		if !ok {
			counts["skipped"]++
			continue
		}
		want, got := c.upstream(env), c.ours(env)
		for range runs * runs { // where cel-go stops in a map depends on chance
			if got == want {
				break
			}
			want = c.upstream(env)
		}
		kind, _, _ := strings.Cut(want, " ")
		counts[kind]++
		if got != want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", name, c.src, got, want)
		}
	}
	t.Logf("%d tests: %v", len(tests), counts)
	if counts["cost"] < 1000 {
		t.Errorf("%d tests were evaluated, want at least 1000", counts["cost"])
	}
}
