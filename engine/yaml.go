package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	goyaml "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/internal/crdjson"
)

// CompileCRD is Compile for a CRD in YAML or JSON, as in a file that controller-gen wrote. It converts a
// CRD of apiextensions.k8s.io/v1beta1 as a server does. data must be a single document.
func CompileCRD(data []byte, cfg Config) (*Engine, error) {
	json, err := document(data)
	if err != nil {
		return nil, fmt.Errorf("CRD: %w", err)
	}
	crd, err := crdjson.Decode(json, func(reason string) error {
		return &WorkLimitError{Part: "schema", Reason: reason}
	})
	if err != nil {
		return nil, fmt.Errorf("CRD: %w", err)
	}
	return Compile(crd, cfg)
}

// ValidateYAML is Validate for the create of an object in YAML or JSON, or for an update if old is not
// nil. Both must be single documents. Text that is not YAML is an error; a rejected object is not.
func (e *Engine) ValidateYAML(ctx context.Context, object, old []byte) (*Result, error) {
	var req Request
	var err error
	if req.Raw, err = document(object); err != nil {
		return nil, fmt.Errorf("object: %w", err)
	}
	if old != nil {
		json, err := document(old)
		if err != nil {
			return nil, fmt.Errorf("old object: %w", err)
		}
		if req.OldObject, err = Decode(json); err != nil {
			return nil, fmt.Errorf("old object: %w", err)
		}
	}
	return e.Validate(ctx, req)
}

// Empty documents after the first are ignored.
func document(data []byte) (json []byte, err error) {
	if json, err = yaml.YAMLToJSON(data); err != nil { // it reads the first document
		return nil, err
	}
	d := goyaml.NewDecoder(bytes.NewReader(data))
	for i := 0; ; i++ {
		var content any
		err := d.Decode(&content)
		switch {
		case errors.Is(err, io.EOF):
			return json, nil
		case err != nil:
			return nil, fmt.Errorf("after the first document: %w", err)
		case i > 0 && content != nil:
			return nil, errors.New("several documents: want a single document")
		}
	}
}

// ValidateTyped is Validate for the create of a Go object, such as a value of a kubebuilder type, or for
// an update if old is not nil. It validates what the server receives from a client: a field without
// omitempty is present with its zero value. An object with neither apiVersion nor kind gets both from
// the CRD's storage version, as from a client's scheme.
func (e *Engine) ValidateTyped(ctx context.Context, object, old any) (*Result, error) {
	var req Request
	var err error
	if req.Object, err = e.typed(object); err != nil {
		return nil, err
	}
	if old != nil {
		if req.OldObject, err = e.typed(old); err != nil {
			return nil, fmt.Errorf("old: %w", err)
		}
	}
	return e.Validate(ctx, req)
}

func (e *Engine) typed(obj any) (map[string]any, error) {
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("object of Go type %T: %w", obj, err)
	}
	out, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("object of Go type %T: %w", obj, err)
	}
	if asString(out["apiVersion"]) == "" && asString(out["kind"]) == "" {
		out["apiVersion"], out["kind"] = e.storage.apiVersion, e.info.GroupKind.Kind
	}
	return out, nil
}
