package find

import (
	"slices"

	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// asked returns all without the CRDs that only define the params of policies, and with descriptions of the built-in
// kinds whose resources the policies name. If no CRDs remain, a typical kind is used for *. both and server may be
// nil.
func (both *bothPolicies) asked(server policyrequest.Server, all []*definition) (crds []*definition, err error) {
	if both == nil {
		return all, nil
	}
	documents := both.Documents()
	if both.old != nil {
		documents = slices.Concat(documents, both.old.Documents())
	}
	for _, d := range all {
		if !requests.DefinesParams(documents, d.crd) {
			crds = append(crds, d)
		}
	}
	if server == nil {
		return crds, nil
	}
	kinds, err := requests.Builtins(documents, server, len(crds) == 0)
	for _, k := range kinds {
		crds = append(crds, &definition{file: "Kubernetes " + k.Release, crd: k.CRD, builtins: k.Versions, subresource: k.Subresource})
	}
	if len(crds) == 0 {
		return all, err
	}
	return crds, err
}
