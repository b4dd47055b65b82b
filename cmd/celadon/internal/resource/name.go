package resource

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
)

// CheckNames returns an error if a server would reject a CRD's name or versions. They are untrusted,
// and valid names can safely be used in file names.
func CheckNames(name string, versions ...string) error {
	if errs := validation.IsDNS1123Subdomain(name); len(errs) > 0 {
		return fmt.Errorf("%q: not the name of a CRD: %s", name, errs[0])
	}
	for _, v := range versions {
		if errs := validation.IsDNS1035Label(v); len(errs) > 0 {
			return fmt.Errorf("%s: version %q: not the name of a version: %s", name, v, errs[0])
		}
	}
	return nil
}
