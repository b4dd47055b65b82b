package ruletest

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

const replicaLimit = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints: {resourceRules: [{apiGroups: [stable.example.com], apiVersions: [v1], operations: ["*"], resources: [crontabs]}]}
  validations:
  - expression: "(object == null ? oldObject : object).spec.replicas <= int(params.data.max)"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: limit}
spec: {policyName: limit, paramRef: {name: limits, parameterNotFoundAction: Allow}, validationActions: [Deny, Audit]}
`

func policiesOf(t testing.TB, text string) func(*Suite) (*Policies, []error) {
	t.Helper()
	var docs []map[string]any
	for part := range strings.SplitSeq(text, "\n---\n") {
		data, err := yaml.YAMLToJSON([]byte(part))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := engine.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	set, err := policy.Compile(docs, policy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := &Policies{Documents: docs, Set: set, Validation: func(string, int, string) policyrequest.Validation { return policyrequest.Validation{} }}
	return func(*Suite) (*Policies, []error) { return p, nil }
}

const policySuite = `kind: RuleTest
apiVersion: celadon/v1
name: s
policies: [p.yaml]
base: {apiVersion: stable.example.com/v1, kind: CronTab, metadata: {name: a}, spec: {image: i, schedule: a a a a a, replicas: 3}}
tests:
`

const limits = `params: [{apiVersion: v1, kind: ConfigMap, metadata: {name: limits, namespace: default}, data: {max: "%d"}}]`

const policyExample = policySuite + `- name: accepted
  params: [{apiVersion: v1, kind: ConfigMap, metadata: {name: limits}, data: {max: "3"}}]
  expect: {policies: []}
- name: denied
  params:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: limits}
    data: {max: "2"}
  user: {name: jane}
  operation: update
  expect:
    policies:
    - {policy: limit, binding: limit, validation: 0, action: Deny, message: ~failed expression}
    - {policy: limit, binding: limit, validation: 0, action: Audit, message: ~failed expression}
- name: deleted
  operation: delete
  params: [{apiVersion: v1, kind: ConfigMap, metadata: {name: limits}, data: {max: "2"}}]
  expect:
    causes:
    - message: ~denied request
`

func TestPolicyCases(t *testing.T) {
	t.Parallel()
	low, high := fmt.Sprintf(limits, 2), fmt.Sprintf(limits, 3)
	for _, tt := range []struct {
		test    string // without its name
		outcome Outcome
		message string
	}{
		{"expect: valid", Error, "no params object of v1 ConfigMap"},
		{"params: [], expect: valid", Passed, ""},
		{"params: [], expect: {policies: []}", Passed, ""},
		{high + ", expect: valid", Passed, ""},
		{high + ", expect: invalid", Failed, "want rejected; got valid"},
		{low + ", expect: valid", Failed, "denied request: failed expression"},
		{low + ", expect: invalid", Passed, ""},
		{low + ", expect: {valid: false}", Passed, ""},
		{low + ", expect: {valid: true, policies: [{policy: limit}]}", Failed, "want valid; got rejected"},
		{low + ", expect: {policies: [{policy: limit}]}", Passed, ""},
		{low + ", expect: {policies: [{policy: limit, action: Deny}]}", Failed, "no other decision; got policy limit, binding limit, spec.validations[0]: Audit"},
		{low + ", expect: {policies: [{action: Audit}, {action: Deny}]}", Passed, ""},
		{low + ", expect: {policies: [{action: Audit}, {binding: limit}]}", Passed, ""},
		{low + ", expect: {policies: [{policy: limit}, {policy: limit}]}", Failed, "got no such decision"},
		{low + ", expect: {policies: [{validation: 1}]}", Failed, "want a decision with validation 1; got no such decision"},
		{low + ", expect: {policies: [{validation: -1}]}", Failed, "want a decision with validation -1; got no such decision"},
		{low + ", expect: {policies: [{message: '~failed .*replicas'}]}", Passed, ""},
		{low + ", expect: {policies: [{message: 'failed'}]}", Failed, "message failed; got no such decision"},
		{low + ", expect: {policies: [{policy: other}]}", Failed, "no such decision: no binding of the policy matches the request"},
		{low + ", expect: {causes: [{message: '~denied request'}], policies: [{policy: limit}]}", Passed, ""},
		{low + ", expect: {warnings: [], policies: [{policy: limit}]}", Passed, ""},
		{low + ", oldPatch: {}, expect: {policies: [{policy: limit}]}", Passed, ""},
		{low + ", operation: update, expect: {policies: [{policy: limit}]}", Passed, ""},
		{low + ", operation: delete, expect: {policies: [{policy: limit}]}", Passed, ""},
		{low + ", operation: deletecollection, expect: {policies: [{policy: limit}]}", Passed, ""},
		{low + ", operation: delete, oldPatch: {spec: {replicas: 1}}, expect: {policies: []}", Passed, ""},
		{low + ", namespace: {metadata: {name: other}}, expect: valid", Passed, ""},
		{low + ", patch: {metadata: {namespace: a}}, namespace: {metadata: {name: b}}, expect: valid", Error, "the Namespace is b, but the object is in a"},
		{low + ", patch: {spec: {replicas: 50}}, expect: {policies: [{policy: limit}]}", Failed, "want an object for which policies are evaluated; got rejected: "},
		{low + ", patch: {spec: {replicas: 50}}, expect: {valid: false, policies: []}", Passed, ""},
		{low + ", kubeVersions: ['1.30'], expect: invalid", Passed, ""},
		{"params: [{apiVersion: v1, kind: ConfigMap}], expect: valid", Error, "params object 1: metadata.name must be set"},
		{"params: [{kind: ConfigMap}], expect: valid", Error, "apiVersion and kind must be set"},
		{"params: [{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}}], expect: valid", Error, "cannot be a params object"},

		{"params: {a: b}, expect: valid", Error, "params: want a list"},
		{"params: [a], expect: valid", Error, "params: want objects"},
		{"namespace: a, expect: valid", Error, "namespace: want an object"},
		{"user: jane, expect: valid", Error, "user: want a mapping with name, groups, extra"},
		{"user: {groups: [a]}, expect: valid", Error, "user: name is missing"},
		{"user: {name: a, group: [a]}, expect: valid", Error, "did you mean groups?"},
		{"user: {name: a, extra: [b]}, expect: valid", Error, "extra: want a mapping"},
		{"user: {name: a, extra: {b: c}}, expect: valid", Error, "b: want a list"},
		{"operation: patch, expect: valid", Error, "want create, update, delete, deletecollection, or connect"},
		{"operation: create, oldPatch: {}, expect: valid", Error, "a create has no old object"},
		{"operation: delete, subresource: status, oldPatch: {}, expect: valid", Error, "a subresource can only be updated"},
		{"operation: delete, expect: {object: {}}", Error, "a deleted object is not persisted"},
		{"operation: delete, expect: {maxCost: 1}", Error, "do not run on a deletion"},
		{"operation: delete, convert: v1, expect: valid", Error, "a deleted object is not converted"},
		{"expect: {policies: [{}]}", Error, "policies: no expectation"},
		{"expect: {policies: [{policie: a}]}", Error, "did you mean policy?"},
		{"expect: {policies: [{action: deny}]}", Error, `action "deny": want Deny`},
		{"expect: {policies: [{validation: -2}]}", Error, "validation: want an index"},
		{"expect: {policies: [{message: '~('}]}", Error, "not a regular expression"},
		{"expect: {causes: [], policies: []}", Error, "no expectation"},
		{"expect: refused", Error, "want valid, invalid, or the causes"},
	} {
		s := Parse("s.yaml", 1, []byte(policySuite+"- {name: a, "+tt.test+"}\n"))
		report := New(Config{Policies: policiesOf(t, replicaLimit)}).Run(t.Context(), s, exampleCRD(t), nil)
		if len(report.Errors) > 0 || len(report.Cases) != 1 {
			t.Errorf("%s: got errors %v and %d cases", tt.test, report.Errors, len(report.Cases))
			continue
		}
		if c := report.Cases[0]; c.Outcome != tt.outcome || !strings.Contains(c.Message, tt.message) {
			t.Errorf("%s: got %s, %q, want %s, %q", tt.test, c.Outcome, c.Message, tt.outcome, tt.message)
		}
	}
}

func TestPoliciesMissing(t *testing.T) {
	t.Parallel()
	head := strings.Replace(policySuite, "policies: [p.yaml]\n", "", 1)
	for text, want := range map[string]string{
		head + "- {name: a, params: [], expect: valid}":                                                                           "params: only policies see it",
		head + "- {name: a, namespace: {}, expect: valid}":                                                                        "namespace: only policies see it",
		head + "- {name: a, user: {name: a}, expect: valid}":                                                                      "user: only policies see it",
		head + "- {name: a, operation: delete, expect: valid}":                                                                    "operation delete: only policies see it",
		head + "- {name: a, expect: {policies: []}}":                                                                              "the suite has no policies",
		strings.Replace(policySuite, "[p.yaml]", "[]", 1) + "- {name: a, expect: valid}":                                          "policies: want at least one",
		strings.Replace(policySuite, "[p.yaml]", "['']", 1) + "- {name: a, expect: valid}":                                        "a path is empty",
		strings.Replace(policySuite, "[p.yaml]", "["+strings.Repeat("a,", maxPolicyPaths)+"a]", 1) + "- {name: a, expect: valid}": "too many in one suite",
		policySuite + "- {name: a, params: [" + strings.Repeat("{},", maxParams) + "{}], expect: valid}":                          "too many in one test",
		policySuite + "- {name: a, expect: valid}":                                                                                "not supported here",
	} {
		report := New(Config{}).Run(t.Context(), Parse("s.yaml", 1, []byte(text)), exampleCRD(t), nil)
		var messages []string
		for _, p := range report.Errors {
			messages = append(messages, p.Message)
		}
		for _, c := range report.Cases {
			if c.Outcome == Error {
				messages = append(messages, c.Message)
			}
		}
		if all := strings.Join(messages, "\n"); !strings.Contains(all, want) {
			t.Errorf("%.300s: got %q, want %q", text, all, want)
		}
	}
}

// Many cases with many params objects must not take time in proportion to their product.
func TestManyParams(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(policySuite)
	for i := range 50 {
		fmt.Fprintf(&b, "- name: n%d\n  expect: valid\n  params: [", i)
		for j := range 300 {
			fmt.Fprintf(&b, "{apiVersion: v1, kind: ConfigMap, metadata: {name: p%d}},", j)
		}
		b.WriteString("]\n")
	}
	report := New(Config{Policies: policiesOf(t, replicaLimit)}).Run(t.Context(), Parse("s.yaml", 1, []byte(b.String())), exampleCRD(t), nil)
	for _, c := range report.Cases {
		if c.Outcome != Passed {
			t.Fatalf("%s: %s", c.Outcome, c.Message)
		}
	}
	if len(report.Cases) != 50 {
		t.Errorf("%d cases ran, want 50", len(report.Cases))
	}
}
