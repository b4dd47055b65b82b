package policies

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/builtin"
)

var mutableObjects = append([]string{
	`{apiVersion: v1, kind: ConfigMap, metadata: {name: zk-kafka-address, namespace: ns}, data: {a: b}}`,
	`{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: dev}, spec: {selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: nginx}]}}}}`,
	`{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: ns, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {template: {spec: {containers: [{name: c, image: nginx}]}}}}`,
}, corpusObjects[:5]...)

// corpusKind returns a kind with the schema of a built-in kind. Both sides treat its objects like custom
// resources.
func corpusKind(t testing.TB, gvk schema.GroupVersionKind) *Kind {
	t.Helper()
	catalog, err := builtin.Newest()
	if err != nil {
		t.Fatal(err)
	}
	props, err := catalog.Schema(gvk)
	if err != nil {
		t.Fatal(err)
	}
	kind, err := NewKind(crdOf(gvk.Group, gvk.Kind, strings.ToLower(gvk.Kind)+"s", props, gvk.Version))
	if err != nil {
		t.Fatal(gvk, err)
	}
	return kind
}

func TestMutatingCorpus(t *testing.T) {
	dir := os.Getenv("CELADON_POLICIES")
	if dir == "" {
		t.Skip("CELADON_POLICIES is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[schema.GroupVersionKind]*Kind{}
	count := struct{ policies, dropped, requests, changed, denied, undecided, differences int }{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range readDocuments(t, data) {
			if doc["kind"] != "MutatingAdmissionPolicy" {
				continue
			}
			doc["apiVersion"] = "admissionregistration.k8s.io/v1"
			docs := append(mutatingCorpusDocuments(t, dig[string](doc, "metadata", "name")), doc)
			set, err := policy.Compile(docs, policy.Config{Complete: true, Authorize: allowEven})
			var invalid *policy.CompileErrors
			if errors.As(err, &invalid) && invalid.Errors[0].Dropped {
				t.Logf("%s: %v", filepath.Base(file), invalid.Errors[0])
				count.dropped++
				continue
			}
			count.policies++
			for _, req := range mutatingCorpusRequests(t, doc) {
				if kinds[req.Kind] == nil {
					kinds[req.Kind] = corpusKind(t, req.Kind)
				}
				u := NewMutatingUpstream(docs, policy.Config{Authorize: allowEven}, kinds[req.Kind])
				kinds[req.Kind].prepare(&req)
				count.requests++
				text, res := mutatingDifference(u, set, &req)
				if text != "" && count.differences < 20 {
					count.differences++
					t.Errorf("%s: %s %v\n%s", filepath.Base(file), req.Operation, req.Kind, text)
				}
				if res == nil {
					continue
				}
				count.undecided += len(res.Undecided)
				if res.Changed {
					count.changed++
				}
				if !res.Allowed {
					count.denied++
				}
			}
		}
	}
	t.Logf("policies: %+v", count)
}

func mutatingCorpusDocuments(t testing.TB, name string) []map[string]any {
	t.Helper()
	return readDocuments(t, fmt.Appendf(nil, `
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: b}, spec: {policyName: %q, paramRef: {name: settings, namespace: ns, parameterNotFoundAction: Deny}}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: c}, spec: {policyName: %q}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: ns, labels: {a: b, environment: production}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: dev}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: ns}, data: {a: b, replicas: "3"}}
`, name, name))
}

func mutatingCorpusRequests(t testing.TB, doc map[string]any) (list []policy.Request) {
	t.Helper()
	group, version, resource := firstRule(doc)
	resource, subresource, _ := strings.Cut(resource, "/")
	for _, text := range mutableObjects {
		object := readDocuments(t, []byte(text))[0]
		gv, err := schema.ParseGroupVersion(object["apiVersion"].(string))
		if err != nil {
			t.Fatal(err)
		}
		req := policy.Request{
			Resource: schema.GroupVersionResource{Group: group, Version: version, Resource: resource}, Subresource: strings.TrimSuffix(subresource, "*"), Kind: gv.WithKind(object["kind"].(string)),
			Name: dig[string](object, "metadata", "name"), Namespace: dig[string](object, "metadata", "namespace"), User: policy.User{Name: "system:serviceaccount:ns:sa", Groups: []string{"system:authenticated"}}, Object: object,
		}
		for _, op := range []policy.Operation{policy.OperationCreate, policy.OperationUpdate} {
			req.Operation = op
			if op == policy.OperationUpdate {
				req.OldObject = object
			}
			list = append(list, req)
		}
	}
	return list
}
