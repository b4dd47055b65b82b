package find

import (
	"slices"

	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// withBuiltins returns crds, and descriptions of the built-in kinds whose resources policies name. If there
// are no crds, a typical kind stands for all resources. both and server may be nil.
func (both *bothPolicies) withBuiltins(server policyrequest.Server, crds []*definition) ([]*definition, error) {
	if both == nil || server == nil {
		return crds, nil
	}
	documents := both.Documents()
	if both.old != nil {
		documents = slices.Concat(documents, both.old.Documents())
	}
	kinds, err := requests.Builtins(documents, server, len(crds) == 0)
	for _, k := range kinds {
		crds = append(crds, &definition{file: "Kubernetes " + k.Release, crd: k.CRD, builtins: k.Versions})
	}
	return crds, err
}
