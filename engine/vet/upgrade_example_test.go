package vet_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
)

// checkUpgrade returns the reasons not to replace old, a CRD of the cluster, with next, a CRD in JSON:
// the API server would reject next, or next would reject stored objects.
func checkUpgrade(ctx context.Context, old *apiextensionsv1.CustomResourceDefinition, next []byte, stored []map[string]any) ([]string, error) {
	report, err := vet.Vet(ctx, next, vet.Config{Old: old, VerdictOnly: true})
	switch {
	case err != nil:
		return nil, err
	case report.Undecided != nil:
		return nil, report.Undecided
	case !report.Accepted:
		return []string{report.Status.Message}, nil
	}
	e, err := engine.CompileCRD(next, engine.Config{NoRatcheting: true}) // unchanged values are checked as well
	if err != nil {
		return nil, err
	}
	var reasons []string
	for _, obj := range stored {
		res, err := e.Validate(ctx, engine.Request{Object: obj, OldObject: obj})
		if err != nil {
			return nil, err
		}
		if !res.Allowed {
			reasons = append(reasons, res.Failure.Message)
		}
	}
	return reasons, nil
}

// A controller can check an upgrade of a CRD before applying it, as checkUpgrade does in this file.
func ExampleVet_upgrade() {
	old := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(readExample("crontab/crd.yaml"), old); err != nil {
		panic(err)
	}
	next, err := yaml.YAMLToJSON(readExample("crontab-next/crd.yaml"))
	if err != nil {
		panic(err)
	}
	var stored []map[string]any // as a client lists them
	for _, image := range []string{"backup:1.4", "backup:1.5"} {
		obj, err := engine.Decode([]byte(`{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"nightly","namespace":"default",
			"uid":"1","resourceVersion":"7","creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"schedule":"0 3 * * *","image":"` + image + `"}}`))
		if err != nil {
			panic(err)
		}
		stored = append(stored, obj)
	}
	for range 2 {
		reasons, err := checkUpgrade(context.Background(), old, next, stored)
		fmt.Println(strings.Join(reasons, "\n"), err)
		old.Spec.Scope = apiextensionsv1.ClusterScoped // which an update must not change
	}
	// Output:
	// CronTab.stable.example.com "nightly" is invalid: spec.image: Invalid value: "backup:1.4": 1.4 is no longer supported <nil>
	// CustomResourceDefinition.apiextensions.k8s.io "crontabs.stable.example.com" is invalid: spec.scope: Invalid value: "Namespaced": field is immutable <nil>
}

func readExample(name string) []byte {
	data, err := os.ReadFile("../../examples/" + name)
	if err != nil {
		panic(err)
	}
	return data
}
