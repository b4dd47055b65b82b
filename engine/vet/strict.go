package vet

import (
	"errors"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/net"
	kjson "sigs.k8s.io/json"
)

// StrictError is a key that strict decoding finds: one that Kubernetes does not
// know, so that it is dropped in silence otherwise, or one that stands twice.
type StrictError struct {
	// Field is the key's path as the server writes it, as
	// "spec.versions[0].schema.openAPIV3Schema.properties.spec.x-kubernetes-validation";
	// "" for what Config.DuplicateKeys says.
	Field string
	// Message is the server's.
	Message string
}

// decode reads the CRD, and tells in the report of what strict decoding finds.
// There is none where it cannot be read, or is refused for that.
func (r *Report) decode(raw []byte, cfg Config) *apiextensionsv1.CustomResourceDefinition {
	crd, strict, failure := decode(raw)
	if failure != nil {
		r.Status = failure
		return nil
	}
	if cfg.DuplicateKeys != nil {
		strict = slices.Insert(strict, 0, cfg.DuplicateKeys)
	}
	directive := cfg.fieldValidation()
	if len(strict) == 0 || directive == metav1.FieldValidationIgnore {
		return crd
	}
	for _, err := range strict {
		r.Strict = append(r.Strict, strictError(err))
	}
	if directive == metav1.FieldValidationWarn {
		r.Warnings = strictWarnings(strict)
		return crd
	}
	gvk := apiextensionsv1.SchemeGroupVersion.WithKind(crdKind)
	r.Status = unreadable(&gvk, raw, runtime.NewStrictDecodingError(strict))
	return nil
}

func strictError(err error) StrictError {
	e := StrictError{Message: err.Error()}
	var of kjson.FieldError
	if errors.As(err, &of) {
		e.Field = of.FieldPath()
	}
	return e
}

// strictWarnings are those that the server sends: one for each line of the YAML
// decoder's, and none that a header cannot hold.
func strictWarnings(strict []error) (list []string) {
	for _, err := range strict {
		text, ofYAML := strings.CutPrefix(err.Error(), "yaml: unmarshal errors:\n")
		lines := []string{text}
		if ofYAML {
			lines = strings.Split(text, "\n")
		}
		for _, line := range lines {
			line = strings.TrimSpace(line)
			if _, err := net.NewWarningHeader(299, "-", line); err == nil {
				list = append(list, line)
			}
		}
	}
	return list
}
