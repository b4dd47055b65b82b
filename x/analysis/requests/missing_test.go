package requests_test

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/x/analysis/requests"
)

func TestMissingObjects(t *testing.T) {
	t.Parallel()
	const policy = `{kind: ValidatingAdmissionPolicy, metadata: {name: p}, spec: {paramKind: {apiVersion: v1, kind: ConfigMap}, validations: [{expression: "%s"}]}}`
	const binding = `{kind: ValidatingAdmissionPolicyBinding, metadata: {name: b}, spec: {policyName: p, %s}}`
	const named = "paramRef: {name: one}"
	for _, tt := range []struct{ expression, binding, other, want string }{
		{"params.data.a == 'x' && int(params.data['b']) > 1 && has(params.data.c) && params.data.d.size() > 1", named, "", `map[data:map[a:x b:1 c:example d:example] metadata:map[name:one namespace:default]]`},
		{"has(params.data.a) && int(params.data.a) > 1", named, "", `map[data:map[a:1] metadata:map[name:one namespace:default]]`},
		{"params.data.a == 'x'", named, "{apiVersion: v1, kind: ConfigMap, metadata: {name: one}}", ""},
		{"params.data.a == 'x'", named, "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: other}}", `map[data:map[a:x] metadata:map[name:one namespace:default]]`},
		{"true", "paramRef: {selector: {matchLabels: {a: b}}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, labels: {a: b}}}", ""},
		{"true", "paramRef: {selector: {}}", "", `map[metadata:map[labels:map[] name:example namespace:default]]`},
		{"true", named + ", matchResources: {namespaceSelector: {matchLabels: {tier: web}}}", "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {tier: web}}}", `map[metadata:map[name:one namespace:shop]]`},
		{"namespaceObject.metadata.labels.a == 'x'", "matchResources: {namespaceSelector: {matchLabels: {tier: web}}}", "", `map[metadata:map[labels:map[a:x tier:web] name:default]]`},
		{"true", "paramRef: [], matchResources: text", "", ""},
	} {
		var documents []map[string]any
		for _, text := range []string{fmt.Sprintf(policy, tt.expression), fmt.Sprintf(binding, tt.binding), tt.other} {
			var doc map[string]any
			if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
				t.Fatal(err)
			}
			documents = append(documents, doc)
		}
		missing, err := requests.MissingObjects(t.Context(), documents, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, example := range requests.Examples(missing) {
			delete(example, "apiVersion")
			delete(example, "kind")
			got = append(got, fmt.Sprint(example))
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s, %s: got %s, want %s", tt.expression, tt.binding, text, tt.want)
		}
	}
}
