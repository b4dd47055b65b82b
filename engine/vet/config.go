package vet

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/types"
)

// Config holds the options of Vet. The zero value is a create on the newest supported API server.
type Config struct {
	// KubeVersion is the Kubernetes minor version to emulate, such as "1.33"; "" is the newest
	// supported one. It determines which CRDs are accepted, what rules can use, what they cost, and
	// the error messages.
	KubeVersion string
	// KubeVersions are versions whose verdict is reported as well; see Report.KubeVersions.
	KubeVersions []string
	// AdviseAll advises bounds and fixes for all of KubeVersions, not only KubeVersion.
	AdviseAll bool
	// Old is the CRD before an update, including descriptions, because the server compares whole
	// schemas. If it is nil, the CRD is created. Old counts as established unless its status has
	// conditions.
	Old *apiextensionsv1.CustomResourceDefinition
	// Stored checks a CRD that a server has already stored, as its list returns it: whether the
	// server serves it, not whether it would accept it today. The CRD is compared with itself, as
	// in an update without changes. Unknown keys and limits of estimated cost are ignored, because
	// the server does not check them again.
	Stored bool
	// FieldValidation controls unknown and duplicate keys, like kubectl --validate: "Strict" (or
	// "") rejects them, "Warn" warns, and "Ignore" drops them silently.
	FieldValidation string
	// Beta accepts a CRD of apiextensions.k8s.io/v1beta1, converted as a server would convert it,
	// with a warning. Without it such a CRD is rejected, as by the endpoint that creates CRDs.
	Beta bool
	// DuplicateKeys is the error of a YAML decoder, because duplicate keys are lost when YAML is
	// converted to JSON.
	DuplicateKeys error
	// Limits replaces the API server's cost limits; zero fields keep the default.
	Limits cost.Limits
	// WithoutLints names the lints to disable.
	WithoutLints []string
	// Explain adds a Reason to every rule that compiles, not only to rules over a limit.
	Explain bool
	// VerdictOnly omits Lints, MinKubeVersion, Versions, and the Needs of accepted CRDs, which the server does
	// not return.
	VerdictOnly bool
}

// Check returns the error with which any call with cfg would fail, or nil.
func (cfg *Config) Check() error {
	if _, err := types.ParseVersion(cfg.KubeVersion); err != nil {
		return err
	}
	for _, version := range cfg.KubeVersions {
		if _, err := types.ParseVersion(version); err != nil {
			return err
		}
	}
	for _, name := range cfg.WithoutLints {
		if !slices.Contains(LintNames(), name) {
			return fmt.Errorf("lint %q: want one of %s", name, strings.Join(LintNames(), ", "))
		}
	}
	switch cfg.FieldValidation {
	case "", metav1.FieldValidationStrict, metav1.FieldValidationWarn, metav1.FieldValidationIgnore:
	default:
		return fmt.Errorf("field validation %q: want Strict, Warn or Ignore", cfg.FieldValidation)
	}
	if cfg.Stored && cfg.Old != nil {
		return errors.New("a stored CRD replaces no other: set either Stored or Old")
	}
	return nil
}

// For a stored CRD, the directive is Ignore: the server has already dropped keys that it does not know, and a key of
// a newer server is not a mistake.
func (cfg *Config) fieldValidation() string {
	switch {
	case cfg.Stored:
		return metav1.FieldValidationIgnore
	case cfg.FieldValidation == "":
		return metav1.FieldValidationStrict
	}
	return cfg.FieldValidation
}
