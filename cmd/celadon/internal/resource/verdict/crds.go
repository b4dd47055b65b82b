package verdict

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/trace"
)

// CRDs holds the CRDs of a run. Each is compiled once, when the first object needs it.
type CRDs struct {
	// Problems holds the errors of CRDs that cannot be read.
	Problems []error
	// Verdicts holds the reviewer's verdicts in the order of the files. It is empty without a
	// reviewer.
	Verdicts []*CRDVerdict
	// All holds the usable CRDs in the order of the files.
	All []*Definition

	catalog *catalog.Catalog
	byEntry map[*catalog.Entry]*Definition
	charts  resource.Charts
	// conflicts holds the error about each kind that CRDs of the same name define differently.
	conflicts map[schema.GroupKind]string
	// lost is set if a document that may be a CRD cannot be decoded.
	lost bool
}

// Namespaced returns whether the kind of each CRD is namespaced.
func (c *CRDs) Namespaced() map[schema.GroupKind]bool {
	all := map[schema.GroupKind]bool{}
	for _, def := range c.All {
		spec := &def.CRD.Spec
		all[schema.GroupKind{Group: spec.Group, Kind: spec.Names.Kind}] = spec.Scope == apiextensionsv1.NamespaceScoped
	}
	return all
}

// A Definition is a CRD with its compiled rules.
type Definition struct {
	CRD      *resource.Compact
	complete *apiextensionsv1.CustomResourceDefinition // nil unless an update of the CRD may be vetted
	entry    *catalog.Entry
	Location string

	once      sync.Once
	engine    *engine.Engine
	served    []string // the versions of engine
	explainer *trace.Explainer
	views     map[string]*view
	// mergeables holds the versions for mutating policies.
	mergeables map[string]func() *policyrequest.Mergeable
	problems   []error
	// broken holds the rules that do not compile.
	broken map[engine.RuleRef]bool
}

// Use describes how the CRDs of a run are used, other than for deciding objects.
type Use struct {
	Vet    *CRDReviewer // vets the CRDs; nil means that they are not vetted
	Before bool         // they are the CRDs before an update that is vetted
	// Optional is set if there need not be any.
	Optional bool
	// Among is set if the CRDs are among the objects. Documents that cannot be decoded are then reported with the objects.
	Among bool
	// Kustomizations, if not nil, determines which files are patches.
	Kustomizations *resource.Kustomizations
}

// Read reads the CRDs of a source without compiling them. The paths in named were named by the user
// instead of found below a folder.
func Read(ctx context.Context, source batch.Source, named []string, use Use, cfg engine.Config) (*CRDs, error) {
	d := &CRDs{
		catalog: catalog.New(catalog.Config{Engine: cfg, Lazy: true}),
		byEntry: map[*catalog.Entry]*Definition{},
	}
	found := 0
	var given []crdRead
	var t templates
	read := func(doc *input.Document) crdRead {
		if d.charts.Has(doc, named) {
			return crdRead{}
		}
		return readCRD(ctx, doc, named, &t, use)
	}
	err := batch.From(resource.Sourced(source), read, func(r crdRead) error {
		if r.vetted != nil {
			d.Verdicts = append(d.Verdicts, r.vetted)
		}
		if d.lost = d.lost || r.lost; r.CRD == nil && r.Err == nil {
			return nil
		}
		found++
		if given = append(given, r); r.Err != nil {
			given = given[:len(given)-1]
			d.unreadable(r)
		}
		return nil
	}).Run(ctx)
	if found == 0 && err == nil && !use.Optional {
		problem := noCRD(named)
		if use.Among {
			problem = fmt.Errorf("no CRD given: use --crd PATH: %w", problem)
		}
		d.Problems = append(d.Problems, problem)
	}
	d.reportConflicts(d.add(given), given, use)
	return d, err
}

var ErrNoCRD = errors.New("no CustomResourceDefinition")

func noCRD(paths []string) error { return fmt.Errorf("%w in %s", ErrNoCRD, strings.Join(paths, ", ")) }

// crdRead is the CRD in a document, and its verdict.
type crdRead struct {
	resource.Read
	complete *apiextensionsv1.CustomResourceDefinition // see Definition
	vetted   *CRDVerdict                               // nil unless the CRD is vetted
	lost     bool                                      // the document cannot be decoded, which is reported elsewhere
	file     string
	line     int
}

// readCRD reads the CRD in a document. It skips documents of other kinds. Below folders, it also
// skips documents that are not objects, and patches of CRDs.
func readCRD(ctx context.Context, doc *input.Document, named []string, t *templates, use Use) crdRead {
	resource.Complete(doc)
	if resource.IsBelowFolder(doc, named) && (resource.NoObject(doc) != "" || use.Kustomizations.IsPatch(doc.File)) {
		return crdRead{}
	}
	if use.Among && doc.Err != nil {
		return crdRead{lost: true}
	}
	if t.has(doc) {
		return crdRead{Read: resource.Read{Location: doc.File, Err: errTemplate}}
	}
	read := crdRead{Read: resource.One(doc), file: doc.File, line: doc.Line}
	if read.CRD == nil || read.Err != nil {
		return read
	}
	if use.Before {
		read.complete, read.Err = resource.Decode(doc)
	}
	if use.Vet != nil {
		read.vetted = use.Vet.soon(ctx, doc)
	}
	return read
}

// unreadable adds the error of a CRD that cannot be read. For each template, it adds only one error.
func (d *CRDs) unreadable(r crdRead) {
	problem := fmt.Errorf("%s: %w", r.Location, r.Err)
	if last := len(d.Problems) - 1; r.Err == errTemplate && last >= 0 && d.Problems[last].Error() == problem.Error() {
		return
	}
	d.Problems = append(d.Problems, problem)
}

// add puts the CRDs into the catalog. It returns the CRDs that differ from an earlier CRD of their name.
func (d *CRDs) add(given []crdRead) (conflicts []crdRead) {
	given = withoutCopies(given)
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
				conflicts = append(conflicts, given[e.Index])
			} else {
				d.Problems = append(d.Problems, fmt.Errorf("%s: %w", given[e.Index].Location, e))
			}
		}
	}
	for i, r := range given {
		if e := d.catalog.Named(r.CRD.Name); e != nil && !failed[i] {
			def := &Definition{CRD: r.CRD, complete: r.complete, entry: e, Location: r.Location}
			d.byEntry[e] = def
			d.All = append(d.All, def)
		}
	}
	return conflicts
}

// find returns the compiled definition of a kind, or nil if the kind has no usable CRD.
func (d *CRDs) find(gk schema.GroupKind) *Definition {
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
func (d *CRDs) addressee(obj map[string]any, id input.Identity) (def *Definition, typed bool) {
	if !mistyped(obj) {
		return d.find(id.GroupKind()), true
	}
	group := id.GroupKind().Group
	var only *Definition
	for _, def := range d.All {
		spec := def.CRD.Spec
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

// mistyped reports whether an object has an apiVersion or kind that is not a string.
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

// Found returns all problems, including those of the CRDs that have been compiled so far.
func (d *CRDs) Found() []error {
	problems := slices.Clip(d.Problems)
	for _, def := range d.All {
		problems = append(problems, def.problems...)
	}
	return problems
}

// namespaced reports whether a kind is namespaced. It returns true for unknown kinds.
func (d *CRDs) namespaced(gk schema.GroupKind) bool {
	e := d.catalog.Find(gk)
	return e == nil || e.Namespaced()
}

// A BrokenRule is the error of a rule that does not compile, with its location and a hint. The verdict on its CRD has
// the server's error.
type BrokenRule struct{ message string }

func (e *BrokenRule) Error() string { return e.message }

func (def *Definition) compile() {
	e, err := def.entry.Engine()
	var bad *engine.CompileErrors
	if errors.As(err, &bad) {
		crd := def.CRD.ForEngine()
		def.broken = map[engine.RuleRef]bool{}
		for i, rule := range bad.Errors {
			def.broken[rule.RuleRef] = true
			text := resource.BrokenRule(crd.Name, rule)
			if i < excerpt.Shown {
				text = hint.BrokenRule(crd, e, rule)
			}
			def.problems = append(def.problems, &BrokenRule{def.Location + ": " + text})
		}
	} else if err != nil {
		def.problems = append(def.problems, fmt.Errorf("%s: %w", def.Location, err))
	}
	if e != nil {
		def.engine, def.served, def.explainer, def.views = e, e.Info().Served, trace.NewExplainer(e), newViews(def.CRD.ForEngine())
		def.mergeables = newMergeables(def.CRD.ForEngine())
	}
}
