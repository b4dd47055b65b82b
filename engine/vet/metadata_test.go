package vet

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The texts are from k8s.io/apimachinery/pkg/api/validation and pkg/util/validation in each release.
func TestMetadataByMinor(t *testing.T) {
	t.Parallel()
	const words = "must be no more than 63 "
	for version, want := range map[string][]string{
		"1.28": {
			"metadata.finalizers: name part " + words + "characters",
			"metadata.labels: " + words + "characters",
			"metadata.ownerReferences.uid: uid must not be empty",
		},
		"1.34": {
			"metadata.finalizers: name part " + words + "characters",
			"metadata.labels: " + words + "characters",
			"metadata.ownerReferences.uid: must not be empty",
		},
		"1.36": {
			"metadata.finalizers: name part " + words + "bytes",
			"metadata.labels: " + words + "bytes",
			"metadata.ownerReferences.uid: must not be empty",
		},
		"1.37": {
			"metadata.finalizers: name part " + words + "bytes",
			"metadata.labels: " + words + "bytes",
			"metadata.ownerReferences[0].uid: must not be empty",
		},
	} {
		old := decodeMinorCRD(t, minorCRD(t, "{type: object}", "", "", ""))
		crd := old.DeepCopy()
		long := strings.Repeat("a", 64)
		crd.Labels = map[string]string{"a": long}
		crd.Finalizers = []string{long}
		crd.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p"}}

		created, err := VetCRD(context.Background(), crd, Config{KubeVersion: version, VerdictOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, withoutValues(created)); diff != "" {
			t.Errorf("%s, create: %s", version, diff)
		}
		updated, err := VetCRD(context.Background(), crd, Config{KubeVersion: version, VerdictOnly: true, Old: old})
		if err != nil {
			t.Fatal(err)
		}
		// An update does not validate finalizers as a change.
		thrice := []string{want[0], want[1], want[1], want[1], want[2], want[2], want[2]}
		if diff := cmp.Diff(thrice, withoutValues(updated)); diff != "" {
			t.Errorf("%s, update: %s", version, diff)
		}
	}
}

func withoutValues(r *Report) (out []string) {
	for _, c := range r.Causes {
		parts := strings.Split(c.Message, ": ")
		out = append(out, c.Field+": "+parts[len(parts)-1])
	}
	slices.Sort(out)
	return out
}
