package repl

import (
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// A crd is the CRD of a session state. It is immutable, except that def and engine are nil in older states. See compile.
type crd struct {
	doc    Document
	def    *apiextensionsv1.CustomResourceDefinition
	config engine.Config
	engine *engine.Engine
	broken []*engine.CompileError
	// builtins is set if doc describes a built-in kind.
	builtins *policyrequest.Builtins
}

func newCRD(doc Document, cfg engine.Config) (*crd, error) {
	def, err := catalog.Decode(doc.JSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doc.File, err)
	}
	return (&crd{doc: doc, def: def}).with(cfg)
}

// with returns the same CRD compiled with cfg.
func (c *crd) with(cfg engine.Config) (*crd, error) {
	next := &crd{doc: c.doc, def: c.def, config: cfg, builtins: c.builtins}
	return next, next.compile()
}

// compile decodes the CRD and compiles the engine unless that was already done.
func (c *crd) compile() (err error) {
	if c.engine != nil {
		return nil
	}
	if c.def == nil {
		if c.def, err = catalog.Decode(c.doc.JSON); err != nil {
			return fmt.Errorf("%s: %w", c.doc.File, err)
		}
	}
	e, err := engine.Compile(c.def, c.config)
	var bad *engine.CompileErrors
	switch {
	case errors.As(err, &bad):
		c.broken = bad.Errors
	case err != nil:
		return fmt.Errorf("%s: %w", c.doc.File, err)
	}
	c.engine = e
	return nil
}

type schemaNode = apiextensionsv1.JSONSchemaProps

// schema returns the schema of a version, or nil if the version has no schema.
func (c *crd) schema(version string) *schemaNode {
	if v := c.version(version); v >= 0 && c.def.Spec.Versions[v].Schema != nil {
		return c.def.Spec.Versions[v].Schema.OpenAPIV3Schema
	}
	return nil
}

func (c *crd) version(name string) int {
	for i := range c.def.Spec.Versions {
		if c.def.Spec.Versions[i].Name == name {
			return i
		}
	}
	return -1
}

func (s *Session) schemaHere() *schemaNode {
	return assist.SchemaAt(s.state.crd.schema(s.state.version), s.state.location.steps)
}

// helper returns the assistant for expressions, or nil if it cannot be created.
func (s *Session) helper() *assist.Context {
	p, err := s.here()
	if err != nil {
		return nil
	}
	at := p.help
	at.Limits, at.Functions, at.Expand, at.Named = s.limits, s.funcs, s.expand, nil
	for _, l := range s.lets {
		if l.visible(s.namespace()) {
			at.Named = append(at.Named, assist.Candidate{Text: l.name, Hint: lex.Flat(l.text)})
		}
	}
	return at
}
