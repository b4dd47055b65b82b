package vet

import (
	"cmp"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/internal/respond"
	"github.com/celadon-cel/celadon/engine/x/expr"
)

func (a *admission) report(r *Report) {
	a.verdict(r)
	if !r.Accepted {
		r.Needs = a.newer()
	}
	if a.cfg.VerdictOnly {
		return
	}
	r.Versions = a.versions(a.unitReport)
	r.Lints = a.lints()
	r.Needs = append(r.Needs, a.dropped...)
	if r.Accepted && a.cfg.KubeVersion == "" {
		if lowest, needs, ok := a.needs(); ok {
			r.MinKubeVersion, r.Needs = lowest.String(), needs
		}
	}
}

func (a *admission) verdict(r *Report) {
	for _, err := range a.errs {
		r.Causes = append(r.Causes, a.cause(err, a.body(err)))
	}
	slices.SortStableFunc(r.Causes, func(x, y engine.Cause) int {
		return cmp.Or(cmp.Compare(x.Field, y.Field), cmp.Compare(x.Type, y.Type), cmp.Compare(x.Message, y.Message))
	})
	r.Accepted, r.Undecided = len(a.errs) == 0 && a.undecided == nil, a.undecided
	if r.Accepted {
		r.Warnings = append(r.Warnings, warnings(a.crd, a.old, a.version)...)
	} else if len(a.errs) > 0 {
		r.Status = a.invalid(r.Causes)
	}
	var sent respond.Warnings // that fit into the response headers
	for _, text := range r.Warnings {
		sent.Add(text)
	}
	r.Warnings = sent.Sent()
}

func (a *admission) cause(err *field.Error, message string) engine.Cause {
	c := engine.Cause{
		Type:    err.Type,
		Reason:  metav1.CauseType(err.Type),
		Field:   err.Field,
		Message: message,
		Detail:  err.Detail,
		Value:   err.BadValue,
		Kind:    a.kinds[err],
	}
	if _, omitted := err.BadValue.(field.OmitValueType); omitted || err.Type == field.ErrorTypeInternal { // the value of an internal error is the error
		c.Value = nil
	}
	if rule := a.refs[err]; rule != nil {
		c.Rule = &engine.RuleRef{Version: rule.unit.version(), Path: rule.at.objectPath(), Index: rule.index, Rule: rule.spec.Rule, OptionalOldSelf: expr.HasOptionalOldSelf(rule.spec.OptionalOldSelf)}
	}
	return c
}

// The results are in the order of the CRD. A version without a schema has no rules.
func (a *admission) versions(of func(*unit) Version) (list []Version) {
	byName := map[string]Version{}
	for _, u := range a.units {
		v := of(u)
		for _, name := range u.versions {
			v.Name = name
			byName[name] = v
		}
	}
	for _, version := range a.crd.Spec.Versions {
		v, ok := byName[version.Name]
		if !ok {
			v = a.estimates(&unit{})
			v.Name = version.Name
		}
		list = append(list, v)
	}
	return list
}

func (a *admission) estimates(u *unit) Version {
	v := Version{Limit: uint64(a.limits.EstimatedPerCRD), Rules: []Rule{}, Fixable: true}
	for _, r := range u.rules {
		v.EstimatedCost = cost.Add(v.EstimatedCost, cost.Add(r.total, r.message.estimate()))
		v.Rules = append(v.Rules, Rule{
			Path:                  r.at.objectPath(),
			Index:                 r.index,
			Field:                 r.path.String(),
			Rule:                  r.spec.Rule,
			MessageExpression:     r.spec.MessageExpression,
			EstimatedCost:         r.expr.estimate(),
			Cardinality:           r.times,
			EstimatedTotal:        r.total,
			Factors:               r.cardinality.Factors,
			MessageExpressionCost: r.message.estimate(),
			Limit:                 uint64(a.limits.EstimatedPerRule),
			Broken:                r.broken(),
		})
	}
	return v
}

func (a *admission) unitReport(u *unit) Version {
	v, ad := a.estimates(u), a.newAdvisor(u)
	over := ad.overLimit()
	var set values
	var stuck []*rule
	if len(over) > 0 {
		// Bounds change the schema, so the exemption for unchanged schemas no longer applies.
		ad.perRule = uint64(a.limits.EstimatedPerRule)
		set, stuck = ad.advise()
		v.Advice, v.Fixable = set.list(), len(stuck) == 0
	}
	for i, r := range u.rules {
		rule, isOver := &v.Rules[i], slices.Contains(over, r)
		if rule.Broken || !isOver && !a.cfg.Explain {
			continue
		}
		rule.OverLimit, rule.Reason = isOver, ad.reason(r)
		rule.Reason.Fixable = !slices.Contains(stuck, r)
		if isOver {
			rule.Advice = set.of(ad.of(r))
		}
	}
	return v
}

func (set values) of(d *dependence) []Advice {
	own := values{}
	for _, b := range d.all {
		if v, ok := set[b]; ok {
			own[b] = v
		}
	}
	return own.list()
}

func nameOf(raw []byte) string {
	var crd struct{ Metadata struct{ Name string } }
	if json.Unmarshal(raw, &crd) != nil {
		return ""
	}
	return crd.Metadata.Name
}
