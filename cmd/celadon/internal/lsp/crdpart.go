package lsp

import (
	"crypto/sha256"
	"errors"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/x/assist"
)

// crdPart is a CRD in a text. It is safe for concurrent use.
type crdPart struct {
	// vetted is nil of a CRD that is not open.
	vetted *vet.Reviewed
	read   resource.Read
	data   []byte // the JSON

	compile func() (*engine.Engine, error)

	described func() *apiextensionsv1.CustomResourceDefinition

	mu     sync.Mutex
	places map[placeKey]*assist.Place
}

// placeKey is where expressions stand, and what they are for.
type placeKey struct {
	version, path   string
	part            assist.Part
	optionalOldSelf bool
}

// newCRDPart reads a CRD.
func newCRDPart(doc *input.Document) *crdPart {
	c := &crdPart{places: map[placeKey]*assist.Place{}}
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

// compiled is what the CRD compiles to, if it can be used, and the rules that do not.
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

// version returns the CRD's version at an index, with descriptions, or nil.
func (c *crdPart) version(at int) *apiextensionsv1.CustomResourceDefinitionVersion {
	crd := c.described()
	if crd == nil || at < 0 || at >= len(crd.Spec.Versions) {
		return nil
	}
	return &crd.Spec.Versions[at]
}

// place is where a part of a rule stands; nil where nothing is known of it.
func (c *crdPart) place(at ruleAt, functions *assist.Functions) *assist.Place {
	v := c.version(at.version)
	if v == nil {
		return nil
	}
	key := placeKey{v.Name, engine.FormatPath(at.steps), at.part(), c.optionalOldSelf(v, at)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, known := c.places[key]; known {
		return p
	}
	e, _ := c.compiled()
	if e == nil {
		return nil
	}
	var root *apiextensionsv1.JSONSchemaProps
	if v.Schema != nil {
		root = v.Schema.OpenAPIV3Schema
	}
	p, err := assist.NewPlace(e, root, key.version, key.path)
	if err != nil {
		p = nil
	} else {
		p.Part, p.OptionalOldSelf, p.Functions = key.part, key.optionalOldSelf, functions
	}
	c.places[key] = p
	return p
}

func (c *crdPart) optionalOldSelf(v *apiextensionsv1.CustomResourceDefinitionVersion, at ruleAt) bool {
	if v.Schema == nil {
		return false
	}
	s := assist.SchemaAt(v.Schema.OpenAPIV3Schema, at.steps)
	if s == nil || at.index < 0 || at.index >= len(s.XValidations) {
		return false
	}
	optional := s.XValidations[at.index].OptionalOldSelf
	return optional != nil && *optional
}

// first is a rule as the first version has it, where what was said of it is about all
// of them: versions with one schema share it.
func (c *crdPart) first(ref *engine.RuleRef) *engine.RuleRef {
	if ref == nil || ref.Version != "" || c.read.CRD == nil || len(c.read.CRD.Spec.Versions) == 0 {
		return ref
	}
	of := *ref
	of.Version = c.read.CRD.Spec.Versions[0].Name
	return &of
}

// broken is what does not compile of a rule's part; nil where all does.
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
