package builtin_test

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/engine"
)

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out, err := engine.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: nginx}
`

func TestValidate(t *testing.T) {
	res, err := builtin.Validate(t.Context(), builtin.Request{Object: object(t, deployment), FieldValidation: "Strict"})
	if err != nil {
		t.Fatal(err)
	}
	if spec, _ := res.Object["spec"].(map[string]any); !res.Allowed || spec["replicas"] != int64(1) {
		t.Errorf("got %+v, want a Deployment with one replica", res)
	}
}
