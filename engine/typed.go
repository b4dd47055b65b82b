package engine

import (
	"encoding/json"
	"fmt"
)

// Typed is a Go object, as a kubebuilder type, in the form of Decode: what the
// server sees of it when a client sends it, which is its JSON. A field without
// omitempty is thus there, with its zero value. An object that says neither
// apiVersion nor kind gets the CRD's, as a client's scheme adds them; version ""
// is the storage version.
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
