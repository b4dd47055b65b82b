package resource

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

func documents(text string) []*input.Document {
	return slices.Collect(input.Text{File: "a.yaml", Data: []byte(text)}.Documents)
}

const composite = `
apiVersion: apiextensions.crossplane.io/%s
kind: CompositeResourceDefinition
metadata: {name: xs.example.org, uid: u}
spec:
  %s
  group: example.org
  names: {kind: X, plural: xs, categories: [c]}
  claimNames: {kind: Claim, plural: ys}
  defaultCompositeDeletePolicy: Foreground
  versions:
  - {name: v1, served: true, referenceable: true, schema: {openAPIV3Schema: {properties: {metadata: {properties: {name: {maxLength: 9}}}, spec: {required: [a], properties: {a: {type: string}}}}}}}
`

func TestDefinitions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ version, scope, names, scopes string }{
		{"v1", "", "xs.example.org ys.example.org", "Cluster Namespaced"},
		{"v1", "scope: Namespaced", "xs.example.org", "Namespaced"},
		{"v2", "", "xs.example.org", "Namespaced"},
		{"v2", "scope: Cluster", "xs.example.org", "Cluster"},
		{"v2", "scope: LegacyCluster", "xs.example.org ys.example.org", "Cluster Namespaced"},
	} {
		doc := documents(fmt.Sprintf(composite, test.version, test.scope))[0]
		before := runtime.DeepCopyJSON(doc.Object)
		var names, scopes []string
		for _, d := range Definitions(doc) {
			crd, err := Decode(d)
			if err != nil || crd == nil {
				t.Fatalf("%s %s: %v", test.version, test.scope, err)
			}
			names, scopes = append(names, crd.Name), append(scopes, string(crd.Spec.Scope))
			root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
			if n := root.Properties["metadata"].Properties["name"].MaxLength; n == nil || *n != 9 || len(root.Properties["spec"].Required) != 1 {
				t.Errorf("%s: %+v", crd.Name, root)
			}
			_, nested := root.Properties["spec"].Properties["crossplane"]
			_, direct := root.Properties["spec"].Properties["compositionRef"]
			if legacy := strings.Contains(test.names, "ys."); nested == legacy || direct != legacy {
				t.Errorf("%s %s: spec.crossplane: %v, spec.compositionRef: %v", test.version, test.scope, nested, direct)
			}
		}
		if strings.Join(names, " ") != test.names || strings.Join(scopes, " ") != test.scopes {
			t.Errorf("%s %s: %v %v", test.version, test.scope, names, scopes)
		}
		if !reflect.DeepEqual(doc.Object, before) {
			t.Errorf("the document is changed: %v", doc.Object)
		}
	}
}

func TestDefinitionPaths(t *testing.T) {
	t.Parallel()
	xrd := Definitions(documents(fmt.Sprintf(composite, "v1", ""))[0])
	kcp := Definitions(documents("{apiVersion: apis.kcp.io/v1alpha1, kind: APIResourceSchema, metadata: {name: a.ws.b.c}, spec: {group: b.c, names: {kind: W, plural: ws}, versions: [{name: v1, schema: {type: object}}]}}")[0])
	for _, test := range []struct {
		doc         *input.Document
		field, want string
	}{
		{xrd[0], "spec.names.kind", "spec.names.kind"},
		{xrd[1], "spec.names.kind", "spec.claimNames.kind"},
		{xrd[1], "spec.versions[0].schema.openAPIV3Schema.properties[spec]", "spec.versions[0].schema.openAPIV3Schema.properties[spec]"},
		{kcp[0], "spec.versions[0].schema.openAPIV3Schema.properties[spec].items", "spec.versions[0].schema.properties[spec].items"},
		{kcp[0], "spec.versions[0].name", "spec.versions[0].name"},
	} {
		if got := DocumentPath(test.doc, test.field); got != test.want {
			t.Errorf("%s: %s, want %s", test.field, got, test.want)
		}
	}
}

func TestHostileDefinitions(t *testing.T) {
	t.Parallel()
	versions := "[" + strings.Repeat("{schema: {openAPIV3Schema: {}}},", maxVersions+1) + "]"
	for _, spec := range []string{
		"", "7", "[]", "{}", "{group: a}", "{group: 7, names: {plural: a}, versions: [{}]}", "{group: a, names: {plural: b}, versions: {}}",
		"{group: a, names: {plural: b}, versions: [7]}", "{group: a, names: {plural: b}, versions: []}", "{group: a, names: {plural: b}, versions: " + versions + "}",
	} {
		for _, head := range []string{"apiVersion: apiextensions.crossplane.io/v1\nkind: CompositeResourceDefinition", "apiVersion: apis.kcp.io/v1alpha1\nkind: APIResourceSchema"} {
			doc := documents(head + "\nmetadata: {name: n}\nspec: " + spec)[0]
			if got := Definitions(doc); len(got) != 1 || got[0] != doc {
				t.Errorf("%.60s: %d CRDs are generated", spec, len(got))
			}
		}
	}
	for _, version := range []string{"{}", "{schema: 7}", "{schema: {openAPIV3Schema: []}}", "{schema: {openAPIV3Schema: {properties: [], required: 7, description: {}}}}", "{name: [], served: a, schema: {openAPIV3Schema: {properties: {spec: 1, status: [], metadata: {properties: {name: {maxLength: a}}}}}}}"} {
		for _, head := range []string{"apiVersion: apiextensions.crossplane.io/v1\nkind: CompositeResourceDefinition", "apiVersion: apis.kcp.io/v1alpha1\nkind: APIResourceSchema"} {
			text := head + "\nmetadata: {name: n}\nspec: {group: a, names: {plural: b, categories: 7}, claimNames: {plural: [], kind: {}}, versions: [" + version + "]}"
			for _, d := range Definitions(documents(text)[0]) {
				_, _ = Decode(d)
				_, _ = DecodeCompact(d)
			}
		}
	}
}
