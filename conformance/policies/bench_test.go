package policies

import (
	"context"
	"testing"

	"github.com/celadon-cel/celadon/engine/policy"
)

const benchmarkDocuments = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{operations: [CREATE, UPDATE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}]
  validations:
  - expression: object.spec.size <= 10
    message: the size is at most 10
  - expression: has(object.metadata.labels) && 'team' in object.metadata.labels
  - expression: object.spec.names.all(n, n.startsWith('a'))
  - expression: object.spec.image.startsWith('registry.example.com/')
  - expression: object.spec.ports.exists(p, p.port == 443) || object.metadata.namespace == 'ns'
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny]}
---
{apiVersion: v1, kind: Namespace, metadata: {name: ns}}
`

const benchmarkObject = `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: ns, labels: {team: x}}, spec: {size: 3, names: [a1, a2, a3], image: registry.example.com/a, ports: [{port: 80}, {port: 443}]}}`

func benchmarkRequest(tb testing.TB) policy.Request {
	req := NewScenario(1).Requests[0]
	req.Operation, req.Subresource, req.Namespace, req.OldObject = policy.OperationCreate, "", "ns", nil
	req.Object = readDocuments(tb, []byte(benchmarkObject))[0]
	return req
}

func BenchmarkOwn(b *testing.B) {
	set, err := policy.Compile(readDocuments(b, []byte(benchmarkDocuments)), policy.Config{})
	if err != nil {
		b.Fatal(err)
	}
	req := benchmarkRequest(b)
	b.ReportAllocs()
	for b.Loop() {
		res, err := set.Evaluate(context.Background(), req)
		if err != nil || !res.Allowed || len(res.Evaluations) != 1 || len(res.Undecided) > 0 {
			b.Fatal(res, err)
		}
	}
}

func BenchmarkUpstream(b *testing.B) {
	u := NewUpstream(readDocuments(b, []byte(benchmarkDocuments)), policy.Config{})
	req := benchmarkRequest(b)
	b.ReportAllocs()
	for b.Loop() {
		if answer := u.Evaluate(&req); answer.Failure != nil || answer.Err != "" || answer.Cost == 0 {
			b.Fatal(answer)
		}
	}
}

func BenchmarkCompileOwn(b *testing.B) {
	docs := readDocuments(b, []byte(benchmarkDocuments))
	for b.Loop() {
		if _, err := policy.Compile(docs, policy.Config{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileUpstream(b *testing.B) {
	docs := readDocuments(b, []byte(benchmarkDocuments))
	for b.Loop() {
		NewUpstream(docs, policy.Config{})
	}
}

const mutatingDocuments = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{operations: [CREATE, UPDATE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}]
  reinvocationPolicy: Never
  mutations:
  - {patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{spec: Object.spec{size: object.spec.size + 1, ports: [Object.spec.ports{port: 443, name: 'tls'}]}}"}}
  - {patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/metadata/labels/size', value: string(object.spec.size)}]"}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p}
---
{apiVersion: v1, kind: Namespace, metadata: {name: ns}}
`

func benchmarkMutation(tb testing.TB) (*Kind, policy.Request) {
	kind, err := WidgetKind()
	if err != nil {
		tb.Fatal(err)
	}
	req := benchmarkRequest(tb)
	delete(req.Object["spec"].(map[string]any), "image")
	kind.prepare(&req)
	return kind, req
}

func BenchmarkOwnMutate(b *testing.B) {
	_, req := benchmarkMutation(b)
	set, err := policy.Compile(readDocuments(b, []byte(mutatingDocuments)), policy.Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if res, err := set.Mutate(context.Background(), req); err != nil || !res.Changed {
			b.Fatal(res, err)
		}
	}
}

func BenchmarkUpstreamMutate(b *testing.B) {
	kind, req := benchmarkMutation(b)
	u := NewMutatingUpstream(readDocuments(b, []byte(mutatingDocuments)), policy.Config{}, kind)
	b.ReportAllocs()
	for b.Loop() {
		if answer := u.Mutate(&req); answer.Failure != nil {
			b.Fatal(answer)
		}
	}
}
