// Package verdict determines whether an API server would accept objects, by CRDs, built-in kinds, and admission
// policies.
//
//	crds, err := verdict.Read(ctx, source, filter, verdict.Use{}, engineConfig)
//	decider := verdict.New(verdict.Config{Validation: "Strict", Locate: true}, crds)
//	report := decider.Decide(ctx, doc)
//
// A document goes through four stages. Each of the first three may determine the verdict:
//
//	classify  is the document an object to be validated here?             classify.go
//	route     which CRD, or which built-in kind, validates the object?    route.go
//	decide    would the server accept the write?                          write.go, which calls the other files
//	describe  where are the errors, why, and what would be persisted?     describe.go
//
// The first three stages return an outcome. Only describe writes it to the report.
package verdict

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/trace"
)

// Config determines how objects are validated, and the contents of the report about them.
type Config struct {
	KubeVersion string
	// Validation is the fieldValidation of the request: Strict, Warn, or Ignore.
	Validation string
	// Subresource is one of policyrequest.Updated or policyrequest.Sent, or "".
	Subresource string
	// Apply is the kind of write. Without a Kind, updates depend on the objects, and other writes are plain creates.
	Apply apply.Write
	// Before holds the CRDs before an upgrade, and Olds the old objects, if any.
	Before *CRDs
	Olds   *Olds
	// Admission, if not nil, holds the policies for the objects, and the user of the requests.
	Admission *Admission
	// Server validates objects of built-in kinds. If it is nil, only their structure is validated, and only if there
	// are policies.
	Server policyrequest.Server

	// Filter determines which documents are not objects. Without it, all files count as found below a folder.
	Filter *resource.Filter
	// Among is set if the CRDs are among the documents. They are then not counted as objects, unless policies match
	// CRDs.
	Among bool
	// Elsewhere, if not nil, reports whether another shard validates an object. Keyed adds the key of each object.
	Elsewhere func(*finding.Object) bool
	Keyed     bool
	// Selector, if not nil, selects the custom resources that are reported.
	Selector fields.Selector

	// Locate adds positions and excerpts for a report of Width columns; 0 is the default width. Explain adds the
	// values in failed rules. Trace adds each rule that ran.
	Locate, Explain, Trace bool
	Width                  int
	// These add data about accepted objects: the persisted object, its selectable fields, the difference between the
	// input and the persisted object, and the row of kubectl get at the time Now. A zero Now means the current time.
	Persisted, Selectable, Diff, Row bool
	Now                              time.Time
	// ObservePolicy, if not nil, is called with the values of the expressions of each evaluated policy.
	ObservePolicy func(policy.Evaluation, []policy.ExpressionValue)
	// Observe, if not nil, is called for each run of a rule, except in upgrades.
	Observe func(engine.RuleRun)
}

// A Decider validates documents. It is safe for concurrent use.
type Decider struct {
	Config
	CRDs *CRDs
	// explained limits the work of explanations in a run. Callers that print results must call Settle.
	explained trace.Run

	builtins   policyrequest.Builtins
	admitsCRDs bool
	webhooks   webhookCalls

	tables  sync.Map // of the rows of built-in kinds
	assumed sync.Map // the objects that admission plugins need but that were not given
	copies  sync.Map // the deciders of each CRD, by conflict
	// untracked is set if an old object has no trace of the tool that wrote it.
	untracked atomic.Bool
	immutable sync.Map // the files whose objects must be recreated
}

// New returns a Decider that validates objects by crds.
func New(cfg Config, crds *CRDs) *Decider {
	if cfg.Filter == nil {
		cfg.Filter = &resource.Filter{}
	}
	if cfg.Olds == nil {
		cfg.Olds = NewOlds()
	}
	return &Decider{
		Config: cfg, CRDs: crds, builtins: policyrequest.Builtins{Server: cfg.Server}, admitsCRDs: cfg.Admission.matchesCRDs(),
	}
}

// Problems returns the errors of the CRDs, old and new, and of the old objects.
func (d *Decider) Problems() []error {
	problems := append(d.CRDs.Found(), d.Olds.errs...)
	if d.Before != nil {
		problems = append(problems, d.Before.Found()...)
	}
	return problems
}

// Notes returns remarks about the input and the requests.
func (d *Decider) Notes() []error {
	notes := slices.Concat(d.CRDs.filter.ChartNotes(), d.CRDs.conflictNotes(), d.Filter.Notes())
	add := func(format string, names *sync.Map) {
		if some := someOf(names); some != "" {
			notes = append(notes, fmt.Errorf(format, some))
		}
	}
	notes = append(notes, d.webhooks.notes()...)
	if d.untracked.Load() {
		notes = append(notes, errUntracked)
	}
	add("immutable fields change in %s: only a new object can have the new values: kubectl replace --force -f FILE", &d.immutable)
	add("assumed to exist, because they are not given: %s", &d.assumed)
	seen := map[string]bool{}
	return slices.DeleteFunc(notes, func(note error) bool { // documents of a chart are read as CRDs, and as objects
		again := seen[note.Error()]
		seen[note.Error()] = true
		return again
	})
}

func someOf(set *sync.Map) string {
	var names []string
	set.Range(func(key, _ any) bool {
		names = append(names, key.(string))
		return true
	})
	slices.Sort(names)
	return resource.Some(names, maxNoted)
}

const maxNoted = 5

type decision struct {
	*Decider
	doc    *input.Document
	report *finding.Object
	// def is the CRD that validates the object, and builtin its kind if that is built in. Both are nil before route.
	def     *Definition
	builtin *policyrequest.Builtin
	// subresource is set instead of them for an object that is only sent to a subresource.
	subresource *policyrequest.Subresource
	// absence is set if a server does not serve the kind, although its group is built in.
	absence  *policyrequest.Absence
	before   *oldObject
	conflict *conflict
	// typed is set unless apiVersion or kind is a value other than a string.
	typed bool
}

// An outcome is the verdict of a stage, and the reason. Without a verdict, the next stage follows.
type outcome struct {
	verdict   string
	problem   string
	limit     *engine.WorkLimitError
	bug       error
	operation string // if it differs from the report's
	status    *finding.Status
	causes    []finding.Cause // of a rejection that is not by a CRD
	denied    string          // the resource that a policy denies
	// result is the engine's result for request, if the CRD accepts or rejects the object. processed is the object
	// as persisted, or as far as it was processed; nil means the document's object.
	request   engine.Request
	result    *engine.Result
	processed map[string]any
}

// failed treats errors of unknown types as internal errors.
func failed(err error) outcome {
	var limit *engine.WorkLimitError
	var notChecked *engine.NotCheckedError
	var converter *conversion.Error
	switch {
	case errors.As(err, &limit):
		return outcome{verdict: finding.Undecided, problem: err.Error(), limit: limit}
	case errors.As(err, &converter): // the converter that the user named does not respond
		return outcome{verdict: finding.Undecided, problem: "not checked: " + err.Error()}
	case errors.As(err, &notChecked):
		return outcome{verdict: finding.Skipped, problem: notChecked.Error()}
	}
	return outcome{verdict: finding.Unreadable, problem: err.Error(), bug: err}
}

// Decide returns the verdict on a document, or nil if the context is canceled.
func (d *Decider) Decide(ctx context.Context, doc *input.Document) *finding.Object {
	if ctx.Err() != nil {
		return nil
	}
	d.CRDs.mu.RLock()
	defer d.CRDs.mu.RUnlock()
	way := &decision{Decider: d, doc: doc, report: newReport(doc)}
	out := way.classify()
	if out.verdict == "" {
		out = way.route()
	}
	if way.conflict != nil {
		if report := d.decideByEach(ctx, doc, way.conflict); report != nil {
			return report
		}
	}
	if out.verdict == "" {
		out = way.decide(ctx)
	}
	way.report.Unevaluated = d.Admission.unevaluated(doc.Identity())
	way.describe(ctx, &out)
	if way.report.Verdict == finding.Invalid && !doc.Live && !doc.Rendered {
		d.Filter.Kustomizations.Invalid(doc.File)
	}
	if ctx.Err() != nil {
		return nil
	}
	return way.report
}

func newReport(doc *input.Document) *finding.Object {
	return &finding.Object{
		File: doc.File, Document: doc.Index, Item: doc.Item, Line: doc.Line, Warnings: []string{}, Causes: []finding.Cause{},
	}
}
