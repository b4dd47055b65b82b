package compare

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// Config holds the search effort and the Kubernetes versions.
type Config struct {
	// Steps limits the objects that may be tried for a question about a rule. Questions about the schema may use
	// more. 0 is DefaultSteps.
	Steps int
	// Seed selects among possible witnesses.
	Seed uint64
	// KubeVersion is the Kubernetes minor whose API server is emulated, as in engine.Config.
	KubeVersion string
	// ToKubeVersion is the minor that serves the new CRD; "" is KubeVersion. If it is another minor, the comparison
	// also looks for objects that the two minors treat differently.
	ToKubeVersion string
	// Earlier is the work of earlier comparisons that share the budget of this one: the sum of Report.Work.
	Earlier int64
}

func (c *Config) upgrades() bool { return c.ToKubeVersion != "" && c.ToKubeVersion != c.KubeVersion }

// DefaultSteps is the default of Config.Steps.
const DefaultSteps = 500

// An Effect is the effect of a change on objects and clients.
type Effect string

// The effects. A Breaking change rejects an object or a client that was served before, or drops or
// changes a persisted value. A Loosening change may have the opposite effect, and no object that it
// breaks is known. Both has both effects, Equivalent has neither, and Unknown covers all other cases.
const (
	Breaking   Effect = "breaking"
	Loosening  Effect = "loosening"
	Both       Effect = "both"
	Equivalent Effect = "equivalent"
	Unknown    Effect = "unknown"
)

// Breaks reports whether a change with the effect breaks an object or client. Either a witness shows
// that, or it is evident from the change.
func (e Effect) Breaks() bool { return e == Breaking || e == Both }

// A Basis is the evidence for whether a change breaks anything.
type Basis string

// The bases. BySearch means that no broken object is known. Such an object may still exist.
const (
	ByWitness Basis = "witness"
	ByProof   Basis = "proof"
	BySearch  Basis = "search"
)

// A Report holds the differences between two forms of a CRD.
type Report struct {
	Name string
	// Changes are sorted by effect, most severe first, then by path.
	Changes []CRDChange
	// Work is the work of the comparison, for Config.Earlier.
	Work int64
}

// A CRDChange is a change of a CRD.
type CRDChange struct {
	// Version is a version of the new CRD, or a version that it no longer has. OldVersion is the
	// version of the old CRD to which it is compared, or "" for a change that adds a version. Both are
	// "" for changes that do not belong to a version.
	Version, OldVersion string
	// Also lists other versions with the same change.
	Also []string
	// Path is the path in objects, such as "spec.hosts[*]". It is "" for the root and for changes without a path.
	Path string
	// Subject is the kind of the changed element: rule, message, bound, pattern, type, enum, required,
	// default, field, pruning, list type, nullable, format, version, storage, and so on.
	Subject string
	// Old and New describe the element in the old and in the new CRD. "" means that it is absent.
	Old, New string
	// OldField and NewField are the paths in the CRDs, in the form of causes. If a side does not have the
	// element, its path is the path that the element would have, or the path of a field that would contain
	// it. OldField is "" for differences between Kubernetes versions.
	OldField, NewField string
	Effect             Effect
	// Clusters describes the clusters that a breaking change breaks, as in "clusters that have …"; "" is all clusters.
	Clusters string
	By       Basis
	// Proof is the basis of a proof, or the reason why no proof is needed.
	Proof string
	// Reason, if not empty, explains why it is unknown whether the change breaks anything.
	Reason string
	// Searched is the number of objects that were tried to find a broken one.
	Searched int
	// Limited is set if the work budget was used up before the change was known to break something or nothing.
	Limited bool
	// Rejected is served by the old CRD but not by the new CRD, or only with lost or changed values; Admitted is
	// the opposite. Kept is served by both, but persisted differently, for example with a new default.
	Rejected, Admitted, Kept *Witness
}

type crdVersion = apiextensionsv1.CustomResourceDefinitionVersion

// A side is one of the two CRDs, in one version unless version is nil.
type side struct {
	crd     *apiextensionsv1.CustomResourceDefinition
	engine  *engine.Engine
	version *crdVersion
	index   int // in spec.versions
	size    int // the work of compiling the CRD

	kubeVersion string
}

func (s *side) schema() *props {
	if s.version == nil || s.version.Schema == nil {
		return nil
	}
	return s.version.Schema.OpenAPIV3Schema
}

// CRDs compares two forms of a CRD, before and after a change. It returns an error if a CRD has no
// usable schema, if a schema is too deep, if there are too many changes, if ctx is done, or on an
// internal error.
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
	if c.before, err = compiled(before, cfg.KubeVersion); err != nil {
		return nil, fmt.Errorf("the old CRD: %w", err)
	}
	if c.after, err = compiled(after, cmp.Or(cfg.ToKubeVersion, cfg.KubeVersion)); err != nil {
		return nil, fmt.Errorf("the new CRD: %w", err)
	}
	c.compareCRDFields()
	if err := c.versions(); err != nil {
		return nil, err
	}
	if err := c.settle(); err != nil {
		return nil, err
	}
	if err := c.isolate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err // interrupted searches look like searches without a result
	}
	return c.report(), nil
}

// compiled returns a side without a version. Its CRD may have invalid rules.
func compiled(crd *apiextensionsv1.CustomResourceDefinition, kubeVersion string) (*side, error) {
	e, err := engine.Compile(crd, engine.Config{KubeVersion: kubeVersion})
	if e == nil {
		return nil, err
	}
	return &side{crd: crd, engine: e, size: crdcopy.CompileWork(crd), kubeVersion: kubeVersion}, nil
}

type comparison struct {
	ctx           context.Context
	cfg           Config
	before, after *side // version is nil
	changes       []*change
	spent         int64
	bytes         int // of visited paths and of changes, see full
}

type change struct {
	CRDChange
	before, after *side // nil for changes that fact adds
	// breaks is the goal for objects that only the old side accepts or keeps, loosens for objects that
	// only the new side does. Each is nil if the change itself does not affect such objects.
	breaks, loosens *goal
	// altered is set if rules that are the same on both sides may see other values at or below the path. adds is set if
	// the value may also be present now where it was absent.
	altered, adds bool
	merged        bool // server-side apply merges the value in another way
	at            schemaPath
	// upgrade is set for the change of the Kubernetes version, for which found holds the differences.
	upgrade bool
	found   []CRDChange
}

// Work that c or earlier comparisons have spent reduces the budget of the run.
func (c *comparison) newRun(questions, nodes int) *work.Meter {
	return work.NewRun(questions, nodes).After(c.cfg.Earlier + c.spent)
}

func (c *comparison) addWork(meters ...*work.Meter) {
	for _, m := range meters {
		c.spent += m.Spent()
	}
}

func (c *comparison) settle() error {
	meters := c.newRun(len(c.changes), max(crdcopy.Nodes(c.before.crd), crdcopy.Nodes(c.after.crd))).Split()
	defer c.addWork(meters[:]...)
	return work.InLanes(func(lane int) (err error) {
		for i := lane; i < len(c.changes) && err == nil; i += work.Lanes {
			before := meters[lane].Spent()
			if err = c.decide(c.changes[i], meters[lane]); c.changes[i].Effect == Unknown {
				meters[lane].Unanswered(meters[lane].Spent() - before)
			}
		}
		return err
	})
}

func (c *comparison) decide(ch *change, m *work.Meter) error {
	if ch.Effect != "" {
		return nil // known without a search
	}
	if ch.upgrade {
		return c.upgraded(ch, m)
	}
	breaks, err := c.pursue(ch.breaks, ch.before, ch.after, m)
	if err != nil {
		return err
	}
	loosens, err := c.pursue(ch.loosens, ch.after, ch.before, m)
	if err != nil {
		return err
	}
	if w := breaks.witness; w != nil && ch.breaks.defaulted && !w.losesValue() {
		ch.Kept, breaks.witness, breaks.proof = w, nil, "no rule depends on the default"
		if ch.Subject == "nullable" {
			breaks.proof = "no rule depends on null"
		}
	}
	if ch.altered && breaks.witness == nil && breaks.proof != "" {
		if breaks, err = c.reread(ch, breaks, m); err != nil {
			return err
		}
	}
	ch.Rejected, ch.Admitted = breaks.witness, loosens.witness
	ch.Searched, ch.Proof, ch.Reason = breaks.searched, breaks.proof, breaks.reason
	ch.Limited = breaks.limited && breaks.witness == nil && breaks.proof == ""
	looser := loosens.witness != nil || ch.Kept != nil
	switch {
	case breaks.witness != nil && loosens.witness != nil:
		ch.By, ch.Effect = ByWitness, Both
	case breaks.witness != nil:
		ch.By, ch.Effect = ByWitness, Breaking
	case breaks.proof == "" && looser:
		ch.By, ch.Effect = BySearch, Loosening
	case breaks.proof == "":
		ch.By, ch.Effect = BySearch, Unknown
	case looser || loosens.proof == "":
		ch.By, ch.Effect = ByProof, Loosening
	default:
		ch.By, ch.Effect = ByProof, Equivalent
		if ch.breaks == nil {
			ch.Proof = loosens.proof // it explains the equivalence
		}
	}
	if ch.merged && !ch.Effect.Breaks() {
		ch.Effect, ch.By, ch.Proof, ch.Reason = Unknown, BySearch, "", "server-side apply merges the value in another way"
	}
	return nil
}

var rank = map[Effect]int{Breaking: 0, Both: 1, Unknown: 2, Loosening: 3, Equivalent: 4}

func (c *comparison) report() *Report {
	r := &Report{Name: c.after.crd.Name, Work: c.spent}
	shared := map[[6]string]int{}
	for _, ch := range c.changes {
		list := []CRDChange{ch.CRDChange}
		if len(ch.found) > 0 {
			list = ch.found
		}
		for _, one := range list {
			if one.Version != "" && one.OldVersion == one.Version {
				key := [...]string{one.Path, one.Subject, one.Old, one.New, string(one.Effect), string(one.By)}
				if i, ok := shared[key]; ok && r.Changes[i].Version != one.Version {
					r.Changes[i].Also = append(r.Changes[i].Also, one.Version)
					continue
				} else if !ok {
					shared[key] = len(r.Changes)
				}
			}
			r.Changes = append(r.Changes, one)
		}
	}
	slices.SortStableFunc(r.Changes, func(a, b CRDChange) int {
		return cmp.Or(cmp.Compare(rank[a.Effect], rank[b.Effect]), strings.Compare(a.Path, b.Path))
	})
	return r
}
