package vet

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

// A KubeVersion is the verdict of one Kubernetes minor version on a CRD.
type KubeVersion struct {
	// Version is the minor version, such as "1.33".
	Version  string
	Accepted bool
	// EstimatedCost is the largest sum of estimates of a version of the CRD, in CEL cost units.
	EstimatedCost uint64
	// Causes are sorted like Report.Causes.
	Causes []engine.Cause
	// Rules has the estimates of the rules, in the order of Report.Versions.
	Rules []RuleEstimate
}

// A RuleEstimate is the estimated cost of a rule in a Kubernetes version.
type RuleEstimate struct {
	// Version is a version of the CRD.
	Version string
	Path    string
	Index   int
	// Total is the estimate for all runs of the rule on an object or the estimate of its messageExpression, whichever
	// is larger, in CEL cost units. It is 0 if Broken is set.
	Total uint64
	// Broken is set if the rule or its messageExpression does not compile.
	Broken bool
}

// How it works: most CRDs differ between Kubernetes versions only in their estimates. If nothing
// else in the CRD can differ (see differs), other versions reuse the compiled rules and estimate
// them again, with the declarations and the model of the version. All other CRDs are validated
// again as a whole.

// Config.Check has found no error in versions.
func parsed(versions []string) (list []types.Version) {
	for _, version := range versions {
		v, _ := types.ParseVersion(version)
		list = append(list, v)
	}
	return list
}

func (a *admission) kubeVersions(crd *apiextensionsv1.CustomResourceDefinition) (list []KubeVersion, err error) {
	shared := len(a.cfg.KubeVersions) > 0 && !a.differs()
	for _, v := range parsed(a.cfg.KubeVersions) {
		var one KubeVersion
		switch {
		case v == a.version:
			one = a.kubeVersion()
		case shared:
			one = a.estimated(v)
		default:
			if one, err = vetFor(a.ctx, crd, v, a.cfg); err != nil {
				return nil, fmt.Errorf("kubernetes %s: %w", v, err)
			}
		}
		list = append(list, one)
	}
	return list, nil
}

// raiseMinimum raises MinKubeVersion above the versions in KubeVersions that reject the CRD.
func (r *Report) raiseMinimum() {
	lowest, err := types.ParseVersion(r.MinKubeVersion)
	if r.MinKubeVersion == "" || err != nil {
		return
	}
	verdicts := map[string]bool{types.Version{Minor: types.Newest}.String(): true} // it accepts a CRD with a minimum
	for _, one := range r.KubeVersions {
		verdicts[one.Version] = one.Accepted
	}
	accepts := types.Version{Minor: types.Newest}
	for v := accepts; v.Minor >= lowest.Minor; v.Minor-- {
		switch accepted, known := verdicts[v.String()]; {
		case accepted:
			accepts = v
		case known:
			r.MinKubeVersion = accepts.String()
			return
		}
	}
}

func vetFor(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, v types.Version, cfg Config) (KubeVersion, error) {
	cfg.KubeVersion, cfg.KubeVersions, cfg.VerdictOnly = v.String(), nil, true
	a, failure, err := admit(ctx, crd, cfg)
	if at := (*panicsAt)(nil); errors.As(err, &at) { // the server responds with 500
		return KubeVersion{Version: v.String(), Causes: []engine.Cause{at.Cause}}, nil
	}
	var overworked *engine.WorkLimitError
	if err != nil && !errors.Is(err, errPanics) && !errors.As(err, &overworked) {
		return KubeVersion{}, err
	}
	if failure != nil || err != nil {
		return KubeVersion{Version: v.String()}, nil
	}
	return a.kubeVersion(), nil
}

func (a *admission) kubeVersion() KubeVersion {
	var r Report
	a.verdict(&r)
	one := KubeVersion{Version: a.version.String(), Accepted: r.Accepted, Causes: r.Causes}
	for _, v := range a.versions(a.estimates) {
		one.EstimatedCost = max(one.EstimatedCost, v.EstimatedCost)
		for _, r := range v.Rules {
			of := RuleEstimate{Version: v.Name, Path: r.Path, Index: r.Index, Broken: r.Broken}
			if !r.Broken {
				of.Total = max(r.EstimatedTotal, r.MessageExpressionCost)
			}
			one.Rules = append(one.Rules, of)
		}
	}
	return one
}

func (r *rule) broken() bool {
	return !r.expr.accepted() || r.message != nil && r.message.rejected
}

// differs reports whether another version might return another verdict for a reason other than its estimates.
func (a *admission) differs() bool {
	if a.old != nil || a.undecided != nil || len(a.errs) != len(a.kinds) || len(a.dropped) > 0 {
		return true
	}
	selectable := func(v apiextensions.CustomResourceDefinitionVersion) bool { return len(v.SelectableFields) > 0 }
	spec := &a.crd.Spec
	return len(spec.SelectableFields) > 0 || slices.ContainsFunc(spec.Versions, selectable) ||
		slices.ContainsFunc(a.units, (*unit).differs)
}

func (u *unit) differs() bool {
	return u.whole || schemaDiffers(u.root) || u.tree != nil && u.tree.differs() ||
		slices.ContainsFunc(u.rules, func(r *rule) bool { return !r.plain() })
}

// plain reports whether all versions certainly compile the rule in the same way. A false result may be wrong.
func (r *rule) plain() bool {
	if !r.expr.accepted() || r.spec.OptionalOldSelf != nil || !celenv.Plain(r.expr.ast) {
		return false
	}
	return r.message == nil || r.message.accepted() && celenv.Plain(r.message.ast)
}

// The results and costs of rules on defaults depend on the Kubernetes version.
func (b *branch) differs() bool {
	return b.props.Default != nil || slices.ContainsFunc(b.children, (*branch).differs)
}

func schemaDiffers(s *apiextensions.JSONSchemaProps) (found bool) {
	rewrite(func(s *apiextensions.JSONSchemaProps, nested bool) bool {
		found = found || s.Format == "k8s-short-name" || s.Format == "k8s-long-name" || nested && s.AdditionalProperties != nil || boundsDiffer(s)
		return !found
	}).all(s.DeepCopy(), false)
	return found
}

// boundsDiffer reports whether a bound might not be a value of the number's type.
func boundsDiffer(s *apiextensions.JSONSchemaProps) bool {
	if s.Type != "integer" && s.Type != "number" {
		return false
	}
	for _, bound := range []*float64{s.Minimum, s.Maximum, s.MultipleOf} {
		if bound == nil {
			continue
		}
		if s.Type == "integer" && float64(int32(*bound)) != *bound || s.Format == "float" {
			return true
		}
	}
	return false
}
