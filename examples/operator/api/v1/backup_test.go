package v1_test

import (
	"testing"

	"github.com/celadon-cel/celadon/celadontest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "example.com/operator/api/v1"
)

func nightly() *v1.Backup {
	return &v1.Backup{
		ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "default"},
		Spec:       v1.BackupSpec{Schedule: "0 3 * * *", Volume: "data"},
	}
}

func TestBackup(t *testing.T) {
	crds := celadontest.New(t, "../../config/crd")
	crds.Cover(t, 100) // the percentage of rules that these tests must make both pass and fail

	crds.Accepts(t, nightly())

	daily := nightly()
	daily.Spec.Schedule = "@daily"
	crds.Rejects(t, daily, celadontest.Cause{Field: "spec.schedule", Message: "must have five fields"})

	many := nightly()
	many.Spec.Keep = new(int32(20))
	crds.Rejects(t, many, celadontest.Field("spec.keep"))

	moved := nightly()
	moved.Spec.Volume = "other"
	crds.Update(nightly()).Rejects(t, moved, celadontest.Message("is immutable"))

	done := nightly()
	done.Status.Phase = "Done"
	crds.Status(nightly()).Rejects(t, done, celadontest.Field("status.phase"))
}
