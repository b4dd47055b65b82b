package schema_test

import (
	"encoding/json"
	"fmt"

	"github.com/celadon-cel/celadon/engine/x/schema"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

func ExampleSchema() {
	var props apiextensionsv1.JSONSchemaProps
	err := json.Unmarshal([]byte(`{"type": "object", "properties": {
		"spec": {"type": "object", "required": ["size"], "properties": {
			"size": {"type": "integer", "maximum": 3}, "color": {"type": "string"}}}}}`), &props)
	if err != nil {
		panic(err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil); err != nil {
		panic(err)
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		panic(err)
	}
	s, err := schema.Compile(&props, structural, 37)
	if err != nil {
		panic(err)
	}
	old := map[string]any{"spec": map[string]any{"size": int64(5)}}
	obj := map[string]any{"spec": map[string]any{"size": int64(5), "color": "red", "colour": "red"}}
	obj, unknown, _ := s.Prepare(obj, schema.Preparation{Prune: true, Track: true, Default: true})
	fmt.Println("unknown:", unknown)
	fmt.Println("create:", s.Validate(nil, obj).ToAggregate())
	fmt.Println("update:", s.ValidateUpdate(nil, obj, old).ToAggregate())
	// Output:
	// unknown: [spec.colour]
	// create: spec.size: Invalid value: 5: spec.size in body should be less than or equal to 3
	// update: <nil>
}
