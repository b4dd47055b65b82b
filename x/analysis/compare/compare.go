package compare

import (
	"context"
	"fmt"
	"runtime/debug"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// Config is how long is looked. The same configuration and the same CRDs always
// give the same report.
type Config struct {
	// Steps is how many objects may be tried for one question about a rule, and
	// three times as many for one about the schema; 0 is DefaultSteps.
	Steps int
	// Seed chooses among witnesses.
	Seed uint64
	// KubeVersion is engine.Config's: the Kubernetes minor that decides objects.
	KubeVersion string
}

func (c *Config) engine() engine.Config { return engine.Config{KubeVersion: c.KubeVersion} }

// DefaultSteps is some tenths of a second for most CRDs.
const DefaultSteps = 500

// Effect is what a change does to objects.
type Effect string

// The effects. A change is Breaking where an object, or a client, that was served
// before is not served as well now; Loosening where it is the other way round at
// most; Unknown where nothing was found to break and nothing was proved.
const (
	Breaking   Effect = "breaking"
	Loosening  Effect = "loosening"
	Both       Effect = "both"
	Equivalent Effect = "equivalent"
	Unknown    Effect = "unknown"
)

// Basis is how it is known whether a change breaks anything.
type Basis string

// The bases. What was searched for and not found is not known.
const (
	ByWitness Basis = "witness"
	ByProof   Basis = "proof"
	BySearch  Basis = "search"
)

// Report is all in which two forms of a CRD differ.
type Report struct {
	Name string
	// Changes are the worst first, then by place.
	Changes []CRDChange
}

// CRDChange is one change of a CRD.
type CRDChange struct {
	// Version is that of the new CRD, OldVersion the one it is held against;
	// both are "" for what all versions share.
	Version, OldVersion string
	// Also are other versions with the same change.
	Also []string
	// Path is the place in objects, as "spec.hosts[*]"; "" is the root.
	Path string
	// What changed: rule, message, bound, pattern, type, enum, required, default,
	// field, pruning, list type, nullable, format, version, storage and so on.
	What string
	// Old and New are the texts of it; "" is none.
	Old, New string
	// OldField and NewField are the places in the CRDs, as causes name them; ""
	// where a side has none.
	OldField, NewField string
	Effect             Effect
	By                 Basis
	// Proof says on what a proof rests, or why it needs none.
	Proof string
	// Reason says why nothing is known.
	Reason string
	// Searched is how many objects were tried.
	Searched int
	// Limited is set if nothing is known because the work budget is used up.
	Limited bool
	// Refused is served by the old CRD and not by the new one, Admitted the other
	// way round. Kept is served by both, and gets values from the new one.
	Refused, Admitted, Kept *Witness
}

// Breaks is true where an object shows that the change breaks something, or
// where it takes no object to know.
func (c *CRDChange) Breaks() bool { return c.Effect == Breaking || c.Effect == Both }

// side is one of the two CRDs, in one version.
type side struct {
	crd     *apiextensionsv1.CustomResourceDefinition
	engine  *engine.Engine
	version *apiextensionsv1.CustomResourceDefinitionVersion
	index   int // in spec.versions
	size    int // the work of compiling the CRD
}

func (s *side) schema() *props {
	if s.version == nil || s.version.Schema == nil {
		return nil
	}
	return s.version.Schema.OpenAPIV3Schema
}

// CRDs compares two forms of one CRD, before and after a change. The error is for
// a CRD that has no usable schema, a cancelled context, and bugs of ours.
func CRDs(ctx context.Context, before, after *apiextensionsv1.CustomResourceDefinition, cfg Config) (_ *Report, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &engine.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()}
		}
	}()
	if cfg.Steps == 0 {
		cfg.Steps = DefaultSteps
	}
	if depth := max(crdcopy.Depth(before), crdcopy.Depth(after)); depth > work.MaxDepth {
		return nil, fmt.Errorf("the schema is too deep: %s", work.TooDeep(depth))
	}
	c := &comparison{ctx: ctx, cfg: cfg}
	if c.before, err = compiled(before, cfg); err != nil {
		return nil, fmt.Errorf("the old CRD: %w", err)
	}
	if c.after, err = compiled(after, cfg); err != nil {
		return nil, fmt.Errorf("the new CRD: %w", err)
	}
	c.whole()
	c.versions()
	if err := c.settle(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err // what was cut short looks like what was not found
	}
	return c.report(), nil
}

// compiled may have broken rules: what they would do is not known.
func compiled(crd *apiextensionsv1.CustomResourceDefinition, cfg Config) (*side, error) {
	e, err := engine.Compile(crd, cfg.engine())
	if e == nil {
		return nil, err
	}
	return &side{crd: crd, engine: e, size: crdcopy.CompileWork(crd)}, nil
}

// comparison is the work on one pair of CRDs.
type comparison struct {
	ctx           context.Context
	cfg           Config
	before, after *side // without a version
	changes       []*change
}

// change is one that is being looked into.
type change struct {
	CRDChange
	before, after *side // nil: known as it stands
	// breaks is what the new side asks and the old does not, loosens the other
	// way round; nil is nothing.
	breaks, loosens *goal
}

// settle looks into all changes. Except for the budget of its lane, no answer depends on
// another.
func (c *comparison) settle() error {
	meters := work.Split(len(c.changes), max(crdcopy.Nodes(c.before.crd), crdcopy.Nodes(c.after.crd)))
	return work.InLanes(func(lane int) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = &engine.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()}
			}
		}()
		for i := lane; i < len(c.changes) && err == nil; i += work.Lanes {
			before := meters[lane].Spent()
			if err = c.decide(c.changes[i], meters[lane]); c.changes[i].Effect == Unknown {
				meters[lane].Unanswered(meters[lane].Spent() - before)
			}
		}
		return err
	})
}

// decide finds out what a change does.
func (c *comparison) decide(ch *change, m *work.Meter) error {
	if ch.Effect != "" {
		return nil // known as it stands
	}
	breaks, err := c.pursue(ch.breaks, ch.before, ch.after, m)
	if err != nil {
		return err
	}
	loosens, err := c.pursue(ch.loosens, ch.after, ch.before, m)
	if err != nil {
		return err
	}
	if ch.breaks != nil && ch.breaks.defaulted && (breaks.witness == nil || !breaks.witness.loses()) {
		ch.Kept, breaks.witness = breaks.witness, nil
		breaks.proof = c.untouched(ch, m)
	}
	ch.Refused, ch.Admitted = breaks.witness, loosens.witness
	ch.Searched, ch.Proof, ch.Reason = breaks.searched, breaks.proof, breaks.reason
	ch.Limited = breaks.limited && breaks.witness == nil && breaks.proof == ""
	switch {
	case breaks.witness != nil:
		ch.By = ByWitness
	case breaks.proof != "":
		ch.By = ByProof
	default:
		ch.By = BySearch
	}
	switch {
	case breaks.witness != nil && loosens.witness != nil:
		ch.Effect = Both
	case breaks.witness != nil:
		ch.Effect = Breaking
	case loosens.witness != nil, ch.Kept != nil, ch.By == ByProof && loosens.proof == "":
		ch.Effect = Loosening
	case ch.By == ByProof:
		ch.Effect = Equivalent
		if ch.breaks == nil {
			ch.Proof = loosens.proof // that it asks for less says nothing
		}
	default:
		ch.Effect = Unknown
	}
	return nil
}

// untouched returns a proof that a new default makes no rule of the new side reject what the
// old side admits, or "".
func (c *comparison) untouched(ch *change, m *work.Meter) (proof string) {
	a := &asking{comparison: c, work: m, base: ch.before, other: ch.after}
	for s, steps, i := ch.after.schema(), ch.breaks.at.steps, 0; i <= len(steps); i++ {
		here := at(s, steps[:i])
		if here == nil {
			return ""
		}
		if here.MaxProperties != nil || here.Not != nil || len(here.AllOf)+len(here.AnyOf)+len(here.OneOf) > 0 {
			return "" // the schema may mind it
		}
		for index := range here.XValidations {
			if a.passes(engine.RuleRef{Path: engine.FormatPath(steps[:i]), Index: index}) == nil {
				return ""
			}
		}
	}
	return "no rule minds the default"
}
