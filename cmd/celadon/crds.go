package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/trace"
)

// definitions are the CRDs of a run. Each is compiled once, when an object
// first asks for it.
type definitions struct {
	// problems are what could not be read.
	problems []error

	all    []*definition // in the order of the files
	byKind map[schema.GroupKind]*definition
	config engine.Config
}

// definition is one CRD.
type definition struct {
	crd   *apiextensionsv1.CustomResourceDefinition
	place string

	once      sync.Once
	engine    *engine.Engine
	explainer *trace.Explainer
	problems  []error
}

const (
	crdVersion = "apiextensions.k8s.io/v1"
	// maxCRD is what etcd takes at most of one object, unless it is set to take
	// more. A schema needs up to three hundred times as much memory.
	maxCRD = 3 << 19
)

// readCRDs reads the CRDs and compiles none.
func readCRDs(ctx context.Context, stdin io.Reader, paths []string, cfg engine.Config) (*definitions, error) {
	d := &definitions{
		byKind: map[schema.GroupKind]*definition{},
		config: cfg,
	}
	found := 0
	err := decodeAll(ctx, stdin, paths, readCRD, func(r crdRead) error {
		if r.crd == nil && r.err == nil {
			return nil
		}
		found++
		d.add(r)
		return nil
	})
	if found == 0 && err == nil {
		d.problems = append(d.problems, fmt.Errorf("no CustomResourceDefinition in %s", strings.Join(paths, ", ")))
	}
	return d, err
}

type crdRead struct {
	place string
	crd   *apiextensionsv1.CustomResourceDefinition // nil for another kind
	err   error
}

func readCRD(doc *input.Document) crdRead {
	crd, err := decodeCRD(doc)
	return crdRead{doc.Place(), crd, err}
}

func (d *definitions) add(r crdRead) {
	if r.err != nil {
		d.problems = append(d.problems, fmt.Errorf("%s: %w", r.place, r.err))
		return
	}
	gk := schema.GroupKind{Group: r.crd.Spec.Group, Kind: r.crd.Spec.Names.Kind}
	if d.byKind[gk] != nil {
		d.problems = append(d.problems, fmt.Errorf("%s: %s is given twice: keep one", r.place, r.crd.Name))
		return
	}
	def := &definition{crd: r.crd, place: r.place}
	d.byKind[gk] = def
	d.all = append(d.all, def)
}

// find is the definition of a kind, compiled; nil when there is none that can
// be used.
func (d *definitions) find(gk schema.GroupKind) *definition {
	def := d.byKind[gk]
	if def == nil {
		return nil
	}
	def.once.Do(func() { def.compile(d.config) })
	if def.engine == nil {
		return nil
	}
	return def
}

// found are all problems, those of CRDs that no object asked for left out.
func (d *definitions) found() []error {
	problems := d.problems
	for _, def := range d.all {
		problems = append(problems, def.problems...)
	}
	return problems
}

// namespaced is true where a kind has namespaces, as far as is known.
func (d *definitions) namespaced(gk schema.GroupKind) bool {
	def := d.byKind[gk]
	return def == nil || def.crd.Spec.Scope == apiextensionsv1.NamespaceScoped
}

// decodeCRD is nil for a document that is no CRD.
func decodeCRD(doc *input.Document) (*apiextensionsv1.CustomResourceDefinition, error) {
	if doc.Err != nil {
		return nil, doc.Err
	}
	if doc.Object["kind"] != "CustomResourceDefinition" {
		return nil, nil
	}
	if doc.Object["apiVersion"] != crdVersion {
		return nil, fmt.Errorf("apiVersion %q: want %s", fmt.Sprint(doc.Object["apiVersion"]), crdVersion)
	}
	withoutDescriptions(doc.Object)
	data, err := json.Marshal(doc.Object)
	if err != nil {
		return nil, err
	}
	if len(data) > maxCRD {
		return nil, fmt.Errorf("a CustomResourceDefinition of %d KiB without its descriptions: want no more than the %d that etcd takes", len(data)>>10, maxCRD>>10)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(data, crd); err != nil {
		return nil, fmt.Errorf("not a CustomResourceDefinition: %w", err)
	}
	return crd, nil
}

func (def *definition) compile(cfg engine.Config) {
	e, err := engine.Compile(def.crd, cfg)
	var bad *engine.CompileErrors
	if errors.As(err, &bad) {
		for _, rule := range bad.Errors {
			def.problems = append(def.problems, fmt.Errorf("%s: %s", def.place, brokenRule(def.crd, rule)))
		}
	} else if err != nil {
		def.problems = append(def.problems, fmt.Errorf("%s: %w", def.place, err))
	}
	if e != nil {
		def.engine, def.explainer = e, trace.NewExplainer(e)
	}
}

// brokenRule shows where a rule does not compile: its place in the CRD, and the
// rule's line with a caret.
func brokenRule(crd *apiextensionsv1.CustomResourceDefinition, e *engine.CompileError) string {
	where := e.Path
	if where == "" {
		where = "the root"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: version %s, %s, x-kubernetes-validations[%d].%s does not compile", crd.Name, e.Version, where, e.Index, e.Part)
	if e.Snippet == "" {
		fmt.Fprintf(&b, ": %s", e.Detail)
		return b.String()
	}
	fmt.Fprintf(&b, " at line %d, column %d:\n%s\n%s", e.Line, e.Column, indent(e.Snippet, "    "), indent(e.Summary(), "  "))
	return b.String()
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(text, "\n", "\n"+by)
}
