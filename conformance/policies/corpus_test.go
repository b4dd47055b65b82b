package policies

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"k8s.io/apimachinery/pkg/runtime/schema"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
)

// readDocuments skips documents that do not decode.
func readDocuments(t testing.TB, data []byte) (docs []map[string]any) {
	t.Helper()
	reader := yamlstream.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return docs
		}
		if err != nil {
			t.Fatal(err)
		}
		converted, err := yaml.YAMLToJSON(text)
		if err != nil || bytes.Equal(bytes.TrimSpace(converted), []byte("null")) {
			continue
		}
		if doc, err := engine.Decode(converted); err == nil {
			docs = append(docs, doc)
		}
	}
}

// maxRepeats limits how often a request is evaluated with the server's code. It iterates over maps
// in random order, which can change costs and errors, and engine/policy has one of its results.
const maxRepeats = 64

// difference returns "" if both sides are equal or engine/policy is undecided.
func difference(u *Upstream, set *policy.Set, req *policy.Request) (text string, undecided []policy.Undecided) {
	got, res := Own(set, req)
	if res != nil && len(res.Undecided) > 0 {
		return "", res.Undecided
	}
	for range maxRepeats {
		want := u.Evaluate(req)
		if text = cmp.Diff(want, got, cmpopts.EquateEmpty()); text == "" {
			return "", nil
		}
	}
	return text, nil
}

func TestCorpus(t *testing.T) {
	dir := os.Getenv("CELADON_POLICIES")
	if dir == "" {
		t.Skip("CELADON_POLICIES is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	policies, dropped, requests, unknown, differences := 0, 0, 0, 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range readDocuments(t, data) {
			if doc["kind"] != "ValidatingAdmissionPolicy" {
				continue
			}
			name, _ := doc["metadata"].(map[string]any)["name"].(string)
			docs := append(corpusDocuments(t, name), doc)
			set, err := policy.Compile(docs, policy.Config{Complete: true, Authorize: allowEven})
			var invalid *policy.CompileErrors
			if errors.As(err, &invalid) && invalid.Errors[0].Dropped {
				dropped++
				continue
			}
			policies++
			u := NewUpstream(docs, policy.Config{Authorize: allowEven})
			for _, req := range corpusRequests(t, doc) {
				requests++
				text, undecided := difference(u, set, &req)
				if undecided != nil {
					unknown++
				}
				if text != "" && differences < 20 {
					differences++
					t.Errorf("%s: %s: %s %v\n%s", filepath.Base(file), name, req.Operation, req.Kind, text)
				}
			}
		}
	}
	t.Logf("policies: %d policies (%d invalid ones dropped), %d requests, %d undecided, %d differences", policies, dropped, requests, unknown, differences)
}

func allowEven(a policy.Access) policy.Authorization {
	return policy.Authorization{Known: true, Allowed: (len(a.Resource)+len(a.Verb))%2 == 0, Reason: "length"}
}

func corpusDocuments(t testing.TB, name string) []map[string]any {
	t.Helper()
	return readDocuments(t, fmt.Appendf(nil, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: %q, validationActions: [Audit, Deny], paramRef: {name: settings, namespace: ns, parameterNotFoundAction: Deny}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: c}
spec: {policyName: %q, validationActions: [Warn]}
---
{apiVersion: v1, kind: Namespace, metadata: {name: ns, creationTimestamp: "2020-01-01T00:00:00Z", labels: {a: b, environment: production, team: x}, annotations: {c: d}}, spec: {finalizers: [kubernetes]}, status: {phase: Active}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: ns}, data: {a: b, maxReplicas: "3"}}
---
{apiVersion: kubescape.io/v1, kind: ControlConfiguration, metadata: {name: settings, namespace: ns}, settings: {insecureCapabilities: [NET_ADMIN], recommendedLabels: [app]}}
`, name, name))
}

var corpusObjects = []string{
	`{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns, labels: {app: x, environment: production}}, spec: {containers: [{name: c, image: "nginx:latest", securityContext: {privileged: true, runAsUser: 0}, ports: [{containerPort: 80, hostPort: 80}], resources: {limits: {cpu: "1"}}, volumeMounts: [{name: v, mountPath: /a}], env: [{name: PASSWORD, value: x}]}], hostNetwork: true, volumes: [{name: v, hostPath: {path: /etc}}], serviceAccountName: default}}`,
	`{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns}, spec: {containers: [{name: c, image: "registry.k8s.io/pause:3.9", securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: true, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}, livenessProbe: {}, readinessProbe: {}, resources: {requests: {cpu: 100m, memory: 1Mi}, limits: {cpu: "1", memory: 1Gi}}}], automountServiceAccountToken: false}}`,
	`{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: ns, labels: {app: x}}, spec: {replicas: 5, selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: nginx, securityContext: {privileged: false}}, {name: d, image: "a/b:v1", resources: {limits: {cpu: "1", memory: 1Gi}}}]}}}}`,
	`{apiVersion: batch/v1, kind: CronJob, metadata: {name: d, namespace: ns}, spec: {schedule: "* * * * *", jobTemplate: {spec: {template: {spec: {containers: [{name: c, image: nginx}]}}}}}}`,
	`{apiVersion: v1, kind: Service, metadata: {name: s, namespace: ns}, spec: {type: NodePort, ports: [{port: 22}], externalIPs: [1.2.3.4]}}`,
	`{apiVersion: x.example.com/v1, kind: Widget, metadata: {name: w, namespace: ns, labels: {a: b}, annotations: {c: d}}, spec: {size: 3, names: [a, b]}, status: {ready: true}}`,
	`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gateways.gateway.networking.k8s.io, annotations: {gateway.networking.k8s.io/bundle-version: v1.2.0, gateway.networking.k8s.io/channel: experimental}}, spec: {group: gateway.networking.k8s.io, names: {kind: Gateway}, versions: []}}`,
}

func corpusRequests(t testing.TB, doc map[string]any) (list []policy.Request) {
	t.Helper()
	group, version, resource := firstRule(doc)
	resource, subresource, _ := strings.Cut(resource, "/")
	subresource = strings.TrimSuffix(subresource, "*")
	for _, text := range corpusObjects {
		object := readDocuments(t, []byte(text))[0]
		gv, err := schema.ParseGroupVersion(object["apiVersion"].(string))
		if err != nil {
			t.Fatal(err)
		}
		kind := gv.WithKind(object["kind"].(string))
		for _, own := range []bool{false, true} {
			target := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
			if own {
				target = gv.WithResource(strings.ToLower(kind.Kind) + "s")
			}
			req := policy.Request{Resource: target, Subresource: subresource, Kind: kind, Name: "x", Namespace: "ns", User: policy.User{Name: "system:serviceaccount:ns:sa", Groups: []string{"system:authenticated"}}}
			for _, op := range []policy.Operation{policy.OperationCreate, policy.OperationUpdate, policy.OperationDelete, policy.OperationConnect} {
				one := req
				one.Operation = op
				if op != policy.OperationDelete {
					one.Object = object
				}
				if op == policy.OperationUpdate || op == policy.OperationDelete {
					one.OldObject = object
				}
				list = append(list, one)
			}
		}
	}
	return list
}

func firstRule(doc map[string]any) (group, version, resource string) {
	rules := dig[[]any](doc, "spec", "matchConstraints", "resourceRules")
	if len(rules) == 0 {
		return "", "v1", "pods"
	}
	first := func(field, wildcard string) string {
		items := dig[[]any](rules[0], field)
		if len(items) == 0 || items[0] == "*" {
			return wildcard
		}
		text, _ := items[0].(string)
		return text
	}
	return first("apiGroups", ""), first("apiVersions", "v1"), strings.Replace(first("resources", "pods"), "*/", "pods/", 1)
}

func dig[T any](v any, path ...string) (out T) {
	for _, field := range path {
		object, _ := v.(map[string]any)
		v = object[field]
	}
	out, _ = v.(T)
	return out
}
