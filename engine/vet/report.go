package vet

import (
	"cmp"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
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
	r.Versions = a.versions()
	r.Lints = a.lints()
	r.Needs = append(r.Needs, a.dropped...)
	if r.Accepted && a.cfg.KubeVersion == "" {
		if lowest, needs, ok := a.needs(); ok {
			r.MinKubeVersion, r.Needs = lowest.String(), needs
		}
	}
}

// verdict copies the response of the server into r.
func (a *admission) verdict(r *Report) {
	bodies := make(map[*field.Error]string, len(a.errs)) // some contain a whole CRD
	for _, err := range a.errs {
		bodies[err] = a.body(err)
	}
	slices.SortStableFunc(a.errs, func(x, y *field.Error) int {
		return cmp.Or(cmp.Compare(x.Field, y.Field), cmp.Compare(x.Type, y.Type), cmp.Compare(bodies[x], bodies[y]))
	})
	r.Accepted, r.Undecided = len(a.errs) == 0 && a.undecided == nil, a.undecided
	if r.Accepted {
		r.Warnings = append(r.Warnings, warnings(a.crd, a.old, a.version)...)
	} else if len(a.errs) > 0 {
		r.Status = a.invalid(bodies)
	}
	r.Warnings = sent(r.Warnings)
	for _, err := range a.errs {
		r.Causes = append(r.Causes, a.cause(err, bodies[err]))
	}
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
		c.Rule = &engine.RuleRef{Path: rule.at.objectPath(), Index: rule.index, Rule: rule.spec.Rule, OptionalOldSelf: expr.HasOptionalOldSelf(rule.spec.OptionalOldSelf)}
		if len(rule.unit.versions) == 1 {
			c.Rule.Version = rule.unit.versions[0]
		}
	}
	return c
}

func (a *admission) versions() []Version {
	byName := map[string]Version{}
	for _, u := range a.units {
		v := a.unitReport(u)
		for _, name := range u.versions {
			v.Name = name
			byName[name] = v
		}
	}
	var list []Version
	for i := range a.crd.Spec.Versions {
		name := a.crd.Spec.Versions[i].Name
		v, ok := byName[name]
		if !ok {
			v = Version{Name: name, Limit: uint64(a.limits.EstimatedPerCRD), Rules: []Rule{}, Fixable: true}
		}
		list = append(list, v)
	}
	return list
}

// estimates returns the version's rules without reasons and advice.
func (a *admission) estimates(u *unit) Version {
	v := Version{Limit: uint64(a.limits.EstimatedPerCRD), Rules: []Rule{}, Fixable: true}
	for _, r := range u.rules {
		v.EstimatedCost = cost.Add(v.EstimatedCost, cost.Add(r.total, r.messageCost()))
		v.Rules = append(v.Rules, a.rule(r))
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
		isOver := slices.Contains(over, r)
		if broken := v.Rules[i].Broken; broken || !isOver && !a.cfg.Explain {
			continue
		}
		rule := &v.Rules[i]
		rule.OverLimit, rule.Reason = isOver, ad.reason(r)
		rule.Reason.Fixable = !slices.Contains(stuck, r)
		if isOver {
			rule.Advice = set.of(ad.of(r))
		}
	}
	return v
}

// of returns the part of the advice that affects a rule.
func (set values) of(d *dependence) []Advice {
	own := values{}
	for _, b := range d.all() {
		if v, ok := set[b]; ok {
			own[b] = v
		}
	}
	return own.list()
}

func (a *admission) rule(r *rule) Rule {
	return Rule{
		Path:                  r.at.objectPath(),
		Index:                 r.index,
		Field:                 r.path.String(),
		Rule:                  r.spec.Rule,
		MessageExpression:     r.spec.MessageExpression,
		EstimatedCost:         r.cost(),
		Cardinality:           r.times,
		EstimatedTotal:        r.total,
		Factors:               r.cardinality.Factors,
		MessageExpressionCost: r.messageCost(),
		Limit:                 uint64(a.limits.EstimatedPerRule),
		Broken:                r.broken(),
	}
}

// nameOf returns the name of a CRD that cannot be decoded, or "".
func nameOf(raw []byte) string {
	var crd struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if json.Unmarshal(raw, &crd) != nil {
		return ""
	}
	return crd.Metadata.Name
}
