package verdict

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/engine/policy"
)

func (d *decision) classify() outcome {
	if d.Keyed {
		d.report.Key = d.CRDs.Key(d.doc.Identity())
	}
	if d.Elsewhere != nil && d.Elsewhere(d.report) {
		return outcome{verdict: finding.Elsewhere}
	}
	out := outcome{verdict: finding.Ignored, problem: d.Filter.Reason(d.doc)}
	switch {
	case out.problem == "" && !d.Filter.Unrendered(d.doc):
		return outcome{}
	case out.problem == "":
		out = outcome{verdict: finding.Unreadable, problem: resource.ErrTemplate.Error()}
	case out.problem != resource.ChartTemplate:
		return out
	}
	d.report.Line, d.report.Template = 0, true
	return out
}

// unevaluated returns "" unless id is a policy that is not in a, or a suite. a may be nil.
func (a *Admission) unevaluated(id input.Identity) finding.Unevaluated {
	switch group := id.GroupKind().Group; {
	case group == "admissionregistration.k8s.io" && (id.Kind == policies.Kind || id.Kind == "MutatingAdmissionPolicy"):
		same := func(p policy.Info) bool { return p.Kind == id.Kind && p.Name == id.Name }
		if a == nil || !slices.ContainsFunc(a.Policies.Set.Policies(), same) {
			return finding.UnevaluatedPolicy
		}
	case group == resource.Own && id.Kind == resource.Suite:
		return finding.UnevaluatedSuite
	}
	return ""
}

// If the rules of a policy match CRDs, CRDs are validated as objects.
func (a *Admission) matchesCRDs() bool {
	return a != nil && slices.ContainsFunc(a.Policies.Documents(), matchesCRDs)
}

func matchesCRDs(doc map[string]any) bool {
	rules, _, _ := unstructured.NestedSlice(doc, "spec", "matchConstraints", "resourceRules")
	return slices.ContainsFunc(rules, func(rule any) bool {
		fields, _ := rule.(map[string]any)
		has := func(field string, names ...string) bool {
			list, _, _ := unstructured.NestedStringSlice(fields, field)
			return slices.ContainsFunc(list, func(name string) bool { return slices.Contains(names, name) })
		}
		return has("apiGroups", "*", crdGroup) && has("resources", "*", "*/*", "customresourcedefinitions")
	})
}

// CountUnevaluated counts the policies and suites among the CRDs that are not evaluated. a is nil without policies.
func (c *CRDs) CountUnevaluated(a *Admission, s *finding.Summary) {
	for _, id := range c.others {
		s.AddUnevaluated(a.unevaluated(id))
	}
}
