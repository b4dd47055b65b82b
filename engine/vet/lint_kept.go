package vet

import (
	"context"
	"encoding/json"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// keptUnknownFields is the name of the lint for an update that kubectl apply does not make as written.
const keptUnknownFields = "kept-unknown-fields"

// addKept adds a lint if kubectl apply would keep preserveUnknownFields: true of the old CRD. kubectl removes a field only
// if it applied the field before; CRDs that were created as v1beta1 have this value by default. raw is the new CRD.
func (r *Report) addKept(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, raw []byte, cfg Config) error {
	old := cfg.Old
	if old == nil || !old.Spec.PreserveUnknownFields || crd.Spec.PreserveUnknownFields || cfg.VerdictOnly || r.Undecided != nil ||
		slices.Contains(cfg.WithoutLints, keptUnknownFields) || setsPreserve(raw) || setsPreserve([]byte(old.Annotations[lastApplied])) {
		return nil
	}
	merged := crd.DeepCopy()
	merged.Spec.PreserveUnknownFields = true
	cfg.VerdictOnly, cfg.KubeVersions = true, nil
	applied, err := new(Report).vet(ctx, merged, cfg)
	if err != nil {
		return err
	}
	effect := "servers still do not remove unknown fields"
	if len(applied.Causes) > 0 && r.Accepted {
		effect = "the server rejects the CRD: " + applied.Causes[0].Message
	}
	r.Lints = append(r.Lints, Lint{Name: keptUnknownFields, Field: "spec", Message: "kubectl apply keeps preserveUnknownFields: true of the old CRD, " +
		"because the new CRD does not set the field (write preserveUnknownFields: false); " + effect})
	return nil
}

// setsPreserve reports whether a CRD in JSON sets preserveUnknownFields.
func setsPreserve(crd []byte) bool {
	var set struct{ Spec map[string]json.RawMessage }
	return json.Unmarshal(crd, &set) == nil && set.Spec["preserveUnknownFields"] != nil
}
