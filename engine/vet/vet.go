package vet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/internal/respond"
	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/types"
)

// Report is the API server's verdict on a CRD, with causes, estimates, and advice.
type Report struct {
	Name string
	// Accepted is set if the server would store the CRD.
	Accepted bool
	// Status is the server's response to a rejected CRD: 422 with causes, or 400 or 500 without. It
	// is nil if the CRD is accepted or only Undecided keeps it from being accepted.
	Status *metav1.Status
	// Undecided is set if a rule, a rule that runs on a default, a pattern, or the conversion from v1beta1 needs
	// too much work. The server might accept the CRD if Causes is empty; otherwise, it may have further causes.
	Undecided *engine.WorkLimitError
	// Causes are sorted, so the same input produces identical output. A cause of a rule has its RuleRef.
	// Use Place to locate a cause's field in the CRD.
	Causes []engine.Cause
	// Panic locates the part of a rule that makes the server panic. It is set only if Status is 500
	// for that reason.
	Panic *engine.Cause
	// Strict lists unknown and duplicate keys. It is empty if FieldValidation is "Ignore" or Stored is set.
	Strict []engine.StrictError
	// Keys lists the unknown keys in the spec of a v1 CRD, at most 100, in the order of their paths. Following are
	// causes that the server would report only if the keys of Strict were removed and the keys of Keys corrected.
	// Their fields are paths in the CRD already.
	Keys      []UnknownKey
	Following []engine.Cause
	// Warnings are the server's warnings. With a rejected CRD, it sends only warnings about keys and about
	// v1beta1.
	Warnings []string
	// Lints are problems that the server does not report.
	Lints []Lint
	// MinKubeVersion is the lowest Kubernetes version that compiles all rules, such as "1.31", or a
	// higher version if KubeVersions has versions that reject the CRD for another reason. It is "" if
	// the CRD is rejected, no version compiles all rules, or Config.KubeVersion or VerdictOnly is set. With it, Needs
	// lists the parts of rules that require a version; otherwise, the parts that have no effect in the vetted
	// version, and those that it rejects but a later version accepts.
	MinKubeVersion string
	Needs          []Need
	// Versions are in the order of the CRD. It is nil if Config.VerdictOnly is set or the rules were not checked.
	Versions []Version
	// KubeVersions are the verdicts of Config.KubeVersions, in that order.
	KubeVersions []KubeVersion
}

// Version holds the cost estimates of a version's rules.
type Version struct {
	Name string `json:"name"`
	// EstimatedCost is the sum over all rules, Limit the largest sum that is accepted.
	EstimatedCost uint64 `json:"estimatedCost"`
	Limit         uint64 `json:"limit"`
	// Advice is a small set of bounds, with large round values, that brings under their limits all rules for which
	// bounds suffice. Fixable is set if bounds suffice for every rule.
	Fixable bool     `json:"mendable"`
	Advice  []Advice `json:"advice"`
	// Rules holds the rules of children before those of their parents.
	Rules []Rule `json:"rules"`
}

// Rule holds the estimate of a rule, in CEL cost units.
type Rule struct {
	// Path is the path in objects, such as "spec.hosts[*]"; "" is the root.
	Path string `json:"path"`
	// Index is the index in x-kubernetes-validations at Path.
	Index int `json:"index"`
	// Field is the rule's path in the CRD.
	Field             string `json:"-"`
	Rule              string `json:"rule"`
	MessageExpression string `json:"messageExpression,omitempty"`
	// EstimatedCost is for one evaluation. Cardinality is how often the rule can run in an object.
	// EstimatedTotal is the product.
	EstimatedCost  uint64 `json:"estimatedCost"`
	Cardinality    uint64 `json:"cardinality"`
	EstimatedTotal uint64 `json:"estimatedTotal"`
	// Factors are the lists and maps around the rule that multiply its cost, outermost first.
	Factors []cost.Factor `json:"-"`
	// MessageExpressionCost is for one evaluation.
	MessageExpressionCost uint64 `json:"messageExpressionCost"`
	// Limit applies to EstimatedTotal and to MessageExpressionCost.
	Limit uint64 `json:"limit"`
	// Broken is set if the rule or its messageExpression does not compile.
	Broken bool `json:"broken,omitempty"`
	// OverLimit is set if the rule exceeds its limit, or is among the most expensive rules of a schema whose sum
	// exceeds its limit.
	OverLimit bool `json:"over"`
	// Reason explains the cost. It is nil if Broken is set, or if neither OverLimit nor Config.Explain is set.
	Reason *Reason `json:"reason,omitempty"`
	// Advice is the part of the version's advice that affects the rule.
	Advice []Advice `json:"advice"`
}

// Vet validates a CRD in JSON. A rejected CRD is not an error: see Report.Accepted. Vet returns an
// error if cfg is invalid, ctx is done, or on an internal error.
func Vet(ctx context.Context, raw []byte, cfg Config) (*Report, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	r := &Report{}
	crd := r.decode(raw, cfg)
	if crd == nil {
		r.Name = nameOf(raw)
	} else {
		if r, err := r.vet(ctx, crd, cfg); err != nil || r == nil {
			return r, err
		}
		if err := r.addKept(ctx, crd, raw, cfg); err != nil {
			return nil, err
		}
		r.addSize(raw, cfg)
	}
	if err := r.addKeys(ctx, raw, cfg); err != nil {
		return nil, err
	}
	r.Lints = append(r.Lints, keyLints(r.Keys, cfg)...)
	return r, nil
}

// VetCRD validates a decoded CRD, or one that is built in Go, like Vet. Report.Strict and Report.Keys are always
// empty, and the size is not checked. VetCRD does not modify crd. The report shares memory with crd, so crd must not
// be modified while the report is in use.
func VetCRD(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, cfg Config) (*Report, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if crd = structural.EncodedCRD(crd); cfg.Old != nil {
		cfg.Old = structural.EncodedCRD(cfg.Old)
	}
	return new(Report).vet(ctx, crd, cfg)
}

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
	if r.KubeVersions, err = a.kubeVersions(crd); err != nil {
		return nil, err
	}
	r.raiseMinimum()
	return r, nil
}

func admit(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, cfg Config) (*admission, *metav1.Status, error) {
	v, _ := types.ParseVersion(cfg.KubeVersion) // Config.Check has found no error in it
	if v.Minor < types.Newest {                 // dropUnknown modifies both CRDs
		crd, cfg.Old = crd.DeepCopy(), cfg.Old.DeepCopy()
	}
	if over := overworked(crd, cfg.Old); over != nil {
		return nil, nil, over
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
		dropUnknown(&old.Spec, v) // they were dropped when it was stored
		prepareOld(old)
		prepareUpdate(now, old)
	}
	a := newAdmission(ctx, now, old, v, cfg)
	a.dropped = dropped
	return a, nil, a.run()
}

const crdKind = "CustomResourceDefinition"

var strictSerializer = sync.OnceValue(func() runtime.Decoder {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Strict: true})
})

func unreadable(gvk *runtimeschema.GroupVersionKind, raw []byte, err error) *metav1.Status {
	if gvk == nil {
		gvk = &runtimeschema.GroupVersionKind{}
	}
	return respond.Unreadable(*gvk, crdKind, raw, err)
}

// internal returns the CRD as the API server validates it: with defaults, and with shared fields of the versions
// moved to the top. The result shares memory with crd.
func internal(crd *apiextensionsv1.CustomResourceDefinition) (*apiextensions.CustomResourceDefinition, error) {
	v1 := *crd
	v1.Spec.Versions = slices.Clone(crd.Spec.Versions)
	v1.Spec.Conversion = crd.Spec.Conversion.DeepCopy()
	v1.Status = *crd.Status.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(&v1)
	out := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&v1, out, nil); err != nil {
		return nil, err
	}
	return out, nil
}
