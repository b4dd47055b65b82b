package record

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/access"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/loops"
)

func TestReference(t *testing.T) {
	t.Parallel()
	node, err := cronTab(t).At("v1", "")
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := access.Compiler(node)
	if err != nil {
		t.Fatal(err)
	}
	obj, err := engine.Decode([]byte(`{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"n"},
		"spec":{"schedule":"0 3 * * *","image":"a:1","replicas":3,"maxReplicas":2,"env":[{"name":"A","value":"x"},{"name":"b"},{"name":"C"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range append(traced, made...) {
		againstReference(t, compiler, src, false, obj, obj)
	}
}

// made holds expressions that cel-go's interpreter evaluates and prices like a server, without
// options of cel-go's extensions. No map in them has two keys, because cel-go iterates over maps in
// random order.
var made = []string{
	"self.spec.env.map(e, e.value).size() == 1",
	"self.spec.env.all(e, e.value == 'x' || e.name == 'z')",
	"self.spec.env.all(e, self.spec.env.exists(f, f.name == e.value))",
	"self.spec.env.filter(e, e.value == 'x').size() > 0",
	"self.spec.env.exists_one(e, e.value == 'x')",
	"self.spec.env.map(e, has(e.value), e.value)[0] == 'y'",
	"self.spec.env.transformMap(i, e, e.name).size() == 2",
	"self.spec.env.transformList(i, e, i > 0, e.name)[0] == 'c'",
	"(has(self.spec.suspended) ? self.spec.env[0] : self.spec.env[1]).name == 'x'",
	"(self.spec.replicas > 2 ? self.spec.replicas : self.spec.maxReplicas) == 7",
	"self.spec.image.split(':')[1] == '2' && self.spec.image.split(':').size() == 2",
	"self.spec.image.split(':').all(p, p.size() > 1)",
	"self.spec.image.split(':').map(p, p + 'x').exists(q, q == 'ax') == false",
	"{'a': self.spec.replicas}.all(k, v, v > 5)",
	"{'a': self.spec.replicas}.all(k, k == 'b')",
	"dyn(self.spec).env.all(i, e, e.name == 'A')",
	"self.spec.env.all(i, e, i < 2 && e.name != '')",
	"self.spec.env.exists(e, e.name.startsWith('x') || e.name.endsWith('y') || e.name.contains('z'))",
	"type(self.spec.replicas) == int && self.spec.replicas in [1, 2]",
	"self.spec.?env[?5].?name.hasValue()",
	"self.spec.?env[?1].?value.or(optional.of('x')).value() == 'y'",
	"[self.spec.replicas, 2].sum() == 4 && [1, self.spec.replicas].sort()[0] == 2",
	"self.spec.env[?7].name.orValue('q') == 'r'",
	"-self.spec.replicas == 3 || !(self.spec.replicas >= 3) || self.spec.replicas % 2 == 0",
	"self.spec.replicas == 9 ? true : self.spec.env[9].name == 'a'",
	"self.spec.env.exists(e, e.name == 'A') ? self.spec.env.all(e, e.name == 'A') : true",
	"google.protobuf.Int64Value{value: self.spec.replicas} == 3",
	"'%s-%d'.format([self.spec.image, self.spec.replicas]) == 'x'",
	"self.spec.schedule.find('[0-9]+') == '1' || self.spec.schedule.findAll('[0-9]+').size() > 4",
	"self.spec.env.map(e, self.spec.env.map(f, f.value)).size() == 0",
	"self.spec.env.all(e, self.spec.env.filter(f, f.name == e.name).size() == 2)",
	"cel.bind(x, self.spec.replicas, x > 5 && x < 7)",
}

func againstReference(t *testing.T, compiler *expr.Compiler, src string, optional bool, self, old any) {
	t.Helper()
	x, err := compiler.Compile(src, optional)
	if err != nil {
		return // not an expression for this schema
	}
	theirs, err := newReference(compiler, x.AST(), src, optional)
	if err != nil {
		t.Errorf("%s: %v", src, err)
		return
	}
	ours, err := New(compiler, x.AST(), src, optional)
	if err != nil {
		t.Errorf("%s: %v", src, err)
		return
	}
	want, err := theirs.Run(context.Background(), self, old)
	if err != nil {
		return // too expensive for cel-go
	}
	got, err := ours.Run(context.Background(), self, old, NewBudget(MaxObjectWork))
	var over *eval.OverworkError
	if errors.As(err, &over) {
		return
	}
	if err != nil {
		t.Errorf("%s: %v", src, err)
		return
	}
	if diff := compareTraces(got, want); diff != "" {
		t.Errorf("%s\n%s", src, diff)
	}
}

func compareTraces(got *Trace, want *refTrace) string {
	var b strings.Builder
	if got.Cost != want.Cost || fmt.Sprint(got.Err) != fmt.Sprint(want.Err) {
		fmt.Fprintf(&b, "cost %d, error %v; want %d, %v\n", got.Cost, got.Err, want.Cost, want.Err)
	}
	var visit func(e ast.Expr)
	visit = func(e ast.Expr) {
		v, cost, ok := got.at(e)
		w, units, ran := want.at(e)
		if !ran && ok {
			return // a branch or an index: cel-go's plan does not record all of them
		}
		if ok != ran || cost != units || text(v) != text(w) {
			fmt.Fprintf(&b, "  %s: %s for %d (%v), want %s for %d (%v)\n", got.program.source.Of(e), text(v), cost, ok, text(w), units, ran)
		}
		for _, child := range children(e) {
			if !simple(child) {
				visit(child)
			}
		}
	}
	visit(got.program.root())
	ast.PostOrderVisit(got.program.root(), ast.NewExprVisitor(func(e ast.Expr) {
		l, ok := loops.Of(e)
		if !ok {
			return
		}
		step := e.AsComprehension().LoopStep().ID()
		number, vars := got.record.Element(step)
		last := want.last[step]
		if number != last.number || values(vars) != values(last.values) {
			fmt.Fprintf(&b, "  %s: element %d %s, want %d %s\n", got.program.source.Of(l.Over), number, values(vars), last.number, values(last.values))
		}
	}))
	return b.String()
}

func values(vars map[string]ref.Val) string {
	all := map[string]string{}
	for name, v := range vars {
		all[name] = text(v)
	}
	return fmt.Sprint(all)
}

func text(v ref.Val) string {
	if v == nil {
		return "nothing"
	}
	if err, ok := v.(*celtypes.Err); ok {
		return "error " + err.Error()
	}
	return fmt.Sprintf("%s %v", v.Type().TypeName(), expr.Native(v))
}
