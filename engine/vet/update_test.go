package vet

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/internal/testing/brokencrd"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

func TestUpdateVerdicts(t *testing.T) {
	t.Parallel()
	files := smaller(t, corpus.CRDFiles(t), 60)
	n, accepted := 300, 0
	for seed := range n {
		crd := corpus.ReadCRD(t, files[seed%len(files)])
		u := brokencrd.UpdateOf(crd, uint64(seed))
		want, got := upstream(t, u.New, u.Old), ours(t, u.New, u.Old)
		if len(want) == 0 {
			accepted++
		}
		if d := compare(got, want); d != "" {
			t.Errorf("seed %d (%q) of %s:%s", seed, u.Changes, crd.Name, d)
		}
	}
	t.Logf("%d updates of %d CRDs, %d accepted", n, len(files), accepted)
	if accepted == 0 || accepted == n {
		t.Error("want accepted and rejected updates")
	}
}

// Rules make the server require the type.
func TestUpdateWithoutType(t *testing.T) {
	t.Parallel()
	old := decodeMinorCRD(t, minorCRD(t, "{anyOf: [{required: [a]}]}", "", "preserveUnknownFields: true", ""))
	old.Spec.Versions[0].Schema.OpenAPIV3Schema.Type = ""
	for name, rules := range map[string]apiextensionsv1.ValidationRules{
		"without rules": nil, "with a rule": {{Rule: "true"}}, "with an invalid rule": {{Rule: "nope"}},
	} {
		crd := old.DeepCopy()
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema.XValidations = rules
		if d := compare(ours(t, crd, old), upstream(t, crd, old)); d != "" {
			t.Errorf("%s:%s", name, d)
		}
	}
}
