package lsp

import (
	"context"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
)

// elsewhere lists lints about what may be in another file.
var elsewhere = []string{"no-binding", "no-policy"}

// ofPolicies adds the findings of celadon vet about policies.
func (v *view) ofPolicies(ctx context.Context, parts []*part) {
	var policies []*part
	var documents []map[string]any
	for _, p := range parts {
		if p.documentType == admission {
			policies, documents = append(policies, p), append(documents, p.doc.Object)
		}
	}
	if len(policies) == 0 {
		return
	}
	reports, err := v.vetPolicies(ctx, documents)
	if err != nil {
		if ctx.Err() == nil {
			v.log(protocol.Error, fmt.Sprintf("%s: policies were not vetted: %v", v.name, err))
		}
		return
	}
	for _, r := range reports {
		p := policies[r.Document]
		for _, e := range r.Errors {
			v.addPolicyFinding(p, e.Path, "error", "rejected", e.Message)
		}
		for _, w := range r.Warnings {
			if !w.Harmless {
				v.addPolicyFinding(p, w.Path, "warning", "type", w.Message)
			}
		}
		for _, l := range r.Lints {
			v.addPolicyFinding(p, l.Path, "warning", l.Name, l.Message)
		}
	}
}

// vetPolicies vets documents with the schemas of the CRDs in force.
func (v *view) vetPolicies(ctx context.Context, documents []map[string]any) ([]*policyvet.Report, error) {
	d := v.crds.decider()
	schemas, err := policyvet.NewSchemas(d.KubeVersion, d.CRDs.Wanted(policyvet.Needs(documents)))
	if err != nil {
		return nil, err
	}
	cfg := policyvet.Config{KubeVersion: d.KubeVersion, Schemas: schemas, Without: elsewhere, Server: d.Server}
	return policyvet.Vet(ctx, documents, cfg)
}

// addPolicyFinding adds a finding at a field of a policy.
func (v *view) addPolicyFinding(p *part, path, level, id, text string) {
	at := finding.Location{Field: path}
	if path != "" {
		position := p.doc.Locate([]string{path})[0]
		at.Line, at.Column = position.Line, position.Column
	}
	f := finding.Finding{ID: id, Level: level, At: at, Message: text}
	p.findings = append(p.findings, docFinding{diagnostic: diagnostic(p.rangeOf(v.text, at), &f)})
}
