package lsp

import (
	"crypto/sha256"
	"errors"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/x/assist"
)

// A crdPart is a CRD in a document of the editor. It is safe for concurrent use.
type crdPart struct {
	// vetted is nil for a CRD in a file that is not open.
	vetted *vet.Reviewed
	read   resource.Read
	data   []byte // the JSON

	compile func() (*engine.Engine, error)

	described func() *apiextensionsv1.CustomResourceDefinition

	contexts editor.Contexts
}

func newCRDPart(doc *input.Document) *crdPart {
	c := &crdPart{}
	c.data, _ = doc.JSON()
	c.read = resource.One(doc)
	c.described = sync.OnceValue(func() *apiextensionsv1.CustomResourceDefinition {
		crd, err := catalog.Decode(c.data)
		if err != nil {
			return nil
		}
		return crd
	})
	return c
}

func (c *crdPart) known(file string) read {
	return read{Read: c.read, file: file, sum: sha256.Sum256(c.data)}
}

// compiled returns the engine of the CRD, or nil if it cannot be used, and the errors of its rules.
func (c *crdPart) compiled() (*engine.Engine, []*engine.CompileError) {
	if c.compile == nil || c.read.CRD == nil {
		return nil, nil
	}
	e, err := c.compile()
	var bad *engine.CompileErrors
	errors.As(err, &bad)
	if bad == nil {
		return e, nil
	}
	return e, bad.Errors
}

// expressionContext returns the context of a part of a rule, or nil if it is unknown.
func (c *crdPart) expressionContext(at *editor.RuleAt, optionalOldSelf bool, functions *assist.Functions) *assist.Context {
	crd := c.described()
	e, _ := c.compiled()
	if crd == nil || e == nil {
		return nil
	}
	exprContext, err := c.contexts.Of(e, crd, at, optionalOldSelf, functions)
	if err != nil {
		return nil
	}
	return exprContext
}

// first returns ref with the first version if ref has no version. Versions with the same schema
// share their findings, which then have no version.
func (c *crdPart) first(ref *engine.RuleRef) *engine.RuleRef {
	if ref == nil || ref.Version != "" || c.read.CRD == nil || len(c.read.CRD.Spec.Versions) == 0 {
		return ref
	}
	of := *ref
	of.Version = c.read.CRD.Spec.Versions[0].Name
	return &of
}

// broken returns the compile error of a rule's part, or nil if it compiles.
func (c *crdPart) broken(ref *engine.RuleRef, part string) *engine.CompileError {
	_, bad := c.compiled()
	i := slices.IndexFunc(bad, func(e *engine.CompileError) bool {
		return e.Version == ref.Version && e.Path == ref.Path && e.Index == ref.Index && e.Part == part
	})
	if i < 0 {
		return nil
	}
	return bad[i]
}
