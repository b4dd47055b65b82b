package search

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

func widgets(t testing.TB, schema string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	text := `
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
` + indent(schema, "        ")
	if err := yaml.Unmarshal([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by) + "\n"
}

func searching(t testing.TB, schema string, cfg Config) *Search {
	t.Helper()
	crd := widgets(t, schema)
	e, err := engine.Compile(crd, engine.Config{})
	if e == nil {
		t.Fatal(err)
	}
	s, err := New(crd, e, "v1", cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func specWith(rule string, properties ...string) string {
	return fmt.Sprintf(`
properties:
  spec:
    type: object
    x-kubernetes-validations:
    - rule: %q
    properties:
%s`, rule, indent(strings.Join(properties, "\n"), "      "))
}

func TestFindByOperator(t *testing.T) {
	t.Parallel()
	const (
		a    = "a: {type: string}"
		n    = "c: {type: integer}"
		m    = "m: {type: integer}"
		list = "l: {type: array, maxItems: 9, items: {type: object, properties: {k: {type: string}, v: {type: integer}}}}"
		ss   = "s: {type: array, maxItems: 9, items: {type: string, maxLength: 40}}"
		us   = "u: {type: array, maxItems: 9, items: {type: string, maxLength: 40}}"
		dict = "d: {type: object, maxProperties: 9, additionalProperties: {type: string}}"
	)
	for _, test := range []struct {
		rule       string
		properties []string
	}{
		{"has(self.a) && has(self.c)", []string{a, n}},
		{"!has(self.a) || !has(self.c)", []string{a, n}},
		{"has(self.a) ? has(self.c) : true", []string{a, n}},
		{"!has(self.a) || self.a == 'x'", []string{a}},
		{"!has(self.a) || self.a != 'x'", []string{a}},
		{"!has(self.a) || self.a in ['x', 'y']", []string{a}},
		{"!has(self.a) || !(self.a in ['x', 'y'])", []string{a}},
		{"!has(self.c) || !has(self.m) || self.c <= self.m", []string{n, m}},
		{"!has(self.c) || !has(self.m) || self.c + self.m * 2 > 10", []string{n, m}},
		{"!has(self.c) || self.c % 5 == 0", []string{n}},
		{"!has(self.a) || self.a.matches('^[a-z]{3,7}$')", []string{a}},
		{"!has(self.a) || !self.a.matches('^[a-z]{3,7}$')", []string{a}},
		{"!has(self.a) || self.a.startsWith('x') && self.a.endsWith('y') && !self.a.contains('-')", []string{a}},
		{"!has(self.a) || size(self.a) < 20", []string{a}},
		{"!has(self.a) || self.a.split('/').size() == 2", []string{a}},
		{"!has(self.a) || !(self.a.split('/')[0] == 'x')", []string{a}},
		{"!has(self.a) || self.a.split('/').filter(s, s == '.' || s == '..').size() == 0", []string{"a: {type: string, pattern: '^[a-z./]+/keys/[a-z]+$'}"}},
		{"!has(self.a) || self.a.substring(2) != 'xyz'", []string{a}},
		{"!has(self.a) || int(url('http://' + self.a).getPort()) != 8443", []string{a}},
		{"!has(self.a) || self.a.lowerAscii() != 'abc'", []string{a}},
		{"!has(self.a) || self.a.replace('x', 'y') != 'yes'", []string{a}},
		{"!has(self.a) || self.a.find('[0-9]+') != '42'", []string{a}},
		{"!has(self.a) || isURL(self.a) && url(self.a).getScheme() == 'https'", []string{a}},
		{"!has(self.a) || !isURL(self.a) || url(self.a).getHostname() != 'b.example'", []string{a}},
		{"!has(self.a) || !isIP(self.a) || ip(self.a).family() == 4", []string{a}},
		{"!has(self.a) || !isCIDR(self.a) || cidr(self.a).prefixLength() < 31", []string{a}},
		{"!has(self.a) || !isQuantity(self.a) || quantity(self.a).isLessThan(quantity('1Gi'))", []string{a}},
		{"!has(self.c) || string(self.c) != '7'", []string{n}},
		{"!has(self.a) || !self.a.matches('^[0-9]+$') || int(self.a) < 100", []string{a}},
		{"self.?a.orValue('x') == 'x'", []string{a}},
		{"!self.?a.hasValue()", []string{a}},
		{"!has(self.l) || self.l.all(x, has(x.k))", []string{list}},
		{"!has(self.l) || !self.l.exists(x, has(x.v) && x.v > 5)", []string{list}},
		{"!has(self.l) || self.l.exists_one(x, has(x.k) && x.k == 'x')", []string{list}},
		{"!has(self.l) || self.l.filter(x, has(x.v) && x.v == 3).size() <= 1", []string{list}},
		{"!has(self.l) || self.l.map(x, x.?v.orValue(0)).all(v, v != 4)", []string{list}},
		{"!has(self.l) || self.l.all(x, self.l.all(y, !has(x.k) || !has(y.k) || x.k != y.k || x == y))", []string{list}},
		{"!has(self.s) || self.s.size() < 3", []string{ss}},
		{"!has(self.s) || !has(self.u) || size(self.s + self.u) <= 10", []string{ss, us}},
		{"!has(self.s) || !('x' in self.s)", []string{ss}},
		{"!has(self.s) || self.s.all(x, x.startsWith('p-'))", []string{ss}},
		{"!has(self.d) || self.d.all(k, k.size() < 4)", []string{dict}},
		{"!has(self.d) || !('x' in self.d) || self.d['x'] != 'y'", []string{dict}},
		{"!has(self.l) || self.l.all(i, x, !has(x.v) || x.v > i)", []string{list}},
		{"!has(self.s) || !sets.contains(['x', 'y'], self.s)", []string{ss}},
		{"!has(self.s) || self.s.join(',') != 'x'", []string{ss}},
		{"!has(self.a) || !has(oldSelf.a) || self.a == oldSelf.a", []string{a}},
		{"!has(oldSelf.c) || has(self.c)", []string{n}},
		{"!has(self.c) || !has(oldSelf.c) || self.c >= oldSelf.c", []string{n}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			s := searching(t, specWith(test.rule, test.properties...), Config{})
			for _, want := range []Want{Rejected, Accepted} {
				a, err := s.Find(t.Context(), s.Rules()[0], want)
				if err != nil {
					t.Fatal(err)
				}
				if a.Status != Found {
					t.Errorf("%s: %s after %d: %s", want, a.Status, a.Searched, a.Reason)
					continue
				}
				holds(t, s, s.Rules()[0], want, a.Witness)
			}
		})
	}
}

func holds(t testing.TB, s *Search, ref engine.RuleRef, want Want, w *Witness) {
	t.Helper()
	req := w.Request()
	req.Trace = true
	res, err := s.engine.Validate(t.Context(), req)
	if err != nil {
		t.Errorf("%s: %s: %v", ref.Path, ref.Rule, err)
		return
	}
	if res.Allowed != (want == Accepted) {
		t.Errorf("%s: %s: %s, and allowed is %v", ref.Path, ref.Rule, want, res.Allowed)
	}
	for _, c := range res.Causes {
		if w.Alone && (c.Rule == nil || *c.Rule != ref) {
			t.Errorf("%s: %s: not alone: %s: %s", ref.Path, ref.Rule, c.Field, c.Message)
		}
	}
	ran := slices.ContainsFunc(res.Rules, func(r engine.RuleResult) bool {
		return r.RuleRef == ref && r.Runs > 0 && (r.Failed > 0) == (want != Accepted)
	})
	if !ran {
		t.Errorf("%s: %s: %s, and the rule did not do that", ref.Path, ref.Rule, want)
	}
	if w.Old == nil {
		return
	}
	old := engine.Request{Object: without(w.Old, "status")}
	if res, err := s.engine.Validate(t.Context(), old); err != nil || !res.Allowed {
		t.Errorf("%s: %s: the old object cannot be created: %v %v", ref.Path, ref.Rule, res, err)
	}
	if w.Old["status"] == nil || !s.split {
		return
	}
	status := engine.Request{Object: w.Old, OldObject: old.Object, Subresource: "status"}
	if res, err := s.engine.Validate(t.Context(), status); err != nil || !res.Allowed {
		t.Errorf("%s: %s: the old object cannot get its status: %v %v", ref.Path, ref.Rule, res, err)
	}
}

func without(obj map[string]any, name string) map[string]any {
	out := map[string]any{}
	for k, v := range obj {
		if k != name {
			out[k] = v
		}
	}
	return out
}

func TestFindErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rule, message string
		properties    []string
	}{
		{"self.a == 'x'", "no such key: a", []string{"a: {type: string}"}},
		{"!has(self.c) || 10 / self.c > 1", "division by zero", []string{"c: {type: integer}"}},
		{"!has(self.a) || int(self.a) > 0", "type conversion error", []string{"a: {type: string}"}},
		{"!has(self.s) || self.s[2] != 'x'", "index out of bounds", []string{"s: {type: array, items: {type: string}}"}},
		{"!has(self.l) || self.l.all(x, x.k != 'x')", "no such key: k", []string{"l: {type: array, items: {type: object, properties: {k: {type: string}}}}"}},
	} {
		s := searching(t, specWith(test.rule, test.properties...), Config{})
		a, err := s.Find(t.Context(), s.Rules()[0], Errs)
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != Found {
			t.Errorf("%s: %s", test.rule, a.Status)
			continue
		}
		holds(t, s, s.Rules()[0], Errs, a.Witness)
		if got := a.Witness.Result.Causes[0].Message; !strings.Contains(got, test.message) {
			t.Errorf("%s: %s", test.rule, got)
		}
	}
	s := searching(t, specWith("!has(self.a) || self.a == 'x'", "a: {type: string}"), Config{})
	if a, err := s.Find(t.Context(), s.Rules()[0], Errs); err != nil || a.Status != Unknown {
		t.Errorf("a rule that cannot fail: %v %v", a, err)
	}
}

func TestFindOverBudget(t *testing.T) {
	t.Parallel()
	s := searching(t, specWith("!has(self.s) || self.s.all(x, self.s.all(y, self.s.all(z, x != y || y != z || x.size() > 0)))", "s: {type: array, items: {type: string}}"), Config{})
	a, err := s.Find(t.Context(), s.Rules()[0], OverBudget)
	if err != nil || a.Status != Found {
		t.Fatal(a, err)
	}
	if got := a.Witness.Result.Causes[0].Message; !strings.Contains(got, "cost exceeds limit") && !strings.Contains(got, "cost budget") {
		t.Error(got)
	}
}

func TestFindOverBudgetOfCheap(t *testing.T) {
	t.Parallel()
	s := searching(t, specWith("!has(self.s) || self.s == 'x'", "s: {type: string}"), Config{})
	a, err := s.Find(t.Context(), s.Rules()[0], OverBudget)
	if err != nil || a.Status != Unknown || a.Searched > cheapSteps {
		t.Errorf("%+v %v", a, err)
	}
}

func TestFindOverBudgetInMap(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	s := searching(t, specWith("!has(self.m) || self.m.all(k, self.m.all(l, k == l || self.m[k] != self.m[l] || k.size() > 0))", "m: {type: object, additionalProperties: {type: string}}"), Config{})
	a, err := s.Find(t.Context(), s.Rules()[0], OverBudget)
	if err != nil || a.Status != Found {
		t.Errorf("%+v %v", a, err)
	}
}

func TestMultiply(t *testing.T) {
	const listMap = "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name, port], items: {type: object, required: [name, port], properties: {name: {type: string, maxLength: 9, pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$'}, port: {type: integer, minimum: 1, maximum: 9}}}"
	s := searching(t, specWith("true",
		"five: {type: array, maxItems: 5, items: {type: string}}",
		"set: {type: array, x-kubernetes-list-type: set, maxItems: 20, items: {type: string}}",
		"letters: {type: array, x-kubernetes-list-type: set, maxItems: 300, items: {type: string, pattern: '^a[a-z]*z$'}}",
		"ports: {type: array, x-kubernetes-list-type: set, maxItems: 1000, items: {type: integer, multipleOf: 2, minimum: 0}}",
		"numbers: {type: array, x-kubernetes-list-type: set, maxItems: 300, items: {type: number}}",
		"both: {type: array, x-kubernetes-list-type: set, items: {type: boolean}}",
		"named: {type: array, maxItems: 1000, "+listMap+"}",
		"four: {type: object, maxProperties: 4, additionalProperties: {type: string}}",
		"many: {type: array, items: {type: boolean}}",
		"keys: {type: object, additionalProperties: {type: boolean}}",
	), Config{})
	h := s.newSolver(t.Context(), "", 1)
	for name, want := range map[string]int{
		"five": 5, "set": 20, "letters": 300, "ports": 1000, "numbers": 300, "both": 2, "named": 1000, "four": 4, "many": 10_000, "keys": 10_000,
	} {
		w := &candidate{op: Create, obj: map[string]any{"spec": map[string]any{name: map[string]any{}}}}
		if p := (objectPath{node: h.root}).field("spec").field(name); !p.node.isMap() {
			w.put(p, []any{})
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p := objectPath{node: h.root}.field("spec").field(name)
		h.newAdjuster(w, nil, instance{}).multiply(p, 10_000)
		runtime.ReadMemStats(&after)
		v, _ := w.get(p)
		if got := count(v) - 1; name != "named" && got != want || name == "named" && got != 3*want {
			t.Errorf("%s: %d elements, want %d", name, got, want)
		}
		if list, ok := v.([]any); ok && p.node.isSet() {
			seen := map[any]bool{}
			for _, v := range list {
				seen[v] = true
			}
			if len(seen) != len(list) {
				t.Errorf("%s: %v", name, v)
			}
		}
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 100 {
			t.Errorf("%s: %d MiB", name, mb)
		}
	}
}

// TestFindManyThatDiffer checks a list that needs more unique items than there are sample strings.
func TestFindManyThatDiffer(t *testing.T) {
	t.Parallel()
	for name, items := range map[string]string{
		"set":     "x-kubernetes-list-type: set, items: {type: string, pattern: '^[a-z]+$', maxLength: 10}",
		"map":     "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}}}",
		"integer": "x-kubernetes-list-type: set, items: {type: integer, minimum: 80, maximum: 130}",
	} {
		s := searching(t, specWith("!has(self.l) || self.l.size() <= 40", "l: {type: array, maxItems: 64, "+items+"}"), Config{})
		a, err := s.Find(t.Context(), s.Rules()[0], Rejected)
		if err != nil || a.Status != Found || !a.Witness.Alone {
			t.Errorf("%s: %+v %v", name, a, err)
		}
	}
}

func TestFindInStatus(t *testing.T) {
	t.Parallel()
	s := searching(t, `
properties:
  spec: {type: object, properties: {c: {type: integer}}}
  status:
    type: object
    properties: {c: {type: integer}, phase: {type: string}}
    x-kubernetes-validations:
    - rule: "!has(self.c) || self.c > 3"
    - rule: "!has(oldSelf.phase) || has(self.phase)"
x-kubernetes-validations:
- rule: "!has(self.status) || !has(self.status.c) || !has(self.spec) || !has(self.spec.c) || self.status.c <= self.spec.c"`, Config{})
	for _, ref := range s.Rules() {
		a, err := s.Find(t.Context(), ref, Rejected)
		if err != nil || a.Status != Found || !a.Witness.Alone {
			t.Errorf("%s: %v %v", ref.Rule, a, err)
			continue
		}
		if ref.Path == "status" && a.Witness.Operation != Status {
			t.Errorf("%s: %s", ref.Rule, a.Witness.Operation)
		}
		holds(t, s, ref, Rejected, a.Witness)
	}
}

func TestFindShrinks(t *testing.T) {
	t.Parallel()
	s := searching(t, `
properties:
  spec:
    type: object
    required: [kept]
    properties:
      kept: {type: string, minLength: 1}
      other: {type: object, default: {}, properties: {x: {type: integer, default: 3}}}
      l:
        type: array
        maxItems: 9
        items: {type: object, required: [k], properties: {k: {type: string}, v: {type: integer}, w: {type: integer}}}
    x-kubernetes-validations:
    - rule: "!has(self.l) || self.l.all(x, !has(x.v) || x.v < 100)"`, Config{})
	ref := s.Rules()[0]
	a, err := s.Find(t.Context(), ref, Rejected)
	if err != nil || a.Status != Found {
		t.Fatal(a, err)
	}
	w := &candidate{op: Create, obj: a.Witness.Object}
	for _, path := range removable(w.obj) {
		smaller := w.clone()
		smaller.drop(objectPath{path: path})
		res, err := s.engine.Validate(t.Context(), engine.Request{Object: smaller.obj})
		if err != nil {
			t.Fatal(err)
		}
		if !res.Allowed && !slices.ContainsFunc(res.Causes, func(c engine.Cause) bool { return c.Rule == nil || *c.Rule != ref }) {
			t.Errorf("%s can go: %v", engine.FormatPath(path), w.obj)
		}
	}
}

func TestFindIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	schema := `
properties:
  spec:
    type: object
    properties:
      a: {type: string, enum: [x, y, z]}
      u: {type: string, format: uri}
      m: {type: object, additionalProperties: {type: string}}
      l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}, v: {type: integer}}}}
    x-kubernetes-validations:
    - rule: "!has(self.a) || self.a != 'z' || has(self.u) && has(self.m)"
    - rule: "!has(self.l) || self.l.all(x, has(x.v) && x.v > 2)"
    - rule: "!has(oldSelf.a) || has(self.a) && self.a == oldSelf.a"`
	crd := widgets(t, schema)
	first, second := answersOf(t, crd, Config{Seed: 7}, false), answersOf(t, crd, Config{Seed: 7}, true)
	for question, answer := range first {
		if second[question] != answer {
			t.Errorf("%s:\n%s\n%s", question, answer, second[question])
		}
	}
}
