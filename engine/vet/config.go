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

// Config is how a vetting differs from a create on the newest API server that
// this build knows.
type Config struct {
	// KubeVersion is the Kubernetes minor to stand for, as "1.33"; "" is the
	// newest this build knows. It decides what new rules may use; costs and
	// error texts are always those of the linked release.
	KubeVersion string
	// Old is the CRD before an update, complete: the server compares schemas with
	// their descriptions. If it is nil, the CRD is created. It counts as established
	// unless its status says otherwise.
	Old *apiextensionsv1.CustomResourceDefinition
	// Stored asks about a CRD that a server has, as its list shows it: whether
	// the server serves it as it stands, rather than whether it would take it
	// today. The CRD is held against itself, as in an update that changes
	// nothing; keys that Kubernetes does not know are passed over, and limits of
	// estimated cost, which a server never looks at again.
	Stored bool
	// FieldValidation is what happens to keys that Kubernetes does not know and
	// to those that stand twice: "Strict" (or "") refuses, "Warn" warns,
	// "Ignore" drops them in silence. It is kubectl's --validate.
	FieldValidation string
	// Beta takes a CRD of apiextensions.k8s.io/v1beta1 for what a server converts
	// it to, and tells of that in a warning; without it such a CRD is refused, as
	// by the endpoint that creates CRDs.
	Beta bool
	// DuplicateKeys is what a YAML decoder found, since they are lost on YAML's
	// way to JSON.
	DuplicateKeys error
	// Limits replaces the API server's cost limits; zero fields keep them.
	Limits cost.Limits
	// WithoutLints names lints that are switched off.
	WithoutLints []string
	// Explain gives the reasons for the cost of every rule, not only of those
	// over a limit.
	Explain bool
	// VerdictOnly leaves out all that the server does not say: Lints, Needs,
	// MinKubeVersion, and Versions with their estimates, reasons and advice.
	VerdictOnly bool
}

// Check says what is wrong with a Config: every call with it would say that too.
func (cfg *Config) Check() error {
	if _, err := types.ParseVersion(cfg.KubeVersion); err != nil {
		return err
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
		return errors.New("a stored CRD replaces none: want either Stored or Old")
	}
	return nil
}

// fieldValidation is the directive of the request that is stood for. A server
// that lists its CRDs has dropped what it does not know, and what a newer one
// knows is no mistake.
func (cfg *Config) fieldValidation() string {
	switch {
	case cfg.Stored:
		return metav1.FieldValidationIgnore
	case cfg.FieldValidation == "":
		return metav1.FieldValidationStrict
	}
	return cfg.FieldValidation
}
