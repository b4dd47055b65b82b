package resource

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// A Compact is a CRD for compiling and for walking schemas, without the descriptions in its schemas, because decoding
// and keeping them is expensive. The API server compares schemas including descriptions, so a Compact must not be
// vetted as an update or as the CRD before an update. It is a separate type, so the compiler rejects it where a
// complete CRD is expected.
type Compact apiextensionsv1.CustomResourceDefinition

// ForEngine returns c for functions that compile or walk schemas. Never pass the result to
// engine/vet, in particular not as the CRD before an update.
func (c *Compact) ForEngine() *apiextensionsv1.CustomResourceDefinition {
	return (*apiextensionsv1.CustomResourceDefinition)(c)
}

// SameSpec reports whether a server stores both specs in the same way, apart from descriptions.
func (c *Compact) SameSpec(other *Compact) bool {
	if reflect.DeepEqual(c.Spec, other.Spec) {
		return true
	}
	a, errA := json.Marshal(c.stored())
	b, errB := json.Marshal(other.stored())
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// ForWrites returns the spec of c without the parts that no write depends on: printer columns, short names, categories,
// and where the conversion webhook runs. It has the defaults of a server.
func (c *Compact) ForWrites() *Compact {
	spec := *c.stored()
	spec.Names.ShortNames, spec.Names.Categories = nil, nil
	if spec.Conversion.Webhook != nil {
		spec.Conversion.Webhook.ClientConfig = nil
	}
	spec.Versions = slices.Clone(spec.Versions)
	for i := range spec.Versions {
		spec.Versions[i].AdditionalPrinterColumns = nil
	}
	return &Compact{Spec: spec}
}

// stored returns the spec with the defaults of a server. It does not modify c.
func (c *Compact) stored() *apiextensionsv1.CustomResourceDefinitionSpec {
	spec := c.Spec
	spec.Conversion = spec.Conversion.DeepCopy()
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&spec)
	if w := spec.Conversion.Webhook; w != nil && w.ClientConfig != nil && w.ClientConfig.Service != nil {
		apiextensionsv1.SetDefaults_ServiceReference(w.ClientConfig.Service)
	}
	return &spec
}

// DecodeCompact is Decode without the descriptions in schemas.
func DecodeCompact(doc *input.Document) (*Compact, error) {
	if doc.Err != nil || doc.Object["kind"] != Kind {
		return nil, doc.Err
	}
	data, err := compactJSON(doc.Object)
	if err != nil {
		return nil, err
	}
	crd, err := decoded(doc, data)
	return (*Compact)(crd), err
}

func compactJSON(crd map[string]any) ([]byte, error) {
	data, err := json.Marshal(WithoutDescriptions(crd))
	if err == nil && len(data) > maxJSON {
		err = fmt.Errorf("a CustomResourceDefinition of %d KiB without its descriptions: want at most %d, the limit of etcd", len(data)>>10, maxJSON>>10)
	}
	return data, err
}

// WithoutDescriptions returns a copy of a CRD without the descriptions in its schemas.
func WithoutDescriptions(crd map[string]any) map[string]any {
	crd = runtime.DeepCopyJSON(crd)
	spec := objectAt(crd, "spec")
	withoutDescription(objectAt(spec, "validation")["openAPIV3Schema"])
	versions, _ := spec["versions"].([]any)
	for _, version := range versions {
		withoutDescription(objectAt(version, "schema")["openAPIV3Schema"])
	}
	return crd
}

// withoutDescription does not enter defaults and enums, in which a description is data.
func withoutDescription(v any) {
	schema, _ := v.(map[string]any)
	if _, ok := schema["description"].(string); ok {
		delete(schema, "description")
	}
	for _, below := range []any{schema["items"], schema["additionalProperties"]} {
		if below != nil {
			withoutDescription(below)
		}
	}
	for _, property := range objectAt(schema, "properties") {
		withoutDescription(property)
	}
}

// Applied returns the JSON of the CRD in a document as kubectl apply writes it to old, and the fields that this keeps
// although the document does not have them. Both are nil if nothing is kept, for example because old does not come
// from a server.
func Applied(doc *input.Document, old *apiextensionsv1.CustomResourceDefinition) (data []byte, kept []string) {
	if old == nil || old.UID == "" && old.Annotations[apply.LastApplied] == "" || doc.Object["apiVersion"] != APIVersion {
		return nil, nil
	}
	live, err := Mapping(old)
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

const maxKept = 60

func storedSpec(data []byte) any {
	var crd Compact
	if json.Unmarshal(data, &crd) != nil {
		return nil
	}
	spec, err := Mapping(crd.stored())
	if err != nil {
		return nil
	}
	return spec
}

// Mapping converts a value of an API type to decoded JSON.
func Mapping(v any) (map[string]any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return engine.Decode(data)
}
