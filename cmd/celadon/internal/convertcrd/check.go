package convertcrd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/engine/vet"
)

var errOther = errors.New("what came of it is not what a server makes of the CRD: convert it by hand, and please report it")

// same holds that a rewritten CRD is what a server reads the one before as, but for
// how it preserves unknown fields.
func same(was map[string]any, after []byte, c change) error {
	is, err := specOf(after)
	if err != nil {
		return err
	}
	if c.kept {
		delete(was, "preserveUnknownFields")
		openRoots(was)
	}
	if !reflect.DeepEqual(was, is) {
		return errOther
	}
	return nil
}

// specOf is a CRD's spec as v1 has it, in JSON's form.
func specOf(text []byte) (map[string]any, error) {
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	crd, err := catalog.Decode(data)
	if err != nil {
		return nil, err
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	if data, err = json.Marshal(&crd.Spec); err != nil {
		return nil, err
	}
	var spec map[string]any
	return spec, json.Unmarshal(data, &spec)
}

// openRoots makes schemas keep unknown fields at their root.
func openRoots(spec map[string]any) {
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		schema, _ := version["schema"].(map[string]any)
		if schema == nil {
			schema = map[string]any{}
			version["schema"] = schema
		}
		root, _ := schema["openAPIV3Schema"].(map[string]any)
		if root == nil {
			root = map[string]any{}
			schema["openAPIV3Schema"] = root
		}
		if root["type"] == nil {
			root["type"] = "object"
		}
		if root[preserveUnknown] == nil {
			root[preserveUnknown] = true
		}
	}
}

// refusal is what v1 would say against a rewritten CRD, as kubectl prints it; ""
// where it would take it.
func refusal(ctx context.Context, place string, text []byte) (string, error) {
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		return "", err
	}
	r, err := vet.Vet(ctx, data, vet.Config{FieldValidation: "Warn", VerdictOnly: true})
	switch {
	case err != nil:
		return "", err
	case r.Undecided != nil && r.Status == nil:
		return fmt.Sprintf("%s: %s: %v\n", place, r.Name, r.Undecided), nil
	case r.Status == nil:
		return "", nil
	}
	o := &report.Object{File: place, Operation: "create", Status: &report.Status{Code: r.Status.Code, Reason: string(r.Status.Reason), Message: r.Status.Message}}
	o.Kind, o.Name = "CustomResourceDefinition", r.Name
	for _, c := range r.Causes {
		o.Causes = append(o.Causes, report.Cause{Reason: string(c.Reason), Field: c.Field, Message: c.Message})
	}
	return string(report.KubectlError(o)), nil
}
