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

// crdOf returns a CRD with rules on spec, which has bool fields a to f and a list of objects with
// the same fields.
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

// The rest of this file computes MC/DC by brute force. An independent interpreter records the
// evaluations of generated rules. Each pair of evaluations is tried with each value of all
// conditions that were not evaluated.

type verdict byte

const (
	no     verdict = 'F'
	yes    verdict = 'T'
	erred  verdict = 'E'
	unseen verdict = 0
)

// bush is a generated expression. A leaf has a text and a number in its rule. A leaf with a macro
// has a predicate, which is a separate decision.
type bush struct {
	op     string // "", &&, ||, !, ?
	below  []*bush
	field  string
	macro  string
	pred   *bush
	number int
}

type grower struct {
	*rand.Rand
	leaves int
}

func (g *grower) bush(depth int, self string) *bush {
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

func (g *grower) leaf(depth int, self string) *bush {
	b := &bush{field: self + "." + string("abcdef"[g.IntN(6)]), number: g.leaves}
	g.leaves++
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

type diary struct {
	evaluations map[*bush][]map[*bush]verdict
	counts      map[*bush]map[verdict]int
}

// decide evaluates and records a whole decision.
func (d *diary) decide(b *bush, scope map[string]any) verdict {
	seen := map[*bush]verdict{}
	v := d.eval(b, scope, seen)
	d.evaluations[b] = append(d.evaluations[b], seen)
	return v
}

func (d *diary) eval(b *bush, scope map[string]any, seen map[*bush]verdict) verdict {
	switch b.op {
	case "":
		v := d.leaf(b, scope)
		seen[b] = v
		if d.counts[b] == nil {
			d.counts[b] = map[verdict]int{}
		}
		d.counts[b][v]++
		return v
	}
	return combine(b, func(sub *bush) verdict { return d.eval(sub, scope, seen) })
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

func (d *diary) leaf(b *bush, scope map[string]any) verdict {
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
		switch d.decide(b.pred, item.(map[string]any)) {
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
		return []*bush{b}
	}
	for _, sub := range b.below {
		all = append(all, leavesOf(sub)...)
	}
	return all
}

func outcome(b *bush, with map[*bush]verdict) verdict {
	if b.op == "" {
		return with[b]
	}
	return combine(b, func(sub *bush) verdict { return outcome(sub, with) })
}

// unmasked reports whether the opposite value of this condition alone would change the outcome, for
// some assignment of the conditions that were not evaluated.
func unmasked(root, cond *bush, seen map[*bush]verdict) bool {
	was := outcome(root, seen)
	flipped := map[*bush]verdict{}
	var open []*bush
	for _, l := range leavesOf(root) {
		if flipped[l] = seen[l]; seen[l] == unseen {
			open = append(open, l)
		}
	}
	flipped[cond] = map[verdict]verdict{yes: no, no: yes}[seen[cond]]
	var try func(i int) bool
	try = func(i int) bool {
		if i == len(open) {
			return outcome(root, flipped) != was
		}
		for _, v := range []verdict{yes, no, erred} {
			if flipped[open[i]] = v; try(i + 1) {
				return true
			}
		}
		return false
	}
	return try(0)
}

func (d *diary) mcdc(root, cond *bush) bool {
	var ones, others []map[*bush]verdict
	for _, seen := range d.evaluations[root] {
		switch {
		case seen[cond] == yes && unmasked(root, cond, seen):
			ones = append(ones, seen)
		case seen[cond] == no && unmasked(root, cond, seen):
			others = append(others, seen)
		}
	}
	for _, one := range ones {
		for _, other := range others {
			if outcome(root, one) != outcome(root, other) {
				return true
			}
		}
	}
	return false
}

// decisionsOf returns the decisions of a rule in the order of the source.
func decisionsOf(root *bush) []*bush {
	all := []*bush{root}
	for _, l := range leavesOf(root) {
		if l.pred != nil {
			all = append(all, decisionsOf(l.pred)...)
		}
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

// TestMaskingByBruteForce compares the reports for 1,000 generated rules with the definition of
// masking MC/DC.
func TestMaskingByBruteForce(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 16))
	var objects []map[string]any
	for range 12 {
		spec := randomBools(r)
		var list []any
		for range r.IntN(4) {
			list = append(list, randomBools(r))
		}
		if list != nil {
			spec["list"] = list
		}
		spec["list"] = append([]any{}, list...)
		objects = append(objects, widget(spec))
	}
	var rules []string
	var trees []*bush
	for len(rules) < 1000 {
		g := &grower{Rand: r}
		tree := g.bush(3, "self")
		if tree.op == "" || slices.ContainsFunc(decisionsOf(tree), func(d *bush) bool { return len(leavesOf(d)) > 7 }) || slices.Contains(rules, tree.String()) {
			continue
		}
		trees, rules = append(trees, tree), append(rules, tree.String())
	}
	report := measure(t, crdOf(t, rules...), objects...)
	if report.Rules != len(rules) {
		t.Fatalf("%d rules, want %d", report.Rules, len(rules))
	}
	counting := 0
	for i, tree := range trees {
		d := &diary{evaluations: map[*bush][]map[*bush]verdict{}, counts: map[*bush]map[verdict]int{}}
		for _, object := range objects {
			d.decide(tree, object["spec"].(map[string]any))
		}
		item := report.Items[i]
		got := map[int]Condition{}
		for n, c := range item.Conditions {
			got[n] = c
		}
		n := 0
		for _, root := range decisionsOf(tree) {
			for _, l := range leavesOf(root) {
				n++
				c, counts := got[l.number], d.counts[l]
				want := Condition{Text: l.String(), Start: c.Start, End: c.End, True: counts[yes], False: counts[no], Errors: counts[erred], MCDC: d.mcdc(root, l)}
				if c != want {
					t.Fatalf("%s: %s:\ngot  %+v\nwant %+v", rules[i], l, c, want)
				}
				if c.MCDC {
					counting++
				}
			}
		}
		if n != len(item.Conditions) {
			t.Fatalf("%s: %d conditions, want %d", rules[i], len(item.Conditions), n)
		}
	}
	if counting < 500 || report.Decisive != counting {
		t.Errorf("%d conditions count, %d by the report: the generator is too poor", counting, report.Decisive)
	}
}
