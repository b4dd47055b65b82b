package mergeschema

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

func TestOfUpstream(t *testing.T) {
	t.Parallel()
	n := 0
	for _, file := range corpus.CRDFiles(t) {
		for _, v := range corpus.ReadCRD(t, file).Spec.Versions {
			var internal apiextensions.JSONSchemaProps
			if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil ||
				apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &internal, nil) != nil {
				continue
			}
			s, err := structural.NewStructural(&internal)
			if err != nil {
				continue
			}
			model := s.Unfold().ToKubeOpenAPI()
			embed(model, true)
			want, err := schemaconv.ToSchemaFromOpenAPI(map[string]*spec.Schema{rootType: model}, false)
			if err != nil {
				t.Fatal(err)
			}
			n++
			wanted, _ := want.FindNamedType(rootType)
			is := Of(s)
			got, _ := is.Schema.Resolve(is.TypeRef)
			sortFields(&got)
			if sortFields(&wanted.Atom); !reflect.DeepEqual(got, wanted.Atom) {
				t.Errorf("%s: %s: differs", file, v.Name)
			}
		}
	}
	t.Logf("%d schemas", n)
}

// embed adds the fields of objects that their schemas omit, as
// k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder does.
func embed(s *spec.Schema, object bool) {
	if s == nil {
		return
	}
	s.Nullable = false // new releases of structured-merge-diff note it, but merge the same
	for _, name := range slices.Collect(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		embed(&property, false)
		s.Properties[name] = property
	}
	if s.Items != nil {
		embed(s.Items.Schema, false)
	}
	if s.AdditionalProperties != nil {
		embed(s.AdditionalProperties.Schema, false)
	}
	if embedded, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource"); embedded || object {
		s.SetProperty("apiVersion", *spec.StringProperty())
		s.SetProperty("kind", *spec.StringProperty())
		s.SetProperty("metadata", *spec.RefSchema("#/components/schemas/" + objectMetaType))
	}
}

func sortFields(a *schema.Atom) {
	if a.List != nil {
		sortType(&a.List.ElementType)
	}
	if a.Map == nil {
		return
	}
	sortType(&a.Map.ElementType)
	slices.SortFunc(a.Map.Fields, func(a, b schema.StructField) int { return strings.Compare(a.Name, b.Name) })
	for i := range a.Map.Fields {
		sortType(&a.Map.Fields[i].Type)
	}
}

func sortType(r *schema.TypeRef) {
	if r.Inlined != (schema.Atom{}) {
		sortFields(&r.Inlined)
	}
}
