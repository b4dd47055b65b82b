package policyvet_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/x/analysis/policyvet"
)

// mutatingPolicyOf returns a mutating policy with a binding. patch is an ApplyConfiguration.
func mutatingPolicyOf(rules, patch, rest string) string {
	rest += fmt.Sprintf("\nreinvocationPolicy: Never\nmutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: %q}}]\n", patch)
	text := strings.ReplaceAll(policyOf(rules, rest), "ValidatingAdmission", "MutatingAdmission")
	return strings.Replace(text, ", validationActions: [Deny]", "", 1)
}

func TestMutationLints(t *testing.T) {
	t.Parallel()
	const at = "spec.mutations[0].applyConfiguration.expression"
	const pods = "CREATE core pods"
	for _, tt := range []struct {
		rules, patch, rest string
		version            string
		want               []string
		message            string
	}{
		{pods, "Object{spec: Object.spec{hostNetwork: false}}", "", "", nil, ""},
		// https://github.com/kyverno/kyverno/issues/15094: the patch is silently dropped.
		{pods, "Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: 'a'}]}}", "failurePolicy: Ignore", "", []string{"atomic-field " + at}, "silently dropped"},
		{pods, "Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: 'a'}]}}", "", "", []string{"atomic-field " + at}, "spec.tolerations of Pod is atomic: an ApplyConfiguration that sets it fails, and the request is denied; use the JSONPatch [JSONPatch{op: 'add', path: '/spec/tolerations', value: object.spec.?tolerations.orValue([]) + [Object.spec.tolerations{key: 'a'}]}]"},
		{pods, "Object{spec: Object.spec{tolerations: has(object.spec.nodeName) ? [] : [Object.spec.tolerations{key: 'a'}]}}", "", "", []string{"atomic-field " + at}, ".orValue([]) + (has(object.spec.nodeName) ? [] : [Object.spec.tolerations{key: 'a'}])}]"},
		{pods, "Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, command: ['x']})}}", "", "", []string{"atomic-field " + at}, "use a JSONPatch that also adds the missing parts of the path"},
		{pods, "Object{spec: Object.spec{nodeSelector: {'a': 'b'}}}", "", "", []string{"atomic-field " + at}, "spec.nodeSelector"},
		{pods, "Object{spec: Object.spec{?tolerations: optional.none()}}", "", "", nil, ""},
		{pods, "Object{metadata: Object.metadata{labels: {'a': 'b'}}}", "", "", nil, ""},
		{"CREATE apps deployments", "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{tolerations: []}}}}", "", "", []string{"atomic-field " + at}, "spec.template.spec.tolerations"},
		// https://github.com/kubernetes/kubernetes/issues/135560: duplicate items.
		{pods, "Object{spec: Object.spec{hostNetwork: false}}", "", "1.34", []string{"duplicate-items " + at}, "spec.containers.env"},
		{pods, "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'a'}, Object.spec.containers{name: 'a', image: 'b'}]}}", "", "", []string{"duplicate-items " + at}, "spec.containers has two items with the same key"},
		{pods, "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'a'}, Object.spec.containers{name: object.metadata.name}]}}", "", "", nil, ""},
		// Lints that validating policies have as well.
		{pods, "Object{spec: Object.spec{hostNetwork: oldObject.spec.hostNetwork}}", "", "", []string{"null-object " + at}, ""},
		{pods, "Object{}", "variables: [{name: v, expression: '1'}]", "", []string{"unused-variable spec.variables[0].expression"}, ""},
	} {
		text := mutatingPolicyOf(tt.rules, tt.patch, tt.rest)
		if tt.version == "1.34" {
			text = strings.ReplaceAll(text, "admissionregistration.k8s.io/v1\n", "admissionregistration.k8s.io/v1beta1\n")
		}
		known, err := policyvet.NewSchemas(tt.version, nil)
		if err != nil {
			t.Fatal(err)
		}
		reports, err := policyvet.Vet(context.Background(), documents(t, text), policyvet.Config{KubeVersion: tt.version, Schemas: known})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range reports {
			if !r.Accepted {
				t.Errorf("%s: %+v", tt.patch, r.Errors)
			}
			for _, l := range r.Lints {
				if !strings.Contains(l.Message, tt.message) {
					t.Errorf("%s: %s", tt.patch, l.Message)
				}
			}
		}
		if got := found(reports); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.patch, got, tt.want)
		}
	}
}

func TestMutatingBindings(t *testing.T) {
	t.Parallel()
	policy, binding, _ := strings.Cut(mutatingPolicyOf("CREATE core pods", "Object{}", ""), "\n---\n")
	if got := found(vet(t, policy)); !slices.Equal(got, []string{"no-binding "}) {
		t.Errorf("without a binding: got %q", got)
	}
	if got := found(vet(t, binding)); !slices.Equal(got, []string{"no-policy spec.policyName"}) {
		t.Errorf("without a policy: got %q", got)
	}
	other := strings.ReplaceAll(binding, "MutatingAdmission", "ValidatingAdmission")
	other = strings.Replace(other, "policyName: p", "policyName: p, validationActions: [Deny]", 1)
	if got := found(vet(t, policy+"\n---\n"+other)); !slices.Equal(got, []string{"no-binding ", "no-policy spec.policyName"}) {
		t.Errorf("with a binding of another kind: got %q", got)
	}
}
