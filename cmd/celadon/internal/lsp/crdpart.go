package lsp

import (
	"errors"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	enginevet "github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/assist"
)

// A crdPart is a CRD in a document of the editor. It is safe for concurrent use.
type crdPart struct {
	read
	// vetted is nil for a CRD in a file that is not open.
	vetted *vet.Reviewed
	// compiled returns the engine of the CRD, or nil if it cannot be used, and the errors of its rules.
	compiled func() (*engine.Engine, []*engine.CompileError)
	// described returns the CRD with its descriptions, or nil if it cannot be used.
	described func() *apiextensionsv1.CustomResourceDefinition
}

func (s *server) newCRDPart(file string, doc *input.Document) *crdPart {
	c := &crdPart{read: newRead(file, doc)}
	c.described = sync.OnceValue(func() *apiextensionsv1.CustomResourceDefinition {
		crd, err := catalog.Decode(c.json)
		if err != nil {
			return nil
		}
		return crd
	})
	c.compiled = sync.OnceValues(func() (*engine.Engine, []*engine.CompileError) {
		if c.CRD == nil {
			return nil, nil
		}
		e, err := s.crds.engine(c.CRD)
		var bad *engine.CompileErrors
		if errors.As(err, &bad) {
			return e, bad.Errors
		}
		return e, nil
	})
	return c
}

// expressionContext returns the context of a part of a rule, or nil if it is unknown.
func (c *crdPart) expressionContext(at *editor.RuleAt, optionalOldSelf bool, functions *assist.Functions) *assist.Context {
	crd := c.described()
	e, _ := c.compiled()
	if crd == nil || e == nil {
		return nil
	}
	exprContext, _ := editor.NewContext(e, crd, at, optionalOldSelf, functions)
	return exprContext
}

// report returns the result of vetting the CRD of p, or nil if there is none.
func (p *part) report() *enginevet.Report {
	if p.crd == nil || p.crd.vetted == nil {
		return nil
	}
	return p.crd.vetted.Report
}
