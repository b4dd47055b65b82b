package editor

import (
	"errors"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/assist"
)

// maxPlaces limits the places that are kept, because each has its own environment.
const maxPlaces = 50

// Places creates and caches the places of expressions in CRDs. It is safe for concurrent use. The
// zero value is ready to use.
type Places struct {
	mu    sync.Mutex
	known map[placeKey]*assist.Place
}

type placeKey struct {
	crd, version, path string
	part               assist.Part
	optionalOldSelf    bool
}

// Of returns the place of a part of a rule. The engine e must be compiled from crd, which must
// include its descriptions. Of returns nil if the CRD has no rules at that place. An error is always
// internal.
func (p *Places) Of(e *engine.Engine, crd *apiextensionsv1.CustomResourceDefinition, at *RuleAt, optionalOldSelf bool, functions *assist.Functions) (*assist.Place, error) {
	if at.Version < 0 || at.Version >= len(crd.Spec.Versions) {
		return nil, nil
	}
	v := &crd.Spec.Versions[at.Version]
	if v.Schema == nil {
		return nil, nil
	}
	key := placeKey{crd.Name, v.Name, engine.FormatPath(at.Steps), at.Part(), optionalOldSelf}
	p.mu.Lock()
	defer p.mu.Unlock()
	if place, known := p.known[key]; known {
		return place, nil
	}
	place, err := assist.NewPlace(e, v.Schema.OpenAPIV3Schema, key.version, key.path)
	var bug *engine.InternalError
	switch {
	case errors.As(err, &bug):
		return nil, err
	case err != nil: // the schema has changed since it was last valid
		place = nil
	default:
		place.Part, place.OptionalOldSelf, place.Functions = key.part, optionalOldSelf, functions
	}
	if p.known == nil || len(p.known) >= maxPlaces {
		p.known = map[placeKey]*assist.Place{}
	}
	p.known[key] = place
	return place, nil
}
