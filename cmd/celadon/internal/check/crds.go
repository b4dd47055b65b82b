package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/crdfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/sweep"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/trace"
)

// definitions are the CRDs of a run. Each is compiled once, when an object
// first asks for it.
type definitions struct {
	// problems are what could not be read.
	problems []error

	reports []*report.CRD // what a judge says of them, in the order of the files

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

// readCRDs reads the CRDs and compiles none.
func readCRDs(ctx context.Context, stdin io.Reader, paths []string, from input.Selection, j *judge, cfg engine.Config) (*definitions, error) {
	d := &definitions{
		byKind: map[schema.GroupKind]*definition{},
		config: cfg,
	}
	found := 0
	read := func(doc *input.Document) crdRead { return readCRD(ctx, doc, paths, j) }
	err := sweep.Selected(from, stdin, paths, read, func(r crdRead) error {
		if r.report != nil {
			d.reports = append(d.reports, r.report)
		}
		if r.CRD == nil && r.Err == nil {
			return nil
		}
		found++
		d.add(r)
		return nil
	}).Run(ctx)
	if found == 0 && err == nil {
		d.problems = append(d.problems, fmt.Errorf("no CustomResourceDefinition in %s", strings.Join(paths, ", ")))
	}
	return d, err
}

// crdRead is a document as a CRD, and its verdict.
type crdRead struct {
	crdfile.Read
	report *report.CRD
}

// readCRD passes over what is no CRD: below folders also what is no object, and
// patches of CRDs.
func readCRD(ctx context.Context, doc *input.Document, named []string, j *judge) crdRead {
	crdfile.Complete(doc)
	if below(doc, named) && noObject(doc) != "" {
		return crdRead{}
	}
	if template(doc) {
		return crdRead{Read: crdfile.Read{Place: doc.File, Err: errTemplate}}
	}
	verdict := j.judge(ctx, doc) // before descriptions are dropped
	return crdRead{crdfile.One(doc), verdict}
}

func (d *definitions) add(r crdRead) {
	if r.Err != nil {
		if r.Err == errTemplate && slices.ContainsFunc(d.problems, func(p error) bool { return strings.HasPrefix(p.Error(), r.Place+": ") }) {
			return // said once
		}
		d.problems = append(d.problems, fmt.Errorf("%s: %w", r.Place, r.Err))
		return
	}
	gk := schema.GroupKind{Group: r.CRD.Spec.Group, Kind: r.CRD.Spec.Names.Kind}
	if d.byKind[gk] != nil {
		d.problems = append(d.problems, fmt.Errorf("%s: %s is given twice: keep one", r.Place, r.CRD.Name))
		return
	}
	def := &definition{crd: r.CRD, place: r.Place}
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

func (def *definition) compile(cfg engine.Config) {
	e, err := engine.Compile(def.crd, cfg)
	var bad *engine.CompileErrors
	if errors.As(err, &bad) {
		for _, rule := range bad.Errors {
			def.problems = append(def.problems, fmt.Errorf("%s: %s", def.place, crdfile.BrokenRule(def.crd.Name, rule)))
		}
	} else if err != nil {
		def.problems = append(def.problems, fmt.Errorf("%s: %w", def.place, err))
	}
	if e != nil {
		def.engine, def.explainer = e, trace.NewExplainer(e)
	}
}
