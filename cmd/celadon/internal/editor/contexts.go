package editor

import (
	"errors"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/assist"
)

// maxContexts limits the contexts that are kept, because each has its own environment.
const maxContexts = 50

// Contexts creates and caches the contexts of expressions in CRDs. It is safe for concurrent use. The
// zero value is ready to use.
type Contexts struct {
	mu    sync.Mutex
	known map[contextKey]*assist.Context
}

type contextKey struct {
	crd, version, path string
	part               assist.Part
	optionalOldSelf    bool
}

// Of returns the context of a part of a rule. The engine e must be compiled from crd, which must
// include its descriptions. Of returns nil if the CRD has no rules at that path. An error is always
// internal.
func (p *Contexts) Of(e *engine.Engine, crd *apiextensionsv1.CustomResourceDefinition, at *RuleAt, optionalOldSelf bool, functions *assist.Functions) (*assist.Context, error) {
	if at.Version < 0 || at.Version >= len(crd.Spec.Versions) {
		return nil, nil
	}
	v := &crd.Spec.Versions[at.Version]
	if v.Schema == nil {
		return nil, nil
	}
	key := contextKey{crd.Name, v.Name, engine.FormatPath(at.Steps), at.Part(), optionalOldSelf}
	p.mu.Lock()
	defer p.mu.Unlock()
	if cached, known := p.known[key]; known {
		return cached, nil
	}
	exprContext, err := assist.NewContext(e, v.Schema.OpenAPIV3Schema, key.version, key.path)
	var bug *engine.InternalError
	switch {
	case errors.As(err, &bug):
		return nil, err
	case err != nil: // the schema has changed since it was last valid
		exprContext = nil
	default:
		exprContext.Part, exprContext.OptionalOldSelf, exprContext.Functions = key.part, optionalOldSelf, functions
	}
	if p.known == nil || len(p.known) >= maxContexts {
		p.known = map[contextKey]*assist.Context{}
	}
	p.known[key] = exprContext
	return exprContext, nil
}
