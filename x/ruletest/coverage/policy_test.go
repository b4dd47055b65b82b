package coverage

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
)

const coveredPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}]}
  matchConditions: [{name: not-root, expression: request.userInfo.username != 'root'}]
  variables:
  - {name: size, expression: object.spec.size}
  - {name: big, expression: variables.size > 5}
  - {name: unused, expression: "true"}
  validations:
  - {expression: "!variables.big || has(object.spec.reason)"}
  - {expression: "object.spec.list.all(i, i > 0)"}
`

const coveredBinding = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny]}
`

func TestPolicyCoverage(t *testing.T) {
	t.Parallel()
	decode := func(text string) map[string]any {
		data, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := engine.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	set, err := policy.Compile([]map[string]any{decode(coveredPolicy), decode(coveredBinding)}, policy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rec := New()
	observe, err := rec.WatchPolicies(set)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ user, spec, want string }{
		{"root", "{}", "0:never true 0:never ran 1:never ran 2:never ran 0:never ran 1:never ran"},
		{"ann", "{size: 3, list: []}", "0: 0: 1:never true 2:never ran 0:never false|`variables.big` never true|`has(object.spec.reason)` never evaluated 1:never false|`i > 0` never evaluated"},
		{"ann", "{size: 7, list: [0, 1], reason: a}", "0: 0: 1: 2:never ran 0:never false|`has(object.spec.reason)` never false 1:`i > 0` never true"},
		{"ann", "{size: 7, list: 5}", "0: 0: 1: 2:never ran 0: 1:`i > 0` never true"},
	} {
		req := policy.Request{
			Operation: policy.OperationCreate, Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"},
			Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, Name: "w", User: policy.User{Name: tt.user},
			Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "spec": decode(tt.spec)},
		}
		res, err := set.Evaluate(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if err := observe(t.Context(), set, req, res); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range rec.Report().Items {
			var gaps []string
			for _, gap := range item.Gaps() {
				gaps = append(gaps, gap.Text)
			}
			got = append(got, string(rune('0'+item.Index))+":"+strings.Join(gaps, "|"))
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s: got %s\nwant %s", tt.spec, text, tt.want)
		}
	}
	want := PolicyCounts{Expressions: 3, Ran: 3, False: 3, Variables: 3, Evaluated: 2}
	r := rec.Report()
	if r.Policies == nil || *r.Policies != want || r.Percent() != 100 || r.Conditions != 3 {
		t.Errorf("got %+v, %v %% with %d conditions, want %+v", r.Policies, r.Percent(), r.Conditions, want)
	}
}
