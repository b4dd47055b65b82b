package controller_test

import (
	"testing"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/celadontest/fakeclient"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/operator/api/v1"
	"example.com/operator/internal/controller"
)

func TestReconcile(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	backup := &v1.Backup{
		ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "default"},
		Spec:       v1.BackupSpec{Schedule: "0 3 * * *", Volume: "data"},
	}
	crds := celadontest.New(t, "../../config/crd")
	c := fakeclient.Config{Scheme: scheme}.NewClientBuilder(t, crds).WithObjects(backup).Build()

	r := &controller.BackupReconciler{Client: c}
	key := client.ObjectKeyFromObject(backup)
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), key, backup); err != nil {
		t.Fatal(err)
	}
	if backup.Status.Phase != "Scheduled" || *backup.Spec.Keep != 3 {
		t.Errorf("got %+v", backup)
	}

	backup.Spec.Volume = "other"
	if err := c.Update(t.Context(), backup); !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want Invalid", err)
	}
}
