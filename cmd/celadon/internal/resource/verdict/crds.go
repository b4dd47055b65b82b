package verdict

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/trace"
)

// CRDs holds the CRDs of a run. Each is compiled when it is first needed. It is safe for concurrent use.
type CRDs struct {
	mu sync.RWMutex // held by Change for writing

	// Problems holds the errors of CRDs that cannot be read or used.
	Problems []error
	// Verdicts holds the reviewer's verdicts in the order of the files. It is empty without a reviewer.
	Verdicts []*finding.CRD
	// All holds the CRDs in the catalog, in the order of the files. Change does not update it.
	All []*Definition
	// Kept holds the objects that Use.Keep selects.
	Kept []map[string]any

	others    []input.Identity // of policies and suites among the CRDs
	catalog   *catalog.Catalog
	byEntry   map[*catalog.Entry]*Definition
	filter    *resource.Filter
	conflicts map[schema.GroupKind]*conflict
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
	served    []string
	explainer *trace.Explainer
	views     map[string]*view
	custom    *policyrequest.Custom
	writer    *apply.Writer
	problems  []error
	broken    map[engine.RuleRef]bool
}

// Use describes how the CRDs of a run are used, other than for validating objects.
type Use struct {
	Vet    *CRDReviewer // vets the CRDs; nil means that they are not vetted
	Before bool         // they are the CRDs before an update that is vetted
	// Unique is set if a CRD that differs from an earlier CRD of its name is a problem.
	Unique bool
	// Optional is set if there need not be a CRD.
	Optional bool
	// Keep, if not nil, selects objects for CRDs.Kept, of the kinds KeptKinds.
	Keep      func(input.Identity) bool
	KeptKinds []string
	// Among is set if the CRDs are among the objects. Documents that cannot be decoded are then reported with the
	// objects.
	Among bool
}

// NewCRDs returns CRDs that were read before, without compiling them. Like Read with Use.Unique, it uses no CRD
// whose name is also that of a different CRD.
func NewCRDs(cfg engine.Config, reads ...resource.Read) *CRDs {
	c := newCRDs(cfg, &resource.Filter{})
	given := make([]crdRead, len(reads))
	for i, r := range reads {
		given[i].Read = r
	}
	c.reportConflicts(c.add(given), given, Use{Unique: true}, cfg)
	return c
}

func newCRDs(cfg engine.Config, filter *resource.Filter) *CRDs {
	all := catalog.New(catalog.Config{Engine: cfg, Lazy: true})
	return &CRDs{catalog: all, byEntry: map[*catalog.Entry]*Definition{}, filter: filter}
}

// Read reads the CRDs of a source without compiling them. The filter has the paths that the user named.
func Read(
	ctx context.Context, source batch.Source, filter *resource.Filter, use Use, cfg engine.Config,
) (*CRDs, error) {
	c := newCRDs(cfg, filter)
	found := 0
	var given []crdRead
	read := func(doc *input.Document) crdRead { return readCRD(ctx, doc, filter, use) }
	err := batch.From(resource.Sourced(source, use.skip()), read, func(r crdRead) error {
		if r.other != (input.Identity{}) {
			c.others = append(c.others, r.other)
		}
		if r.kept != nil {
			c.Kept = append(c.Kept, r.kept)
		}
		if r.vetted != nil {
			c.Verdicts = append(c.Verdicts, r.vetted)
		}
		switch c.lost = c.lost || r.lost; {
		case r.Err != nil:
			found++
			c.unreadable(r)
		case r.CRD != nil:
			found++
			given = append(given, r)
		}
		return nil
	}).Run(ctx)
	if found == 0 && err == nil && !use.Optional {
		problem := fmt.Errorf("%w in %s", ErrNoCRD, strings.Join(filter.Named, ", "))
		if use.Among {
			problem = fmt.Errorf("no CRD given: use --crd PATH: %w", problem)
		}
		c.Problems = append(c.Problems, problem)
	}
	c.reportConflicts(c.add(given), given, use, cfg)
	return c, err
}

// skip returns a function that reports true only if a text has neither a CRD nor an object to keep, or nil if the CRDs
// are not among the objects. Most documents have neither, and finding words takes a tenth of the time of decoding.
func (u *Use) skip() func([]byte) bool {
	if !u.Among {
		return nil
	}
	without := Without(append([]string{"versions"}, u.KeptKinds...)) // a CRD can lack its kind: see resource.Complete
	return func(text []byte) bool { return !resource.MayDefine(text) && without(text) }
}

// Without returns a function that reports true only if a text has none of the words, not even in escaped form.
func Without(words []string) func(text []byte) bool {
	return func(text []byte) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(text, []byte(word)) }) &&
			bytes.IndexByte(text, '\\') < 0
	}
}

var ErrNoCRD = errors.New("no CustomResourceDefinition")

type crdRead struct {
	resource.Read
	complete *apiextensionsv1.CustomResourceDefinition
	vetted   *finding.CRD   // nil unless the CRD is vetted
	lost     bool           // the document cannot be decoded, which is reported elsewhere
	other    input.Identity // of a policy or a suite, which is not reported as an object
	kept     map[string]any
}

func readCRD(ctx context.Context, doc *input.Document, filter *resource.Filter, use Use) crdRead {
	resource.Complete(doc)
	if id := doc.Identity(); !use.Among && !use.Before && doc.Err == nil && (*Admission)(nil).unevaluated(id) != "" {
		return crdRead{other: id}
	}
	if filter.Reason(doc) != "" {
		return crdRead{}
	}
	if use.Among && doc.Err != nil {
		return crdRead{lost: true}
	}
	if filter.Unrendered(doc) {
		return crdRead{Read: resource.Read{Location: doc.File, Err: resource.ErrTemplate}}
	}
	if use.Keep != nil && doc.Err == nil && use.Keep(doc.Identity()) {
		return crdRead{kept: doc.Object}
	}
	read := crdRead{Read: resource.One(doc)}
	if read.CRD == nil || read.Err != nil {
		return read
	}
	if use.Before {
		read.complete, read.Err = resource.Decode(doc)
	}
	if use.Vet != nil {
		read.vetted = use.Vet.Review(ctx, doc)
	}
	return read
}

// unreadable adds the error of a template only once, not for each of its documents.
func (c *CRDs) unreadable(r crdRead) {
	problem := fmt.Errorf("%s: %w", r.Location, r.Err)
	if n := len(c.Problems); r.Err == resource.ErrTemplate && n > 0 && c.Problems[n-1].Error() == problem.Error() {
		return
	}
	c.Problems = append(c.Problems, problem)
}

func (c *CRDs) add(given []crdRead) (conflicts []crdRead) {
	given = withoutCopies(given)
	failed := c.put(given, nil)
	for i, r := range given {
		switch err := failed[i]; {
		case errors.Is(err, catalog.ErrTwice):
			conflicts = append(conflicts, r)
		case err != nil:
			c.Problems = append(c.Problems, fmt.Errorf("%s: %w", r.Location, err))
		}
		if def := c.byEntry[c.catalog.Named(r.CRD.Name)]; def != nil && failed[i] == nil {
			c.All = append(c.All, def)
		}
	}
	return conflicts
}

// put removes CRDs by name before it adds the others. It returns errors by index in given.
func (c *CRDs) put(given []crdRead, remove []string) map[int]error {
	crds := make([]*apiextensionsv1.CustomResourceDefinition, len(given))
	for i, r := range given {
		crds[i] = r.CRD.ForEngine()
	}
	failed := map[int]error{}
	var errs *catalog.Errors
	if err := c.catalog.Apply(crds, remove); errors.As(err, &errs) {
		for _, e := range errs.Errors {
			failed[e.Index] = e
		}
	}
	for i, r := range given {
		if e := c.catalog.Named(r.CRD.Name); e != nil && c.byEntry[e] == nil && failed[i] == nil {
			c.byEntry[e] = &Definition{CRD: r.CRD, complete: r.complete, entry: e, Location: r.Location}
		}
	}
	return failed
}

// Change removes CRDs by name and adds others, whose names must be distinct. A CRD that did not change stays compiled.
// CRDs that cannot be used are not added.
func (c *CRDs) Change(reads []resource.Read, remove []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	given := make([]crdRead, len(reads))
	for i, r := range reads {
		given[i].Read = r
	}
	c.put(given, remove)
	for e := range c.byEntry {
		if c.catalog.Named(e.Name) != e {
			delete(c.byEntry, e)
		}
	}
}

// Engine compiles a CRD. If it equals the CRD of its name in c, the result is the engine that validates objects. It
// returns the errors of engine.Compile.
func (c *CRDs) Engine(of *resource.Compact, cfg engine.Config) (*engine.Engine, error) {
	crd := of.ForEngine()
	c.mu.RLock()
	e := c.catalog.Named(crd.Name)
	c.mu.RUnlock()
	if e != nil && (e.CRD == crd || reflect.DeepEqual(e.CRD.Spec, crd.Spec)) {
		return e.Engine()
	}
	return engine.Compile(crd, cfg)
}

// Definition returns the CRD of a kind and its engine, or nil if the kind has no usable CRD.
func (c *CRDs) Definition(kind schema.GroupKind) (*apiextensionsv1.CustomResourceDefinition, *engine.Engine) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	def := c.find(kind)
	if def == nil {
		return nil, nil
	}
	return def.CRD.ForEngine(), def.engine
}

// Wanted returns the CRDs whose plural name and kind are wanted, sorted by name.
func (c *CRDs) Wanted(wanted func(plural, kind string) bool) (crds []*apiextensionsv1.CustomResourceDefinition) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, name := range c.catalog.Names() {
		if e := c.catalog.Named(name); e != nil && wanted(e.CRD.Spec.Names.Plural, e.CRD.Spec.Names.Kind) {
			crds = append(crds, e.CRD)
		}
	}
	return crds
}

// Knows reports whether there is a CRD for a kind.
func (c *CRDs) Knows(kind schema.GroupKind) bool { return c.catalog.Find(kind) != nil }

func (c *CRDs) find(gk schema.GroupKind) *Definition {
	def := c.byEntry[c.catalog.Find(gk)]
	if def == nil {
		return nil
	}
	def.once.Do(def.compile)
	if def.engine == nil {
		return nil
	}
	return def
}

// Found returns all problems, including problems of the CRDs that have been compiled so far.
func (c *CRDs) Found() []error {
	problems := slices.Clip(c.Problems)
	for _, def := range c.All {
		problems = append(problems, def.problems...)
	}
	return problems
}

// namespaced returns true for an unknown kind.
func (c *CRDs) namespaced(gk schema.GroupKind) bool {
	if gk == (schema.GroupKind{Kind: "Namespace"}) { // which is known without a CRD
		return false
	}
	e := c.catalog.Find(gk)
	return e == nil || e.Namespaced()
}

// A BrokenRule is the error of a rule that does not compile, with its location and possibly a hint. The verdict on
// its CRD has the server's error.
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
		def.custom = policyrequest.NewCustom(def.CRD.ForEngine(), e)
		def.writer = apply.NewWriter(def.CRD.ForEngine(), e)
	}
}
