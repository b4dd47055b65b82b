package admission_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
)

func TestImageIsImmutable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/crontab/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	stored, changed := cronTab(t, "backup:1.4"), cronTab(t, "backup:1.5")
	res, err := e.Validate(t.Context(), engine.Request{Object: changed, OldObject: stored})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Causes) != 1 || res.Causes[0].Field != "spec.image" {
		t.Errorf("got %v", res.Failure)
	}
	if res.Cost > 100 {
		t.Errorf("cost %d", res.Cost)
	}
}

func cronTab(t *testing.T, image string) map[string]any {
	t.Helper()
	obj, err := engine.Decode([]byte(`{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"nightly"},
		"spec":{"schedule":"0 3 * * *","image":"` + image + `"}}`))
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

// Compile ignores rules under a misspelled key.
func TestVetTellsWhatCompileDoesNot(t *testing.T) {
	t.Parallel()
	text := readFile(t, "../../examples/crontab/crd.yaml")
	for misspelt, want := range map[string]bool{"x-kubernetes-validations": true, "x-kubernetes-validation": false} {
		crdJSON, err := yaml.YAMLToJSON([]byte(strings.ReplaceAll(text, "x-kubernetes-validations", misspelt)))
		if err != nil {
			t.Fatal(err)
		}
		if err := serverTakes(t.Context(), crdJSON); (err == nil) != want {
			t.Errorf("%s: %v", misspelt, err)
		}
	}
}

func serverTakes(ctx context.Context, crdJSON []byte) error {
	verdict, err := vet.Vet(ctx, crdJSON, vet.Config{VerdictOnly: true})
	if err != nil {
		return err
	}
	if !verdict.Accepted {
		return fmt.Errorf("%s: %s", verdict.Name, verdict.Status.Message)
	}
	return nil
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
