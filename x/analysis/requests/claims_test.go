package requests_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
	"github.com/celadon-cel/celadon/x/analysis/requests"
)

var claimFields = map[string][]string{
	"a": {"type: string", "type: string, default: x", "type: string, nullable: true", "type: string, enum: [x, w]", "x-kubernetes-int-or-string: true", "type: string, format: date-time"},
	"c": {"type: integer", "type: integer, default: 1", "type: number", "type: integer, minimum: 1", "type: integer, nullable: true"},
	"b": {"type: boolean", "type: boolean, default: false"},
	"l": {"type: array, items: {type: string}", "type: array, maxItems: 2, items: {type: string}", "type: array, items: {type: integer}", "type: array, default: [x], items: {type: string}"},
	"o": {
		"type: object, properties: {p: {type: string}, q: {type: integer}}", "type: object, default: {}, properties: {p: {type: string, default: x}, q: {type: integer}}", "type: object, required: [p], properties: {p: {type: string}}",
		"type: object, additionalProperties: {type: string}", "type: object, x-kubernetes-preserve-unknown-fields: true",
	},
}

// In claimConditions, $ is object or oldObject.
var claimConditions = []string{
	"has($.spec.a)", "!has($.spec.a) || $.spec.a != 'x'", "$.spec.a == 'w'", "!has($.spec.c) || $.spec.c < 3", "$.spec.c > 0", "$.spec.?c.orValue(2) % 2 == 0", "!has($.spec.o) || has($.spec.o.p)", "$.spec.o.p == 'x'",
	"has($.spec.o) && has($.spec.o.q) && $.spec.o.q > 0", "!has($.spec.l) || size($.spec.l) < 2", "$.spec.l.all(s, s == 'x')", "!has($.spec.l) || $.spec.l.exists(object, object == 'x')", "$.spec.l[0] != 'w'", "!has($.spec.b) || $.spec.b",
	"variables.v == 'x'", "has($.spec.a) && variables.v != 'w'", "variables.w", "!variables.w || has($.spec.b)", "variables.either.spec.size() > 0", "$ == null || has($.spec.a)", "$ != null && has($.spec.c)", "oldObject == null || $.spec.a == oldObject.spec.a",
	"request.operation == 'CREATE' || has($.spec.b)", "request.operation != 'DELETE' || oldObject.spec.c == 1", "request.operation in ['CREATE', 'UPDATE'] && $.spec.b", "$.metadata.labels.x == 'y'", "has($.metadata.labels) && 'x' in $.metadata.labels",
	"$.metadata.name.startsWith('a')", "request.userInfo.username == 'jane'", "$.spec.zz == 1", "has($.spec.zz)", "'a' in $.spec && $.spec.a == 'x'", "size($.spec.a) < 2", "!has($.spec.a) || $.spec.a < '2020'", "!has($.spec.a) || string($.spec.a) == '1'",
	"!has($.spec.c) || $.spec.c + 1 > 2", "!has($.spec.c) || 1 / $.spec.c > 0", "$.spec.?a.hasValue() ? $.spec.a != 'w' : true", "!has($.spec.c) || $.spec.c == 1.0", "type($.spec.a) == string", "['x', 'w'].exists(v, v == $.spec.a)", "$.spec == oldObject.spec",
	"cel.bind(v, $.spec.?c.orValue(1), v > 0)", "$.kind == 'Thing' && has($.spec.a)", "$.kind != 'Thing' || $.spec.c > 1", "$.kind == 'Thing' || $.spec.zz > 1", "!has($.spec.o) || $.spec.o.all(k, $.spec.o[k] != 'w')", "!has($.spec.a) || variables.self == $.spec.a",
}

var claimVariables = map[string][]string{
	"v":      {"object.spec.a", "has(object.spec.a) ? object.spec.a : 'x'", "object == null ? oldObject.spec.a : 'w'", "'x'"},
	"w":      {"has(object.spec.c)", "request.operation == 'DELETE'", "object.spec.b", "oldObject == null"},
	"either": {"object", "has(request.operation) && request.operation == 'DELETE' && object == null ? oldObject : object", "oldObject != null ? oldObject : object"},
	"self":   {"object.spec.?a.orValue('x')", "object.spec.a"},
}

var claimValues = map[string][]any{
	"a": {"", "x", "w", "z", "2020-01-01T00:00:00Z", nil, int64(1)}, "c": {int64(0), int64(1), int64(2), int64(3), 1.5, nil}, "b": {true, false},
	"l": {[]any{}, []any{"x"}, []any{"x", "w"}, []any{"w", "x", "z"}, []any{int64(1)}}, "zz": {int64(1)},
	"o": {map[string]any{}, map[string]any{"p": "x"}, map[string]any{"q": int64(1)}, map[string]any{"p": "w", "q": int64(0)}, map[string]any{"r": "w"}},
}

type claimScene struct {
	crd      *apiextensionsv1.CustomResourceDefinition
	engine   *engine.Engine
	policies [2][]map[string]any
	sets     [2]*policy.Set
}

func randomOf[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

// newClaimScene returns a random scene, or nil if a server would reject a part of it.
func newClaimScene(t *testing.T, rng *rand.Rand) *claimScene {
	t.Helper()
	var fields []string
	for _, name := range []string{"a", "b", "c", "l", "o"} {
		if rng.IntN(6) > 0 {
			fields = append(fields, fmt.Sprintf("%s: {%s}", name, randomOf(rng, claimFields[name])))
		}
	}
	s := &claimScene{crd: &apiextensionsv1.CustomResourceDefinition{}}
	if err := yaml.Unmarshal([]byte(fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, required: [spec], properties: {spec: {type: object, properties: {%s}}}}}}
`, strings.Join(fields, ", "))), s.crd); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.engine, err = engine.Compile(s.crd, engine.Config{}); err != nil {
		return nil
	}
	operations := randomOf(rng, []string{"[CREATE]", "[CREATE, UPDATE]", "[DELETE]", `["*"]`, "[UPDATE]"})
	var expressions []string
	for i := range s.policies {
		if n := len(expressions); i == 0 || rng.IntN(2) == 0 || n == 1 {
			expressions = append(expressions, randomExpression(rng))
		} else {
			expressions = expressions[1:]
		}
		if s.policies[i], err = claimPolicy(rng, operations, expressions); err != nil {
			t.Fatal(err)
		}
		if i == 1 && rng.IntN(2) == 0 {
			spec, first := s.policies[1][0]["spec"].(map[string]any), s.policies[0][0]["spec"].(map[string]any)
			spec["variables"], spec["matchConditions"] = first["variables"], first["matchConditions"]
		}
		if s.sets[i], err = policy.Compile(s.policies[i], policy.Config{New: true}); err != nil {
			return nil
		}
	}
	return s
}

func randomExpression(rng *rand.Rand) string {
	x := strings.ReplaceAll(randomOf(rng, claimConditions), "$", randomOf(rng, []string{"object", "object", "object", "oldObject"}))
	switch rng.IntN(6) {
	case 0:
		return "(" + x + ") && (" + randomExpression(rng) + ")"
	case 1:
		return "(" + x + ") || (" + randomExpression(rng) + ")"
	}
	return x
}

func claimPolicy(rng *rand.Rand, operations string, expressions []string) (docs []map[string]any, err error) {
	var variables, validations []string
	for _, name := range []string{"v", "w", "either", "self"} {
		variables = append(variables, fmt.Sprintf("{name: %s, expression: %q}", name, randomOf(rng, claimVariables[name])))
	}
	for _, x := range expressions {
		validations = append(validations, fmt.Sprintf("{expression: %q}", x))
	}
	conditions := ""
	if rng.IntN(4) == 0 {
		conditions = fmt.Sprintf("  matchConditions: [{name: c, expression: %q}]\n", strings.ReplaceAll(randomOf(rng, claimConditions[:14]), "$", "object"))
	}
	text := fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: %s, resources: [things]}]}
  variables: [%s]
  validations: [%s]
%s---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny]}
`, operations, strings.Join(variables, ", "), strings.Join(validations, ", "), conditions)
	for part := range strings.SplitSeq(text, "---\n") {
		data, err := yaml.YAMLToJSON([]byte(part))
		if err != nil {
			return nil, err
		}
		doc, err := engine.Decode(data)
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// object returns an object as it is persisted, or nil if the CRD rejects it.
func (s *claimScene) object(t *testing.T, rng *rand.Rand) map[string]any {
	spec := map[string]any{}
	for _, name := range []string{"a", "b", "c", "l", "o", "zz"} {
		if rng.IntN(2) == 0 {
			spec[name] = randomOf(rng, claimValues[name])
		}
	}
	meta := map[string]any{"name": randomOf(rng, []string{"a", "b"}), "namespace": "default"}
	if rng.IntN(3) == 0 {
		meta["labels"] = map[string]any{"x": randomOf(rng, []string{"y", "z"})}
	}
	data, err := json.Marshal(map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": meta, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.engine.Validate(t.Context(), engine.Request{Raw: data})
	if err != nil {
		t.Fatal(err)
	}
	if !res.Allowed {
		return nil
	}
	return res.Object
}

func (s *claimScene) request(t *testing.T, rng *rand.Rand) *policy.Request {
	object, old := s.object(t, rng), s.object(t, rng)
	if object == nil || old == nil {
		return nil
	}
	req := &policy.Request{
		Operation: randomOf(rng, []policy.Operation{policy.OperationCreate, policy.OperationUpdate, policy.OperationDelete}), Namespace: "default",
		User:     policy.User{Name: randomOf(rng, []string{"admin", "jane"})},
		Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}, Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"},
	}
	if req.Operation != policy.OperationDelete {
		req.Object = object
	}
	if req.Operation != policy.OperationCreate {
		req.OldObject = old
	}
	of := object
	if req.Object == nil {
		of = old
	}
	req.Name = of["metadata"].(map[string]any)["name"].(string)
	return req
}

func (s *claimScene) String() string {
	data, err := yaml.Marshal([]any{s.crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"], s.policies[0][0]["spec"], s.policies[1][0]["spec"]})
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// TestClaims checks what find and vet claim about random policies against random requests.
func TestClaims(t *testing.T) {
	t.Parallel()
	pairs, tries := 50, 400
	switch {
	case level.Quick():
		pairs, tries = 10, 200
	case level.Long():
		pairs, tries = 500, 10_000
	}
	proved, found, harmless, both := 0, 0, 0, 0
	for i := 0; i < pairs; i++ {
		rng := rand.New(rand.NewPCG(uint64(i), 11))
		s := newClaimScene(t, rng)
		for s == nil {
			s = newClaimScene(t, rng)
		}
		c := &policyClaims{scene: s, finders: [2]*requests.Finder{s.finder(t, 0), s.finder(t, 1)}}
		proved += c.find(t)
		found += c.against(t)
		for _, proved := range slices.Concat(slices.Collect(maps.Values(c.both[0])), slices.Collect(maps.Values(c.both[1]))) {
			if proved {
				both++
			}
		}
		harmless += c.vet(t)
		for range tries {
			if req := s.request(t, rng); req != nil {
				c.check(t, req)
			}
		}
		c.failures(t)
		if t.Failed() {
			t.Fatalf("pair %d:\n%s", i, s)
		}
	}
	t.Logf("%d proofs, %d requests found, %d harmless warnings, %d shared validations", proved, found, harmless, both)
	if proved == 0 || found == 0 || harmless == 0 || both == 0 {
		t.Errorf("got no claim of a kind")
	}
}

func (s *claimScene) finder(t *testing.T, i int) *requests.Finder {
	f, err := requests.New(t.Context(), s.crd, s.engine, "v1", requests.Config{Set: s.sets[i], Documents: s.policies[i], User: policy.User{Name: "admin"}, Steps: 300, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

type policyClaims struct {
	scene    *claimScene
	finders  [2]*requests.Finder
	never    map[int]bool                // validations of the second policy that never fail
	without  *policy.Set                 // the second policy without unused variables, or nil
	both     [2]map[int]bool             // validations of each policy whose denials the other policy is proved to share
	harmless map[string][]string         // the fields that warnings without effect name, by path
	cost     uint64                      // the largest cost, or 0
	fails    map[policy.Operation]string // for which null-object reports a failure, with the message
	seen     map[policy.Operation]int    // evaluations
	failed   map[policy.Operation]bool
}

func (c *policyClaims) find(t *testing.T) int {
	c.never, c.seen, c.failed = map[int]bool{}, map[policy.Operation]int{}, map[policy.Operation]bool{}
	for _, v := range c.finders[1].Validations() {
		never, err := c.finders[1].NeverFails(v)
		if err != nil {
			t.Fatal(err)
		}
		if never {
			c.never[v.Index] = true
		}
	}
	return len(c.never)
}

func (c *policyClaims) against(t *testing.T) (found int) {
	for i := range 2 {
		c.both[i] = map[int]bool{}
		for _, v := range c.finders[i].Validations() {
			both, err := c.finders[i].DeniedByBoth(v, c.finders[1-i])
			if err != nil {
				t.Fatal(err)
			}
			c.both[i][v.Index] = both
			answer, err := c.finders[i].FindAgainst(t.Context(), v, c.finders[1-i])
			if err != nil {
				t.Fatal(err)
			}
			if answer.Request == nil {
				continue
			}
			found++
			if both {
				t.Errorf("policy %d, validation %d: the request %+v is proved to be denied by both", i, v.Index, answer.Request)
			}
			if c.evaluate(t, c.scene.sets[i], answer.Request).Allowed || !c.evaluate(t, c.scene.sets[1-i], answer.Request).Allowed {
				t.Errorf("policy %d, validation %d: the request %+v is not denied by this policy only", i, v.Index, answer.Request)
			}
		}
	}
	return found
}

func (c *policyClaims) evaluate(t *testing.T, set *policy.Set, req *policy.Request) *policy.Result {
	res, err := set.Evaluate(t.Context(), *req)
	if err != nil || len(res.Undecided) > 0 {
		t.Fatalf("got %+v, %v", res, err)
	}
	return res
}

var undefinedField = regexp.MustCompile(`undefined field '([^']*)'`)

func (c *policyClaims) vet(t *testing.T) int {
	schemas, err := policyvet.NewSchemas("", []*apiextensionsv1.CustomResourceDefinition{c.scene.crd})
	if err != nil {
		t.Fatal(err)
	}
	reports, err := policyvet.Vet(t.Context(), c.scene.policies[1], policyvet.Config{Schemas: schemas})
	if err != nil {
		t.Fatal(err)
	}
	c.harmless, c.fails = map[string][]string{}, map[policy.Operation]string{}
	unused := map[string]bool{}
	for _, l := range reports[0].Lints {
		switch l.Name {
		case "unused-variable":
			unused[l.Path] = true
		case "null-object":
			// Conditions that are joined can decide each other, which the lint does not know.
			if operation, _, _ := strings.Cut(l.Message, " "); !strings.Contains(l.Expression, ") && (") && !strings.Contains(l.Expression, ") || (") {
				c.fails[policy.Operation(operation)] = l.Path + ": " + l.Message
			}
		}
	}
	if len(unused) > 0 {
		c.without = c.withoutVariables(t, unused)
	}
	for _, w := range reports[0].Warnings {
		fields := undefinedField.FindAllStringSubmatch(w.Message, -1)
		if !w.Harmless || strings.Count(w.Message, "ERROR: ") != len(fields) {
			continue
		}
		for _, m := range fields {
			if m[1] == "zz" { // other fields may be there, where the schema preserves them
				c.harmless[w.Path] = append(c.harmless[w.Path], m[1])
			}
		}
	}
	for _, e := range reports[0].Estimates {
		if !e.Incomplete {
			c.cost = e.Validations
		}
	}
	return len(c.harmless)
}

func (c *policyClaims) withoutVariables(t *testing.T, paths map[string]bool) *policy.Set {
	data, err := json.Marshal(c.scene.policies[1])
	if err != nil {
		t.Fatal(err)
	}
	var docs []map[string]any
	if err := json.Unmarshal(data, &docs); err != nil {
		t.Fatal(err)
	}
	spec := docs[0]["spec"].(map[string]any)
	var left []any
	for i, v := range spec["variables"].([]any) {
		if !paths[fmt.Sprintf("spec.variables[%d].expression", i)] {
			left = append(left, v)
		}
	}
	spec["variables"] = left
	set, err := policy.Compile(docs, policy.Config{})
	if err != nil {
		t.Fatalf("without unused variables: %v", err)
	}
	return set
}

var missingKey = regexp.MustCompile(`no such key: (\w+)`)

func (c *policyClaims) check(t *testing.T, req *policy.Request) {
	res := c.evaluate(t, c.scene.sets[1], req)
	if c.without != nil {
		if other := c.evaluate(t, c.without, req); other.Allowed != res.Allowed || fmt.Sprint(other.Failure) != fmt.Sprint(res.Failure) {
			t.Errorf("without unused variables: got %v, want %v", other.Failure, res.Failure)
		}
	}
	for i, res := range []*policy.Result{c.evaluate(t, c.scene.sets[0], req), res} {
		for _, e := range res.Evaluations {
			for _, d := range e.Decisions {
				if !d.Failed && c.both[i][d.Validation] && c.evaluate(t, c.scene.sets[1-i], req).Allowed {
					t.Errorf("policy %d, validation %d: %v %v is not denied by both", i, d.Validation, req.Object, req.OldObject)
				}
			}
		}
	}
	for _, e := range res.Evaluations {
		c.seen[req.Operation]++
		for _, d := range e.Decisions {
			if c.cost > 0 && uint64(max(d.Cost, 0)) > c.cost {
				t.Errorf("validation %d costs %d, estimated %d", d.Validation, d.Cost, c.cost)
			}
			if !d.Failed {
				continue
			}
			c.failed[req.Operation] = true
			path := fmt.Sprintf("spec.validations[%d].expression", d.Validation)
			if m := missingKey.FindStringSubmatch(d.Message); m != nil && slices.Contains(c.harmless[path], m[1]) {
				t.Errorf("%s fails with %q, but the warning has no effect", path, d.Message)
			}
			if c.never[d.Validation] {
				t.Errorf("validation %d is proved never to fail, but for %v %v: %s", d.Validation, req.Object, req.OldObject, d.Message)
			}
		}
	}
}

func (c *policyClaims) failures(t *testing.T) {
	for operation, message := range c.fails {
		if c.seen[operation] > 20 && !c.failed[operation] {
			t.Errorf("%s %d times without failing: %s", operation, c.seen[operation], message)
		}
	}
}
