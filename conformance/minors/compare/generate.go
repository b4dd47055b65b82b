package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/conformance/fuzz"
	"github.com/celadon-cel/celadon/types"
)

// A Case is a CRD and writes of its objects.
type Case struct {
	Name   string          `json:"name"`
	CRD    json.RawMessage `json:"crd"`
	Writes []*Write        `json:"-"`
}

// A Write creates an object, or updates Old.
type Write struct {
	CRD         json.RawMessage `json:"-"` // with Version only
	Version     string          `json:"version"`
	Subresource string          `json:"subresource,omitempty"`
	Object      json.RawMessage `json:"object"`
	Old         json.RawMessage `json:"old,omitempty"`
}

// A Generator generates cases.
type Generator struct {
	// Rules limits the rules of a CRD, so that more CRDs can be compared. 0 keeps all.
	Rules int

	libraries []*fuzz.Library
}

// NewGenerator returns a Generator for the functions of all minors up to last. Another last changes the cases.
func NewGenerator(last int) *Generator {
	g := &Generator{}
	for minor := types.Oldest; minor <= last; minor++ {
		g.libraries = append(g.libraries, fuzz.NewLibraryOf(types.Version{Minor: minor}))
	}
	return g
}

// Case returns the case of a seed with n writes, or nil if no CRD can have the generated schema.
// Every second seed uses the functions of the last version, the others the functions of any
// version, so that enough rules compile in each.
func (g *Generator) Case(seed uint64, n int) (*Case, error) {
	lib := g.libraries[len(g.libraries)-1]
	if seed%2 == 1 {
		lib = g.libraries[seed/2%uint64(len(g.libraries))]
	}
	scenario := fuzz.NewScenario(seed, lib)
	if scenario == nil {
		return nil, nil
	}
	crd := scenario.Definition()
	if g.Rules > 0 {
		limitRules(crd, g.Rules, seed)
	}
	c := &Case{Name: fmt.Sprintf("seed %d", seed)}
	var err error
	if c.CRD, err = json.Marshal(crd); err != nil {
		return nil, err
	}
	for _, w := range scenario.Writes(n) {
		write, err := NewWrite(crd, w.Version, w.Subresource, w.Object, w.Old)
		if err != nil {
			return nil, err
		}
		c.Writes = append(c.Writes, write)
	}
	slices.SortStableFunc(c.Writes, func(a, b *Write) int { return strings.Compare(a.Version, b.Version) })
	return c, nil
}

func limitRules(crd *apiextensionsv1.CustomResourceDefinition, n int, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range crd.Spec.Versions {
		root := crd.Spec.Versions[i].Schema.OpenAPIV3Schema
		total := 0
		eachRules(root, func(rules *apiextensionsv1.ValidationRules) { total += len(*rules) })
		keep := map[int]bool{}
		for _, k := range r.Perm(total)[:min(n, total)] {
			keep[k] = true
		}
		at := 0
		eachRules(root, func(rules *apiextensionsv1.ValidationRules) {
			var kept apiextensionsv1.ValidationRules
			for _, rule := range *rules {
				if keep[at] {
					kept = append(kept, rule)
				}
				at++
			}
			*rules = kept
		})
	}
}

// eachRules always visits schemas in the same order.
func eachRules(s *apiextensionsv1.JSONSchemaProps, f func(*apiextensionsv1.ValidationRules)) {
	f(&s.XValidations)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		eachRules(&property, f)
		s.Properties[name] = property
	}
	if s.Items != nil && s.Items.Schema != nil {
		eachRules(s.Items.Schema, f)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		eachRules(s.AdditionalProperties.Schema, f)
	}
}

// NewWrite returns a write with the type that its URL requires, because an Oracle does not decode
// other objects. The old object, which can be nil, is in the same version.
func NewWrite(crd *apiextensionsv1.CustomResourceDefinition, version, subresource string, object, old map[string]any) (*Write, error) {
	w := &Write{Version: version, Subresource: subresource}
	var err error
	if w.CRD, err = json.Marshal(ofVersion(crd, version)); err != nil {
		return nil, err
	}
	if w.Object, err = typedObject(crd, version, object); err == nil && old != nil {
		w.Old, err = typedObject(crd, version, storedObject(old))
	}
	return w, err
}

func storedObject(obj map[string]any) map[string]any {
	metadata, ok := obj["metadata"].(map[string]any)
	if !ok {
		return obj
	}
	stored := map[string]any{"uid": "1", "creationTimestamp": "2024-01-01T00:00:00Z", "resourceVersion": "1", "generation": 1}
	maps.Copy(stored, metadata)
	delete(stored, "selfLink") // servers do not store it
	out := maps.Clone(obj)
	out["metadata"] = stored
	return out
}

func typedObject(crd *apiextensionsv1.CustomResourceDefinition, version string, obj map[string]any) (json.RawMessage, error) {
	typed := maps.Clone(obj)
	if metadata, ok := obj["metadata"].(map[string]any); ok {
		typed["metadata"] = withoutDuplicates(metadata)
	}
	typed["apiVersion"], typed["kind"] = crd.Spec.Group+"/"+version, crd.Spec.Names.Kind
	return json.Marshal(typed)
}

// A server removes duplicate owner references before the registry gets the object.
func withoutDuplicates(metadata map[string]any) map[string]any {
	owners, ok := metadata["ownerReferences"].([]any)
	if !ok {
		return metadata
	}
	var kept []any
	for _, owner := range owners {
		if !slices.ContainsFunc(kept, func(o any) bool { return reflect.DeepEqual(o, owner) }) {
			kept = append(kept, owner)
		}
	}
	out := maps.Clone(metadata)
	out["ownerReferences"] = kept
	return out
}

func (w *Write) setCRD(crd json.RawMessage) error {
	all := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(crd, all); err != nil {
		return err
	}
	var err error
	w.CRD, err = json.Marshal(ofVersion(all, w.Version))
	return err
}

// ofVersion returns a CRD with a single version, so that objects are stored in that version. The
// version is not deprecated, because the warning does not come from the registry.
func ofVersion(crd *apiextensionsv1.CustomResourceDefinition, version string) *apiextensionsv1.CustomResourceDefinition {
	out := *crd
	out.Spec.Versions = slices.DeleteFunc(slices.Clone(crd.Spec.Versions), func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name != version })
	for i := range out.Spec.Versions {
		v := &out.Spec.Versions[i]
		v.Storage, v.Served, v.Deprecated, v.DeprecationWarning = true, true, false, nil
	}
	return &out
}
