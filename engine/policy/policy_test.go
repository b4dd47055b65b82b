package policy

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

// documents decodes YAML documents.
func documents(t testing.TB, texts ...string) (docs []map[string]any) {
	t.Helper()
	for _, text := range texts {
		data, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := engine.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs
}

const testPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{operations: [CREATE, UPDATE, DELETE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets, widgets/scale]}]
  variables: [{name: size, expression: object.spec.size}, {name: big, expression: variables.size > 5}]
  matchConditions: [{name: not-root, expression: request.userInfo.username != 'root'}]
  validations:
  - {expression: "!variables.big", messageExpression: "'size is ' + string(variables.size)", reason: Forbidden}
  - {expression: "request.namespace == namespaceObject.metadata.name"}
  auditAnnotations: [{key: size, valueExpression: "string(variables.size)"}]
`

const testBinding = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny, Audit]}
`

const testNamespace = `{apiVersion: v1, kind: Namespace, metadata: {name: ns, labels: {a: b}}}`

func widgetRequest(t testing.TB, op Operation, object string) Request {
	req := Request{
		Operation: op, Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"},
		Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, Name: "w", Namespace: "ns", User: User{Name: "ann"},
	}
	doc := documents(t, object)[0]
	if op == Delete {
		req.OldObject = doc
	} else {
		req.Object = doc
	}
	return req
}

func TestEvaluate(t *testing.T) {
	set, err := Compile(documents(t, testPolicy, testBinding, testNamespace), Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range []string{`{metadata: {name: w}, spec: {size: 3}}`, `{metadata: {name: w}, spec: {size: 7}}`, `{metadata: {name: w}}`} {
		res, err := set.Evaluate(context.Background(), widgetRequest(t, Create, object))
		t.Logf("%+v %v %v", res, res.Failure, err)
	}
}
