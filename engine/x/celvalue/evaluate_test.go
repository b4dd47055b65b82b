package celvalue_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/internal/testing/schemas"
	"github.com/celadon-cel/celadon/types"
)

func upstreamValue(v any, s *schema.Structural, root bool) ref.Val {
	if root {
		s = model.WithTypeAndObjectMeta(s)
	}
	return upstreamcel.UnstructuredToVal(v, s)
}

type place struct {
	schema *schema.Structural
	decl   *types.Decl
	env    *cel.Env
	root   bool
}

func placeOf(root bool) types.Place {
	if root {
		return types.ResourceRoot
	}
	return types.Subtree
}

func newPlace(t testing.TB, text string, root bool) *place {
	t.Helper()
	p := &place{schema: schemas.Structural(t, text), root: root}
	p.decl = types.FromSchema(p.schema, placeOf(root))
	env, err := celenv.StoredRules(types.Version{Minor: types.Newest}).For(p.decl, false)
	if err != nil {
		t.Fatal(err)
	}
	p.env = env
	return p
}

type outcome struct {
	text string
	cost uint64
}

type expression struct {
	*place
	src  string
	prog cel.Program
}

func (p *place) compile(t testing.TB, src string) *expression {
	t.Helper()
	ast, issues := p.env.Compile(src)
	if issues.Err() != nil {
		t.Fatalf("%s: %v", src, issues.Err())
	}
	prog, err := p.env.Program(ast, cel.CostTracking(&library.CostEstimator{}))
	if err != nil {
		t.Fatal(err)
	}
	return &expression{p, src, prog}
}

// evaluate runs the expression with Celadon's and the API server's values for self and old. It
// compares the outcomes and returns Celadon's.
func (x *expression) evaluate(t testing.TB, self, old any) string {
	t.Helper()
	ours := x.run(celvalue.New(self, x.decl), celvalue.New(old, x.decl))
	var theirs outcome
	for range 100 { // the API server's map order is random
		theirs = x.run(upstreamValue(self, x.schema, x.root), upstreamValue(old, x.schema, x.root))
		if ours == theirs {
			return ours.text
		}
	}
	t.Errorf("%s\nself = %v\nold = %v\ngot  %s (cost %d)\nwant %s (cost %d)", x.src, self, old, ours.text, ours.cost, theirs.text, theirs.cost)
	return ours.text
}

func (x *expression) run(self, old ref.Val) outcome {
	v, details, err := x.prog.Eval(map[string]any{types.Self: self, types.OldSelf: old})
	out := outcome{text: words(v)}
	if err != nil {
		out.text = "error: " + err.Error()
	}
	if details != nil && details.ActualCost() != nil {
		out.cost = *details.ActualCost()
	}
	return out
}

// evaluateAll evaluates expressions for all pairs of values, or for each value if they do not
// mention oldSelf.
func (p *place) evaluateAll(t *testing.T, expressions, texts []string) {
	values := make([]any, len(texts))
	for i, text := range texts {
		values[i] = schemas.Value(t, text)
	}
	for _, src := range expressions {
		t.Run(src, func(t *testing.T) {
			t.Parallel()
			x := p.compile(t, src)
			for i, self := range values {
				olds := values
				if !strings.Contains(src, types.OldSelf) {
					olds = values[i : i+1]
				}
				for _, old := range olds {
					x.evaluate(t, self, old)
				}
			}
		})
	}
}

// words has the same result for both implementations of a value.
func words(v ref.Val) string {
	if v == nil {
		return "nothing"
	}
	if err, ok := v.(*celtypes.Err); ok {
		return "error: " + err.Error()
	}
	switch v := v.(type) {
	case traits.Lister:
		var items []string
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			items = append(items, words(it.Next()))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case traits.Mapper:
		return mapWords(v)
	}
	return fmt.Sprintf("%s(%v)", v.Type().TypeName(), v.Value())
}

func mapWords(m traits.Mapper) string {
	var entries []string
	for it := m.Iterator(); it.HasNext() == celtypes.True; {
		key := it.Next()
		if key == nil || key == celtypes.NullValue { // nil from upstream, null from Celadon
			entries = append(entries, "unknown field")
			continue
		}
		v, found := m.Find(key)
		if !found {
			entries = append(entries, words(key)+": nothing")
			continue
		}
		entries = append(entries, words(key)+": "+words(v))
	}
	slices.Sort(entries) // the API server's order is random
	return fmt.Sprintf("{%s} of %d", strings.Join(entries, ", "), m.Size())
}
