package coverage

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

func crdOf(t testing.TB, rules ...string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	bools := "a: {type: boolean}, b: {type: boolean}, c: {type: boolean}, d: {type: boolean}, e: {type: boolean}, f: {type: boolean}"
	text := `
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              list: {type: array, items: {type: object, properties: {` + bools + `}}}
              ` + strings.ReplaceAll(bools, ", ", "\n              ")
	if err := yaml.Unmarshal([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	for _, rule := range rules {
		spec.XValidations = append(spec.XValidations, apiextensionsv1.ValidationRule{Rule: rule})
	}
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
	return crd
}

func widget(spec map[string]any) map[string]any {
	return map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"}, "spec": spec}
}

func measure(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition, objects ...map[string]any) *Report {
	t.Helper()
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rec := New()
	w, err := rec.Watch(crd, e)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if _, err := e.Validate(context.Background(), engine.Request{Object: object, Observe: w.Observe}); err != nil {
			t.Fatal(err)
		}
	}
	return rec.Report()
}

// The rest of this file counts the values of conditions in generated rules with an independent
// interpreter.

type verdict byte

const (
	no    verdict = 'F'
	yes   verdict = 'T'
	erred verdict = 'E'
)

// bush is a generated expression. A leaf with a macro has a predicate,
// whose leaves are conditions as well.
type bush struct {
	op    string
	below []*bush
	field string
	macro string
	pred  *bush
}

type grower struct{ *rand.Rand }

func (g grower) bush(depth int, self string) *bush {
	if depth == 0 || g.IntN(4) == 0 {
		return g.leaf(depth, self)
	}
	b := &bush{op: []string{"&&", "||", "&&", "||", "!", "?"}[g.IntN(6)]}
	n := map[string]int{"&&": 2 + g.IntN(2), "||": 2 + g.IntN(2), "!": 1, "?": 3}[b.op]
	for range n {
		b.below = append(b.below, g.bush(depth-1, self))
	}
	return b
}

func (g grower) leaf(depth int, self string) *bush {
	b := &bush{field: self + "." + string("abcdef"[g.IntN(6)])}
	if self == "self" && depth > 0 && g.IntN(3) == 0 {
		b.macro = []string{"all", "exists"}[g.IntN(2)]
		b.pred = g.bush(min(depth, 2), "x")
	}
	return b
}

func (b *bush) String() string {
	switch {
	case b.macro != "":
		return fmt.Sprintf("self.list.%s(x, %s)", b.macro, b.pred)
	case b.op == "":
		return b.field
	case b.op == "!":
		return fmt.Sprintf("!(%s)", b.below[0])
	case b.op == "?":
		return fmt.Sprintf("((%s) ? (%s) : (%s))", b.below[0], b.below[1], b.below[2])
	}
	var texts []string
	for _, sub := range b.below {
		texts = append(texts, sub.String())
	}
	return "(" + strings.Join(texts, " "+b.op+" ") + ")"
}

type diary map[*bush]map[verdict]int

func (d diary) eval(b *bush, scope map[string]any) verdict {
	if b.op != "" {
		return combine(b, func(sub *bush) verdict { return d.eval(sub, scope) })
	}
	v := d.leaf(b, scope)
	if d[b] == nil {
		d[b] = map[verdict]int{}
	}
	d[b][v]++
	return v
}

func combine(b *bush, eval func(*bush) verdict) verdict {
	switch b.op {
	case "!":
		return map[verdict]verdict{yes: no, no: yes, erred: erred}[eval(b.below[0])]
	case "?":
		switch eval(b.below[0]) {
		case yes:
			return eval(b.below[1])
		case no:
			return eval(b.below[2])
		}
		return erred
	}
	decides, rest := no, yes
	if b.op == "||" {
		decides, rest = yes, no
	}
	for _, sub := range b.below {
		switch eval(sub) {
		case decides:
			return decides
		case erred:
			rest = erred
		}
	}
	return rest
}

func (d diary) leaf(b *bush, scope map[string]any) verdict {
	if b.macro == "" {
		switch scope[b.field[strings.Index(b.field, ".")+1:]] {
		case true:
			return yes
		case false:
			return no
		}
		return erred
	}
	list, ok := scope["list"].([]any)
	if !ok {
		return erred
	}
	decides, rest := no, yes
	if b.macro == "exists" {
		decides, rest = yes, no
	}
	for _, item := range list {
		switch d.eval(b.pred, item.(map[string]any)) {
		case decides:
			return decides
		case erred:
			rest = erred
		}
	}
	return rest
}

func leavesOf(b *bush) (all []*bush) {
	if b.op == "" {
		if all = []*bush{b}; b.pred != nil {
			all = append(all, leavesOf(b.pred)...)
		}
		return all
	}
	for _, sub := range b.below {
		all = append(all, leavesOf(sub)...)
	}
	return all
}

func randomBools(r *rand.Rand) map[string]any {
	out := map[string]any{}
	for _, name := range "abcdef" {
		if n := r.IntN(5); n > 0 {
			out[string(name)] = n > 2
		}
	}
	return out
}

func TestGeneratedConditions(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 16))
	var objects []map[string]any
	for range 12 {
		spec := randomBools(r)
		list := []any{}
		for range r.IntN(4) {
			list = append(list, randomBools(r))
		}
		spec["list"] = list
		objects = append(objects, widget(spec))
	}
	var rules []string
	var trees []*bush
	for len(rules) < 1000 {
		tree := grower{r}.bush(3, "self")
		if tree.op != "" && !slices.Contains(rules, tree.String()) {
			trees, rules = append(trees, tree), append(rules, tree.String())
		}
	}
	report := measure(t, crdOf(t, rules...), objects...)
	if report.Rules != len(rules) {
		t.Fatalf("%d rules, want %d", report.Rules, len(rules))
	}
	both := 0
	for i, tree := range trees {
		d := diary{}
		for _, object := range objects {
			d.eval(tree, object["spec"].(map[string]any))
		}
		item, leaves := report.Items[i], leavesOf(tree)
		if len(leaves) != len(item.Conditions) {
			t.Fatalf("%s: %d conditions, want %d", rules[i], len(item.Conditions), len(leaves))
		}
		for n, l := range leaves {
			c, counts := item.Conditions[n], d[l]
			want := Condition{Text: l.String(), Start: c.Start, End: c.End, True: counts[yes], False: counts[no], Errors: counts[erred]}
			if c != want {
				t.Fatalf("%s: %s:\ngot  %+v\nwant %+v", rules[i], l, c, want)
			}
			if c.True > 0 && c.False > 0 {
				both++
			}
		}
	}
	if both < 500 || report.Both != both {
		t.Errorf("%d conditions were both, %d by the report: the generator is too poor", both, report.Both)
	}
}
