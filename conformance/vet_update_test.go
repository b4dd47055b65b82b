package conformance

import (
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/conformance/fuzz"
	"github.com/celadon-cel/celadon/internal/testing/brokencrd"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

const (
	updatesSample = 300
	updatesFull   = 3000
)

func TestVetUpdates(t *testing.T) {
	n := updatesSample
	if level.Long() {
		n = updatesFull
	}
	files := crdFiles(t, vetSample)
	library := fuzz.NewLibrary()
	var cases []*vetCase
	for seed := uint64(0); len(cases) < n; seed++ {
		var id string
		var crd *apiextensionsv1.CustomResourceDefinition
		if seed%2 == 0 && len(files) > 0 {
			f := files[int(seed/2)%len(files)]
			id, crd = f.id, f.crd
		} else if w := fuzz.NewScenario(seed, library); w != nil {
			id, crd = fmt.Sprintf("scenario-%d", seed), w.Definition()
		} else {
			continue // no CRD can have this schema
		}
		u := brokencrd.UpdateOf(crd, seed)
		cases = append(cases, newVetCase(t, fmt.Sprintf("%d %s %q", seed, id, u.Changes), u.New, u.Old))
	}
	report := NewReport("vet-updates")
	startServer(t).sweepCRDs(t.Context(), cases, report)
	finish(t, report)
}

// The API server accepts a rule over the cost limit only if the schema is the same, with the same
// descriptions.
func TestVetDescriptions(t *testing.T) {
	old := expensiveCRD(t)
	described := func(name, description string) *apiextensionsv1.CustomResourceDefinition {
		crd := old.DeepCopy()
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		field := spec.Properties[name]
		field.Description = description
		spec.Properties[name] = field
		return crd
	}
	moved := old.DeepCopy()
	moved.Spec.Versions[0].AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{{Name: "x", Type: "string", JSONPath: ".spec.x", Description: "x"}}
	compareUpdates(t, "vet-descriptions", old, map[string]*apiextensionsv1.CustomResourceDefinition{
		"unchanged":          old.DeepCopy(),
		"removed":            described("list", ""),
		"changed":            described("list", "another"),
		"added":              described("other", "new"),
		"outside the schema": moved,
		"elsewhere the same": described("other", ""),
	})
}

// The API server repeats most causes, because it validates the metadata of an update once as for a new
// object and twice as a change.
func TestVetUpdatedMetadata(t *testing.T) {
	old, err := parseCRD([]byte(differencesCRD))
	if err != nil {
		t.Fatal(err)
	}
	updates := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for name, edit := range map[string]func(*metav1.ObjectMeta){
		"label key":      func(m *metav1.ObjectMeta) { m.Labels = map[string]string{"-bad": "x"} },
		"label value":    func(m *metav1.ObjectMeta) { m.Labels = map[string]string{"a": "not valid"} },
		"annotation key": func(m *metav1.ObjectMeta) { m.Annotations = map[string]string{"a/b/c": ""} },
		"finalizer":      func(m *metav1.ObjectMeta) { m.Finalizers = []string{"a b"} },
		"both finalizers": func(m *metav1.ObjectMeta) {
			m.Finalizers = []string{metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}
		},
		"owner without a uid": func(m *metav1.ObjectMeta) {
			m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p"}}
		},
		"generateName":   func(m *metav1.ObjectMeta) { m.GenerateName = "a/b" },
		"namespace":      func(m *metav1.ObjectMeta) { m.Namespace = "elsewhere" },
		"generation":     func(m *metav1.ObjectMeta) { m.Generation = -1 },
		"deletion":       func(m *metav1.ObjectMeta) { now := metav1.Now(); m.DeletionTimestamp = &now },
		"grace period":   func(m *metav1.ObjectMeta) { n := int64(3); m.DeletionGracePeriodSeconds = &n },
		"managed fields": func(m *metav1.ObjectMeta) { m.ManagedFields = []metav1.ManagedFieldsEntry{{Operation: "Nope"}} },
	} {
		updates[name] = old.DeepCopy()
		edit(&updates[name].ObjectMeta)
	}
	compareUpdates(t, "vet-updated-metadata", old, updates)
	var creates []*vetCase
	for name, crd := range updates {
		creates = append(creates, newVetCase(t, "create with "+name, crd, nil))
	}
	report := NewReport("vet-created-metadata")
	startServer(t).sweepCRDs(t.Context(), creates, report)
	finish(t, report)
}

func compareUpdates(t *testing.T, mode string, old *apiextensionsv1.CustomResourceDefinition, updates map[string]*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	var cases []*vetCase
	for name, crd := range updates {
		cases = append(cases, newVetCase(t, name, crd, old))
	}
	report := NewReport(mode)
	startServer(t).sweepCRDs(t.Context(), cases, report)
	finish(t, report)
}

func expensiveCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd, err := parseCRD([]byte(differencesCRD))
	if err != nil {
		t.Fatal(err)
	}
	items, letters := int64(2680), int64(5)
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = apiextensionsv1.JSONSchemaProps{
		Type: "object", Description: "The spec.", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"other": {Type: "string"},
			"list": {
				Type: "array", Description: "A list.", MaxItems: &items,
				Items:        &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: &letters, Description: "An item."}},
				XValidations: apiextensionsv1.ValidationRules{{Rule: "self.all(x, self.exists_one(y, x == y))"}},
			},
		},
	}
	return crd
}
