package policy

import (
	"context"
	"testing"
)

const fiveValidations = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}]}
  validations:
  - {expression: object.spec.size <= 10}
  - {expression: has(object.metadata.labels) && 'team' in object.metadata.labels}
  - {expression: "object.spec.names.all(n, n.startsWith('a'))"}
  - {expression: object.spec.image.startsWith('registry.example.com/')}
  - {expression: "object.spec.ports.exists(p, p.port == 443) || object.metadata.namespace == 'ns'"}
`

func BenchmarkEvaluate(b *testing.B) {
	set := mustCompile(b, Config{}, fiveValidations, testBinding)
	req := widgetRequest(b, OperationCreate, `{metadata: {name: w, namespace: ns, labels: {team: x}}, spec: {size: 3, names: [a1, a2, a3], image: registry.example.com/a, ports: [{port: 80}, {port: 443}]}}`)
	b.ReportAllocs()
	for b.Loop() {
		if res, err := set.Evaluate(context.Background(), req); err != nil || !res.Allowed {
			b.Fatal(res, err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	docs := documents(b, fiveValidations, testBinding)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(docs, Config{}); err != nil {
			b.Fatal(err)
		}
	}
}
