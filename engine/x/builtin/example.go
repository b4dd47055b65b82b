package builtin

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/yaml"
)

//go:embed examples.yaml
var exampleTexts []byte

var examples = sync.OnceValue(func() map[schema.GroupVersionKind]map[string]any {
	all := map[schema.GroupVersionKind]map[string]any{}
	for text := range bytes.SplitSeq(exampleTexts, []byte("\n---\n")) {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &u.Object); err != nil {
			panic(fmt.Sprintf("examples.yaml: %v", err))
		}
		all[u.GroupVersionKind()] = u.Object
	}
	return all
})

// Example returns a small object of a kind, which the caller owns. A server may reject it.
func (c *Catalog) Example(gvk schema.GroupVersionKind) map[string]any {
	u := (&unstructured.Unstructured{Object: maps.Clone(examples()[gvk])}).DeepCopy()
	if u.Object == nil {
		u.Object = map[string]any{}
	}
	if u.SetGroupVersionKind(gvk); u.GetName() == "" {
		u.SetName("example")
	}
	return u.Object
}

// CRD returns a description of a kind as a CRD, which has all its versions, the most stable first, and no
// rules. It returns nil for a kind that the catalog does not have or that has no resource. The caller owns
// it.
func (c *Catalog) CRD(kind schema.GroupKind) (*apiextensionsv1.CustomResourceDefinition, error) {
	def := &apiextensionsv1.CustomResourceDefinition{}
	def.APIVersion, def.Kind = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
	versions := &def.Spec.Versions
	for _, k := range c.kinds {
		if k.GroupKind() != kind || k.Resource == "" {
			continue
		}
		props, err := c.Schema(k.GroupVersionKind)
		if err != nil {
			return nil, err
		}
		def.Name, def.Spec.Group, def.Spec.Scope = k.GroupVersion().WithResource(k.Resource).GroupResource().String(), k.Group, apiextensionsv1.ClusterScoped
		if k.Namespaced {
			def.Spec.Scope = apiextensionsv1.NamespaceScoped
		}
		def.Spec.Names.Kind, def.Spec.Names.Plural = k.Kind, k.Resource
		v := apiextensionsv1.CustomResourceDefinitionVersion{Name: k.Version, Served: true}
		v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props}
		if slices.ContainsFunc(k.Subresources, func(s Subresource) bool { return s.Name == "status" }) {
			v.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
		}
		*versions = append(*versions, v)
	}
	if len(*versions) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(*versions, func(a, b apiextensionsv1.CustomResourceDefinitionVersion) int {
		return version.CompareKubeAwareVersionStrings(b.Name, a.Name)
	})
	(*versions)[0].Storage = true
	return def, nil
}
