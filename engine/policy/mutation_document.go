package policy

import (
	"fmt"
	"slices"
)

// A PatchType is the type of a mutation's patch.
type PatchType string

// The patch types of mutations.
const (
	PatchApplyConfiguration PatchType = "ApplyConfiguration"
	PatchJSON               PatchType = "JSONPatch"
)

type mutatingDocument struct {
	Spec struct {
		policyBase
		Mutations          []mutation `json:"mutations"`
		ReinvocationPolicy *string    `json:"reinvocationPolicy"`
	} `json:"spec"`
}

type mutation struct {
	PatchType          PatchType        `json:"patchType"`
	ApplyConfiguration *patchExpression `json:"applyConfiguration"`
	JSONPatch          *patchExpression `json:"jsonPatch"`
}

type patchExpression struct {
	Expression string `json:"expression"`
}

type mutatingBindingDocument struct {
	Spec bindingBase `json:"spec"`
}

var mutatingSince = map[string]int{"v1alpha1": 32, "v1beta1": 34, "v1": 36}

// supportsMutating adds an error if it returns false.
func (l *loader) supportsMutating(h header) bool {
	since, minor := mutatingSince[h.Version], l.set.settings.version.Minor
	if minor >= since {
		return true
	}
	fix := "remove it, or use a newer Kubernetes version"
	for _, version := range slices.Backward(versions) {
		if minor >= mutatingSince[version] {
			fix = "use " + version
		}
	}
	l.report("apiVersion", fmt.Sprintf("%s %s exists since Kubernetes 1.%d, not in 1.%d: %s", h.Version, h.Kind, since, minor, fix))
	return false
}

func (d *mutatingDocument) base() *policyBase { return &d.Spec.policyBase }

func (d *mutatingDocument) check(report reporter) {
	spec := &d.Spec
	spec.policyBase.check(report)
	checkMutable(spec.MatchConstraints, "spec.matchConstraints", report)
	if len(spec.Mutations) == 0 {
		report("spec.mutations", "the list is empty, so the policy changes nothing: add a mutation")
	}
	for i := range spec.Mutations {
		spec.Mutations[i].check(fmt.Sprintf("spec.mutations[%d]", i), report)
	}
	checkOneOf(spec.ReinvocationPolicy, "spec.reinvocationPolicy", true, report, "Never", "IfNeeded")
}

func checkMutable(m *matchResources, path string, report reporter) {
	if m == nil {
		return
	}
	for i, r := range m.ResourceRules {
		if slices.Contains(r.Operations, string(OperationDelete)) {
			report(fmt.Sprintf("%s.resourceRules[%d].operations", path, i), "a mutating policy cannot match DELETE: remove it")
		}
	}
}

func (m *mutation) check(path string, report reporter) {
	if !checkOneOf(&m.PatchType, path+".patchType", true, report, PatchApplyConfiguration, PatchJSON) {
		return
	}
	given, other, field, otherField := m.ApplyConfiguration, m.JSONPatch, "applyConfiguration", "jsonPatch"
	if m.PatchType == PatchJSON {
		given, other, field, otherField = other, given, otherField, field
	}
	if given == nil {
		report(path+"."+field, fmt.Sprintf("the field is missing, but patchType is %s", m.PatchType))
	} else {
		checkExpression(given.Expression, path+"."+field+".expression", report)
	}
	if other != nil {
		report(path+"."+otherField, fmt.Sprintf("patchType is %s: remove the field", m.PatchType))
	}
}

func (d *mutatingBindingDocument) check(report reporter) {
	if d.Spec.PolicyName == "" {
		report("spec.policyName", "the name of the policy is missing")
	}
	checkMutable(d.Spec.MatchResources, "spec.matchResources", report)
}
