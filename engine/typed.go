package engine

import (
	"encoding/json"
	"fmt"
)

// Typed converts a Go object, such as a value of a kubebuilder type, to the form that Decode
// returns. This is the object that the server receives from a client: a field without omitempty is
// present with its zero value. If obj has neither apiVersion nor kind, Typed sets those of the CRD,
// as a client's scheme does. An empty version is the storage version.
func (e *Engine) Typed(version string, obj any) (map[string]any, error) {
	v, err := e.version(version)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("object of Go type %T: %w", obj, err)
	}
	out, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("object of Go type %T: %w", obj, err)
	}
	if asString(out["apiVersion"]) == "" && asString(out["kind"]) == "" {
		out["apiVersion"], out["kind"] = v.apiVersion, e.kind
	}
	return out, nil
}
