package find

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// withBuiltins returns crds, and descriptions of the built-in kinds whose resources policies name. both and server may be nil.
func (both *bothPolicies) withBuiltins(server policyrequest.Server, crds []*definition) ([]*definition, error) {
	if both == nil || server == nil {
		return crds, nil
	}
	documents := both.Documents()
	if both.old != nil {
		documents = slices.Concat(documents, both.old.Documents())
	}
	kinds, err := requests.Kinds(documents)
	if err != nil || len(kinds) == 0 {
		return crds, err
	}
	catalog, err := builtin.Newest()
	if err != nil {
		return nil, err
	}
	all := &policyrequest.Builtins{Server: server}
	known := map[schema.GroupKind]*definition{}
	for _, gvk := range kinds {
		k, err := all.Kind(gvk, engine.Config{})
		if err != nil {
			return nil, err
		}
		if k == nil || !k.Exact() {
			continue
		}
		d := known[gvk.GroupKind()]
		if d == nil {
			crd, err := catalog.CRD(gvk.GroupKind())
			if err != nil {
				return nil, err
			}
			if crd == nil {
				continue
			}
			d = &definition{file: "Kubernetes " + catalog.Release(), crd: crd, builtins: map[string]*policyrequest.Builtin{}}
			known[gvk.GroupKind()] = d
			crds = append(crds, d)
		}
		d.builtins[gvk.Version] = k
	}
	return crds, nil
}
