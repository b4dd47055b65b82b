package vet

import (
	"errors"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/internal/crdjson"
	"github.com/celadon-cel/celadon/engine/internal/respond"
	"github.com/celadon-cel/celadon/types"
)

// decode returns nil if r.Status or r.Undecided is set, which is then the verdict.
func (r *Report) decode(raw []byte, cfg Config) *apiextensionsv1.CustomResourceDefinition {
	v, _ := types.ParseVersion(cfg.KubeVersion) // Config.Check has found no error in it
	marked, defaults := markUnknown(raw, v), apiextensionsv1.SchemeGroupVersion.WithKind(crdKind)
	obj, gvk, err := strictSerializer().Decode(marked, &defaults, nil)
	var strict []error
	if found, ok := runtime.AsStrictDecodingError(err); ok && obj != nil {
		strict, err = unmarked(found.Errors()), nil
	}
	crd, _ := obj.(*apiextensionsv1.CustomResourceDefinition)
	_, beta := obj.(*v1beta1.CustomResourceDefinition)
	if beta = beta && cfg.Beta && err == nil; beta {
		crd, err = crdjson.Decode(marked, func(reason string) error { return &engine.WorkLimitError{Part: "schema", Reason: reason} })
	}
	switch {
	case errors.As(err, &r.Undecided):
		return nil
	case err != nil:
		r.Status = unreadable(gvk, raw, err)
		return nil
	}
	directive := cfg.fieldValidation()
	if cfg.DuplicateKeys != nil {
		strict = slices.Insert(strict, 0, cfg.DuplicateKeys)
	}
	if directive != metav1.FieldValidationIgnore {
		for _, err := range strict {
			e := engine.StrictError{Message: err.Error()}
			var of kjson.FieldError
			if errors.As(err, &of) {
				e.Field, e.Duplicate = of.FieldPath(), strings.HasPrefix(e.Message, "duplicate")
			}
			r.Strict = append(r.Strict, e)
		}
	}
	switch {
	case len(strict) > 0 && directive == metav1.FieldValidationStrict:
		r.Status = unreadable(gvk, raw, runtime.NewStrictDecodingError(strict))
	case crd == nil:
		r.Status = respond.BadRequest("the API version in the data (%s) does not match the expected API version (%s)", gvk.GroupVersion(), apiextensionsv1.SchemeGroupVersion)
	case len(strict) > 0 && directive == metav1.FieldValidationWarn:
		for _, e := range r.Strict {
			r.Warnings = append(r.Warnings, e.Warnings()...)
		}
	}
	if r.Status != nil {
		return nil
	}
	if beta {
		r.Warnings = append([]string{betaWarning}, r.Warnings...)
	}
	return crd
}

// betaWarning is the message of the last servers that supported v1beta1.
const betaWarning = "apiextensions.k8s.io/v1beta1 CustomResourceDefinition is deprecated in v1.16+, unavailable in v1.22+; use apiextensions.k8s.io/v1 CustomResourceDefinition"
