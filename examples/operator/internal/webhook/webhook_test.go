package webhook_test

import (
	"os"
	"testing"

	celadon "github.com/celadon-cel/celadon/engine/admission"
	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"example.com/operator/internal/webhook"
)

func TestWebhook(t *testing.T) {
	text, err := os.ReadFile("../../config/crd/bases/example.com_backups.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, crd); err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	set := celadon.NewSet(celadon.Config{Unknown: celadon.RejectUnknown})
	r := &webhook.CRDReconciler{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(crd).Build(), Set: set}
	h := &webhook.Handler{Set: set}
	reconcile := func() {
		t.Helper()
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(crd)}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(schedule string, code int32) {
		t.Helper()
		res := h.Handle(t.Context(), create(schedule))
		got := int32(0)
		if res.Result != nil {
			got = res.Result.Code
		}
		if got != code || res.Allowed != (code == 0) {
			t.Errorf("%q: got %+v, want code %d", schedule, res, code)
		}
	}

	want("0 3 * * *", 403) // the set has no CRDs
	reconcile()
	want("0 3 * * *", 0)
	want("@daily", 422)
	if err := r.Delete(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	reconcile()
	want("0 3 * * *", 403)
	if res := h.Handle(t.Context(), admission.Request{}); res.Result.Code != 400 {
		t.Errorf("an empty request: got %+v", res)
	}
}

func create(schedule string) admission.Request {
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID:       "1",
		Operation: admissionv1.Create,
		Kind:      metav1.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Backup"},
		Object: runtime.RawExtension{Raw: []byte(`{"apiVersion":"example.com/v1","kind":"Backup",
			"metadata":{"name":"nightly","namespace":"default"},"spec":{"volume":"data","schedule":"` + schedule + `"}}`)},
	}}
}
