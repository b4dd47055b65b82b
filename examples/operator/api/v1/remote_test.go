package v1_test

import (
	"testing"

	"github.com/celadon-cel/celadon/celadontest/remote"

	v1 "example.com/operator/api/v1"
)

func TestBackupByCommand(t *testing.T) {
	crds := remote.Start(t, "../../config/crd")

	backup := nightly()
	backup.SetGroupVersionKind(v1.GroupVersion.WithKind("Backup")) // there is no scheme to get the kind from
	crds.Accepts(t, backup)

	backup.Spec.Schedule = "@daily"
	crds.Rejects(t, backup, remote.Cause{Field: "spec.schedule", Message: "must have five fields"})
}
