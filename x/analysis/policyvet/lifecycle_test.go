package policyvet

import (
	"strings"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/api/admissionregistration/v1alpha1"
	"k8s.io/api/admissionregistration/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestLifetimes compares the table with the generated lifecycles of k8s.io/api, which the versions v1 do not have.
func TestLifetimes(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1.AddToScheme, v1beta1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for gvk := range scheme.AllKnownTypes() {
		of, ok := lifetimes[strings.TrimSuffix(gvk.Kind, "Binding")]
		if !ok {
			continue // such as a list
		}
		got, ok := of[gvk.Version]
		if !ok {
			t.Errorf("no lifetime of %s", gvk)
			continue
		}
		object, err := scheme.New(gvk)
		if err != nil {
			t.Fatal(err)
		}
		lived, ok := object.(interface {
			APILifecycleIntroduced() (int, int)
			APILifecycleDeprecated() (int, int)
			APILifecycleRemoved() (int, int)
		})
		if !ok {
			continue
		}
		_, introduced := lived.APILifecycleIntroduced()
		_, deprecated := lived.APILifecycleDeprecated()
		_, removed := lived.APILifecycleRemoved()
		if gvk.Version == "v1alpha1" && strings.HasPrefix(gvk.Kind, mutatingKind) {
			removed = 0 // 1.38 does not remove it, although 1.37 announced that
		}
		if want := (lifetime{introduced, deprecated, removed}); got != want {
			t.Errorf("%s: got %+v, want %+v", gvk, got, want)
		}
	}
	alpha := map[string]any{"apiVersion": "admissionregistration.k8s.io/v1alpha1", "kind": mutatingKind}
	const want = "admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy is deprecated since Kubernetes 1.35: use admissionregistration.k8s.io/v1"
	if problem, isError := unserved(alpha, 38); problem != want || isError {
		t.Errorf("1.38: got %q, %v", problem, isError)
	}
}
