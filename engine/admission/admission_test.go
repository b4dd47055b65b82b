package admission_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/admission"
)

// widgets is a CRD with a rule, a transition rule, defaults in every kind of schema node, a status
// subresource, and two versions, one of which is not served.
const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            default: {}
            properties:
              size: {type: integer, default: 1, x-kubernetes-validations: [{rule: self < LIMIT, message: too big}]}
              image:
                type: string
                x-kubernetes-validations: [{rule: self == oldSelf, message: is immutable, reason: FieldValueForbidden}]
              parts:
                type: array
                items: {type: object, properties: {name: {type: string}, count: {type: integer, default: 2}}}
              labels:
                type: object
                additionalProperties: {type: object, properties: {value: {type: string, default: x}}}
          status:
            type: object
            x-kubernetes-validations: [{rule: "self.ready >= 0", message: negative}]
            properties: {ready: {type: integer, default: 0}}
  - name: v0
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
`

func widgetCRD(t testing.TB, limit string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return crdOf(t, strings.ReplaceAll(widgets, "LIMIT", limit))
}

func crdOf(t testing.TB, text string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func widgetSet(t testing.TB, cfg admission.Config) *admission.Set {
	t.Helper()
	set := admission.NewSet(cfg)
	if err := set.Put(widgetCRD(t, "10")); err != nil {
		t.Fatal(err)
	}
	return set
}

// body holds the object's fields after metadata.
func object(body string) runtime.RawExtension {
	const head = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","namespace":"ns"}`
	if body != "" {
		body = "," + body
	}
	return runtime.RawExtension{Raw: []byte(head + body + "}")}
}

func create(body string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		UID:       types.UID("u-1"),
		Kind:      metav1.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"},
		Name:      "w",
		Namespace: "ns",
		Operation: admissionv1.Create,
		Object:    object(body),
	}
}

func update(body, old string) *admissionv1.AdmissionRequest {
	req := create(body)
	req.Operation, req.OldObject = admissionv1.Update, object(old)
	return req
}

func status(body, old string) *admissionv1.AdmissionRequest {
	req := update(body, old)
	req.SubResource = "status"
	return req
}

func with(req *admissionv1.AdmissionRequest, change func(*admissionv1.AdmissionRequest)) *admissionv1.AdmissionRequest {
	change(req)
	return req
}

var widgetKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

func TestDependencies(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "k8s.io/api/admission/v1") {
		t.Fatalf("go list shows %d packages, not even our own", len(deps))
	}
	libraries := 0
	for _, dep := range deps {
		if domain, _, _ := strings.Cut(dep, "/"); strings.Contains(domain, ".") {
			libraries++
		}
		for _, heavy := range []string{"go.etcd.io/", "google.golang.org/grpc", "k8s.io/client-go", "k8s.io/apiserver/pkg/server", "k8s.io/apiserver/pkg/registry", "k8s.io/apiextensions-apiserver/pkg/registry"} {
			if strings.HasPrefix(dep, heavy) {
				t.Errorf("depends on %s", dep)
			}
		}
	}
	if libraries > 290 {
		t.Errorf("links %d packages beyond the standard library: too many for a library", libraries)
	}
}

func TestNoLog(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, imported := range strings.Fields(string(out)) {
		if imported == "log" || strings.HasPrefix(imported, "log/") || strings.Contains(imported, "klog") || imported == "os" {
			t.Errorf("imports %s", imported)
		}
	}
}

func readCRD(t testing.TB, path string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return crdOf(t, string(data))
}

func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(data)
}
