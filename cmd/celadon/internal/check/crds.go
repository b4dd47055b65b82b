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

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/x/trace"
)

// definitions are the CRDs of a run. Each is compiled once, when an object
// first asks for it.
type definitions struct {
	// problems are what could not be read.
	problems []error
	judge    *crdReviewer  // nil: none
	judged   []*crdVerdict // its verdicts, in the order of the files

	catalog *catalog.Catalog
	all     []*definition // in the order of the files
	byEntry map[*catalog.Entry]*definition
}

// A definition is one CRD.
type definition struct {
	crd      *resource.Compact
	complete *apiextensionsv1.CustomResourceDefinition // nil unless an update of the CRD may be vetted
	entry    *catalog.Entry
	place    string

	once      sync.Once
	engine    *engine.Engine
	explainer *trace.Explainer
	views     map[string]*view
	problems  []error
}

// A crdUse is the use of the CRDs of a run beyond deciding objects.
type crdUse struct {
	vet    *crdReviewer // vets the CRDs; nil: nothing does
	before bool         // they are the CRDs before an update that is vetted
}

// readCRDs reads the CRDs and compiles none.
func readCRDs(ctx context.Context, stdin io.Reader, paths []string, from input.Selection, use crdUse, cfg engine.Config) (*definitions, error) {
	source := func(wait func(), yield func(input.Chunk) bool) { from.Scan(stdin, paths, wait, yield) }
	return readCRDsFrom(ctx, source, paths, use, cfg)
}

// readCRDsFrom reads the CRDs of any source. The paths in named are not below a folder.
func readCRDsFrom(ctx context.Context, source batch.Source, named []string, use crdUse, cfg engine.Config) (*definitions, error) {
	d := &definitions{
		catalog: catalog.New(catalog.Config{Engine: cfg, Lazy: true}),
		byEntry: map[*catalog.Entry]*definition{},
		judge:   use.vet,
	}
	found := 0
	var given []crdRead
	var t templates
	read := func(doc *input.Document) crdRead { return readCRD(ctx, doc, named, &t, use) }
	err := batch.From(source, read, func(r crdRead) error {
		if r.judged != nil {
			d.judged = append(d.judged, r.judged)
		}
		if r.CRD == nil && r.Err == nil {
			return nil
		}
		found++
		if given = append(given, r); r.Err != nil {
			given = given[:len(given)-1]
			d.unreadable(r)
		}
		return nil
	}).Run(ctx)
	if found == 0 && err == nil {
		d.problems = append(d.problems, noCRD(named))
	}
	d.add(given)
	return d, err
}

var errNoCRD = errors.New("no CustomResourceDefinition")

func noCRD(paths []string) error { return fmt.Errorf("%w in %s", errNoCRD, strings.Join(paths, ", ")) }

// A crdRead is the CRD in a document, and its verdict.
type crdRead struct {
	resource.Read
	complete *apiextensionsv1.CustomResourceDefinition // see definition
	judged   *crdVerdict                               // nil unless the CRD is vetted
}

// readCRD skips documents of other kinds; below folders also documents that are not objects,
// and patches of CRDs.
func readCRD(ctx context.Context, doc *input.Document, named []string, t *templates, use crdUse) crdRead {
	resource.Complete(doc)
	if below(doc, named) && noObject(doc) != "" {
		return crdRead{}
	}
	if t.has(doc) {
		return crdRead{Read: resource.Read{Place: doc.File, Err: errTemplate}}
	}
	read := crdRead{Read: resource.One(doc)}
	if read.CRD == nil || read.Err != nil {
		return read
	}
	if use.before {
		read.complete, read.Err = resource.Decode(doc)
	}
	if use.vet != nil {
		if data, err := doc.JSON(); err == nil {
			read.judged = use.vet.soon(ctx, doc, data)
		}
	}
	return read
}

// unreadable tells of what is no CRD; of a template, once.
func (d *definitions) unreadable(r crdRead) {
	problem := fmt.Errorf("%s: %w", r.Place, r.Err)
	if last := len(d.problems) - 1; r.Err == errTemplate && last >= 0 && d.problems[last].Error() == problem.Error() {
		return
	}
	d.problems = append(d.problems, problem)
}

// add puts what was read into the catalogue.
func (d *definitions) add(given []crdRead) {
	crds := make([]*apiextensionsv1.CustomResourceDefinition, len(given))
	for i, r := range given {
		crds[i] = r.CRD.ForEngine()
	}
	failed := map[int]bool{}
	var errs *catalog.Errors
	if err := d.catalog.Apply(crds, nil); errors.As(err, &errs) {
		for _, e := range errs.Errors {
			failed[e.Index] = true
			if errors.Is(e, catalog.ErrTwice) {
				d.problems = append(d.problems, fmt.Errorf("%s: %s is %w", given[e.Index].Place, e.Name, catalog.ErrTwice))
			} else {
				d.problems = append(d.problems, fmt.Errorf("%s: %w", given[e.Index].Place, e))
			}
		}
	}
	for i, r := range given {
		if e := d.catalog.Named(r.CRD.Name); e != nil && !failed[i] {
			def := &definition{crd: r.CRD, complete: r.complete, entry: e, place: r.Place}
			d.byEntry[e] = def
			d.all = append(d.all, def)
		}
	}
}

// find is the definition of a kind, compiled; nil when there is none that can
// be used.
func (d *definitions) find(gk schema.GroupKind) *definition {
	def := d.byEntry[d.catalog.Find(gk)]
	if def == nil {
		return nil
	}
	def.once.Do(def.compile)
	if def.engine == nil {
		return nil
	}
	return def
}

// addressee returns the definition that decides an object, or nil if no usable CRD was given for it. If the object's
// apiVersion or kind is not a string, it is not typed: the only CRD of its kind, or else of its group, then decides it,
// because every endpoint rejects it in nearly the same words.
func (d *definitions) addressee(obj map[string]any) (def *definition, typed bool) {
	id := finding.Identify(obj)
	if !mistyped(obj) {
		return d.find(id.GroupKind()), true
	}
	group := id.GroupKind().Group
	var only *definition
	for _, def := range d.all {
		spec := def.crd.Spec
		if (id.Kind == "" || spec.Names.Kind != id.Kind) && (id.Kind != "" || group == "" || spec.Group != group) {
			continue
		}
		if only != nil {
			return nil, false
		}
		only = def
	}
	if only == nil {
		return nil, false
	}
	return d.find(only.entry.Kind), false
}

// mistyped reports whether the apiVersion or the kind of an object is there and not a string.
func mistyped(obj map[string]any) bool {
	for _, name := range []string{"apiVersion", "kind"} {
		if v, ok := obj[name]; ok {
			if _, ok := v.(string); !ok {
				return true
			}
		}
	}
	return false
}

// found are all problems, those of CRDs that no object asked for left out.
func (d *definitions) found() []error {
	problems := slices.Clip(d.problems)
	for _, def := range d.all {
		problems = append(problems, def.problems...)
	}
	return problems
}

// namespaced is true where a kind has namespaces, as far as is known.
func (d *definitions) namespaced(gk schema.GroupKind) bool {
	e := d.catalog.Find(gk)
	return e == nil || e.Namespaced()
}

func (def *definition) compile() {
	e, err := def.entry.Engine()
	var bad *engine.CompileErrors
	if errors.As(err, &bad) {
		for _, rule := range bad.Errors {
			def.problems = append(def.problems, fmt.Errorf("%s: %s", def.place, resource.BrokenRule(def.crd.Name, rule)))
		}
	} else if err != nil {
		def.problems = append(def.problems, fmt.Errorf("%s: %w", def.place, err))
	}
	if e != nil {
		def.engine, def.explainer, def.views = e, trace.NewExplainer(e), newViews(def.crd.ForEngine())
	}
}
