package resource

import (
	"encoding/json"
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// Applied returns the JSON of the CRD in a document as kubectl apply writes it to a stored CRD, and the fields that this keeps
// although the document does not have them. Both are nil if there are no such fields, or if old does not come from a server.
func Applied(doc *input.Document, old *apiextensionsv1.CustomResourceDefinition) (data []byte, kept []string) {
	if old == nil || old.UID == "" && old.Annotations[apply.LastApplied] == "" || doc.Object["apiVersion"] != APIVersion {
		return nil, nil
	}
	live, err := mapping(old)
	if err != nil {
		return nil, nil
	}
	live["apiVersion"], live["kind"] = APIVersion, Kind
	of := reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]()
	patch, err := apply.Patch(live, doc.Object, of)
	if err != nil || patch == nil {
		return nil, nil
	}
	if data, err = apply.Patched(live, patch, of); err != nil {
		return nil, nil
	}
	given, err := doc.JSON()
	if err != nil {
		return nil, nil
	}
	for change := range valuediff.Values(storedSpec(given), storedSpec(data)) {
		if !change.Removed {
			kept = append(kept, "spec."+engine.FormatPath(change.Path)+": "+preview.JSON(change.After, maxKept))
		}
	}
	if kept == nil {
		return nil, nil
	}
	return data, kept
}

// maxKept limits the length of a value in a note.
const maxKept = 60

// storedSpec returns the spec of a CRD with the defaults of a server, or nil.
func storedSpec(data []byte) any {
	var crd Compact
	if json.Unmarshal(data, &crd) != nil {
		return nil
	}
	spec, err := mapping(crd.stored())
	if err != nil {
		return nil
	}
	return spec
}

// mapping returns a value of the API as decoded JSON.
func mapping(v any) (map[string]any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return engine.Decode(data)
}
