package vet

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
)

// Report is what the API server would answer to a CRD, and why.
type Report struct {
	Name string
	// Accepted is true when the server would store the CRD.
	Accepted bool
	// Status is the server's refusal: 422 with causes, or 400 or 500 without any;
	// nil when accepted, and where nothing but Undecided keeps it from that.
	Status *metav1.Status
	// Undecided is set where a rule that runs on a default, or a pattern, asks
	// for too much work: the server might accept the CRD, were it not refused
	// for what Causes say.
	Undecided *engine.WorkLimitError
	// Causes are sorted, so that the same input gives the same bytes. A cause
	// about a rule names it. Place finds a cause's field in the CRD.
	Causes []engine.Cause
	// Panic is what of a rule makes the server panic, where Status says that it does
	// (500) and it is a rule.
	Panic *engine.Cause
	// Strict are the keys that Kubernetes does not know, and those that stand
	// twice; none where FieldValidation is "Ignore".
	Strict []engine.StrictError
	// Warnings are the server's; it gives them with accepted CRDs only, but for
	// those of keys.
	Warnings []string
	// Lints are what the server accepts and authors regret.
	Lints []Lint
	// MinKubeVersion is the lowest Kubernetes version that accepts all rules,
	// as "1.31"; it is "" for a refused CRD, and with a KubeVersion. Needs tell
	// what asks for it; with a KubeVersion they tell what has no effect there.
	MinKubeVersion string
	Needs          []Need
	// Versions are the CRD's, in its order; nil with VerdictOnly.
	Versions []Version
}

// Version is what the rules of one version are estimated to cost.
type Version struct {
	Name string
	// EstimatedCost is the sum over all rules, Limit what it may be.
	EstimatedCost, Limit uint64
	// Advice is the fewest bounds, with the largest round values, that make all
	// rules fit that bounds can make fit. Mendable is true when those are all.
	Advice   []Advice
	Mendable bool
	// Rules are in the order of the schema.
	Rules []Rule
}

// Rule is one rule and its estimate, in CEL cost units.
type Rule struct {
	// Path is the rule's place in objects, as "spec.hosts[*]"; "" is the root.
	Path string
	// Index is the rule's position in x-kubernetes-validations there.
	Index int
	// Field is the rule's place in the CRD.
	Field string
	// Rule and MessageExpression are the expressions.
	Rule, MessageExpression string
	// EstimatedCost is that of one evaluation, Cardinality how often the place
	// can occur, EstimatedTotal the product.
	EstimatedCost, Cardinality, EstimatedTotal uint64
	// Factors are the lists and maps that multiply the rule, outermost first.
	Factors []cost.Factor
	// MessageExpressionCost is that of one evaluation.
	MessageExpressionCost uint64
	// Limit is what EstimatedTotal, and MessageExpressionCost, may be.
	Limit uint64
	// Broken is true when the rule does not compile.
	Broken bool
	// Over is true when the rule passes its limit, or is part of a sum that
	// does.
	Over bool
	// Reason says why the rule costs what it does; nil unless it is Over or
	// Config.Explain is set.
	Reason *Reason
	// Advice is what of the version's advice bears on the rule.
	Advice []Advice
}

// Vet decides a CRD in JSON. A refused CRD is data in the report; the error is
// for a bad Config, a cancelled context and bugs of ours.
func Vet(ctx context.Context, raw []byte, cfg Config) (*Report, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	r := &Report{}
	crd := r.decode(raw, cfg)
	if crd == nil {
		r.Name = nameOf(raw)
		return r, nil
	}
	return r.vet(ctx, crd, cfg)
}

// VetCRD is Vet for a CRD that was decoded before, when what strict decoding
// finds is lost already. The CRD is not changed, and must not be as long as the
// report is read, which shares values with it.
func VetCRD(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, cfg Config) (*Report, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	return new(Report).vet(ctx, crd, cfg)
}

// vet completes the report on a CRD that was read.
func (r *Report) vet(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, cfg Config) (_ *Report, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error in celadon (please report it): %v", p)
		}
	}()
	r.Name = crd.Name
	if cfg.Stored {
		cfg.Old = crd
	}
	a, failure, err := admit(ctx, crd, cfg)
	if errors.As(err, &r.Undecided) {
		return r, nil
	}
	var complex *types.ComplexError
	if errors.As(err, &complex) {
		r.Undecided = &engine.WorkLimitError{Part: "schema", Reason: complex.Error()}
		return r, nil
	}
	if at := (*panicsAt)(nil); errors.As(err, &at) {
		r.Panic = &at.Cause
	}
	if errors.Is(err, errPanics) {
		failure, err = &apierrors.NewInternalError(errPanics).ErrStatus, nil
	}
	if err != nil {
		return nil, err
	}
	if failure != nil {
		r.Status = failure
		return r, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("vetting interrupted: %w", err)
	}
	a.report(r)
	return r, nil
}

// admit takes a CRD through the server's steps. The error is an
// engine.WorkLimitError for a CRD that the server's functions are not given.
func admit(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, cfg Config) (*admission, *metav1.Status, error) {
	v, err := types.ParseVersion(cfg.KubeVersion)
	if err != nil {
		return nil, nil, err
	}
	if v.Minor < types.Newest { // what it does not know is dropped in place
		crd, cfg.Old = crd.DeepCopy(), cfg.Old.DeepCopy()
	}
	var h *halves
	if cfg.Old == nil {
		h = reduce(crd, v, cfg.VerdictOnly)
	}
	var rest *apiextensions.CustomResourceDefinition
	if h != nil {
		rest = h.sound(ctx)
	} else if over := overworked(crd, cfg.Old); over != nil {
		return nil, nil, over
	}
	if rest != nil && cfg.VerdictOnly && v.Minor == types.Newest {
		if a := admitRules(ctx, rest, h.trees, v, cfg); a != nil {
			return a, nil, nil
		}
	}
	now, err := internal(crd)
	if err != nil {
		gvk := apiextensionsv1.SchemeGroupVersion.WithKind(crdKind)
		return nil, unreadable(&gvk, nil, err), nil
	}
	dropped := dropUnknown(&now.Spec, v)
	var old *apiextensions.CustomResourceDefinition
	if cfg.Old == nil {
		prepareCreate(now)
	} else {
		if old, err = internal(cfg.Old); err != nil {
			return nil, nil, fmt.Errorf("old CRD: %w", err)
		}
		dropUnknown(&old.Spec, v) // it was dropped when this one was stored
		prepareOld(old)
		prepareUpdate(now, old)
	}
	a := newAdmission(ctx, now, old, v, cfg)
	a.dropped, a.rest = dropped, rest
	return a, nil, a.run()
}

// admitRules takes only rules through the steps, where all else is sound. It gives
// nil unless the CRD is accepted: words are found with the whole.
func admitRules(ctx context.Context, rest *apiextensions.CustomResourceDefinition, trees []*branch, v types.Version, cfg Config) *admission {
	a := newAdmission(ctx, rest, nil, v, cfg)
	a.rest = rest
	for i, u := range a.units { // one, where all schemas are the same
		u.tree = trees[i]
	}
	if err := a.run(); err != nil || len(a.errs) > 0 || a.undecided != nil {
		return nil
	}
	return a
}
