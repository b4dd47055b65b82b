package builtin_test

import (
	"testing"

	"github.com/celadon-cel/celadon/builtin"
	catalog "github.com/celadon-cel/celadon/engine/x/builtin"
)

func TestExamples(t *testing.T) {
	kinds, err := catalog.Newest()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range builtin.Resources() {
		object := kinds.Example(r.GroupVersionKind)
		res, err := builtin.Validate(t.Context(), builtin.Request{Object: object})
		switch {
		case err != nil:
			t.Errorf("%s: %v", r.GroupVersionKind, err)
		case !res.Allowed && !without[r.Kind]:
			t.Errorf("%s: %s", r.GroupVersionKind, res.Failure.Message)
		case res.Allowed && without[r.Kind]:
			t.Errorf("%s has an example", r.GroupVersionKind)
		}
	}
}

// without holds the kinds without a valid example.
var without = map[string]bool{
	"ClusterTrustBundle": true, "DeviceTaintRule": true, "LeaseCandidate": true,
	"MutatingAdmissionPolicy": true, "MutatingAdmissionPolicyBinding": true, "PodCertificateRequest": true,
	"ResourcePoolStatusRequest": true, "ResourceSlice": true, "StorageVersion": true,
	"StorageVersionMigration": true, "ValidatingAdmissionPolicy": true, "ValidatingAdmissionPolicyBinding": true,
}
