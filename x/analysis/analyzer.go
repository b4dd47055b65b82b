package analysis

import (
	"cmp"
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/prove"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

// Config determines how much an Analyzer searches. The same configuration and the same CRD always
// produce the same results.
type Config struct {
	// Steps limits the writes that are tried for a question; 0 is search.DefaultSteps.
	Steps int
	// Seed chooses among the objects that show an outcome.
	Seed uint64
	// CostProof, if not nil, returns the reason why a rule cannot exceed a cost limit, or "" if it
	// may. It must be safe for concurrent use. Package budget provides such a function.
	CostProof func(ctx context.Context, rule engine.RuleRef) (string, error)
	// OtherForm, if not nil, is a compiled Analyzer of another form of the same CRD version. Searches
	// then find only writes that this form admits.
	OtherForm *Analyzer
}

// An Analyzer answers questions about the rules of a version of a CRD. It is not safe for
// concurrent use.
type Analyzer struct {
	definition  *apiextensionsv1.CustomResourceDefinition
	engine      *engine.Engine // nil before Compile
	kubeVersion string
	version     *apiextensionsv1.CustomResourceDefinitionVersion
	cfg         Config
	meter       *work.Meter    // charged by all questions; nil sets no limit
	search      *search.Search // nil before Compile
	prover      *prove.Prover  // nil before the first proof
}

// New returns an Analyzer for a version of a CRD from which e was compiled; "" is the storage
// version. The definition must not change afterwards.
func New(definition *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, version string, cfg Config) (*Analyzer, error) {
	a := Uncompiled(definition, e.Info().KubeVersion, version, cfg)
	a.engine = e
	if err := a.prepareSearch(version); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *Analyzer) newLane() (*Analyzer, error) {
	lane := Uncompiled(a.definition, a.kubeVersion, a.version.Name, a.cfg)
	lane.engine = a.engine
	return lane, lane.prepareSearch(a.version.Name)
}

// Uncompiled returns an Analyzer for a version of a CRD that is not compiled. It can only
// prove; Compile makes searches possible.
func Uncompiled(definition *apiextensionsv1.CustomResourceDefinition, kubeVersion, version string, cfg Config) *Analyzer {
	a := &Analyzer{definition: definition, kubeVersion: kubeVersion, cfg: cfg}
	for i := range definition.Spec.Versions {
		if v := &definition.Spec.Versions[i]; v.Name == version || version == "" && v.Storage {
			a.version = v
		}
	}
	return a
}

// Compile compiles the CRD of an Analyzer that Uncompiled returned. If only some of its
// rules do not compile, the error is an *engine.CompileErrors, and searches about the other
// rules are possible.
func (a *Analyzer) Compile() error {
	if a.version == nil {
		return fmt.Errorf("CustomResourceDefinition %q does not have this version", a.definition.Name)
	}
	e, err := engine.Compile(a.definition, engine.Config{KubeVersion: a.kubeVersion})
	if e == nil {
		return err
	}
	a.engine = e
	return cmp.Or(a.prepareSearch(a.version.Name), err)
}

func (a *Analyzer) prepareSearch(version string) (err error) {
	cfg := search.Config{Steps: a.cfg.Steps, Seed: a.cfg.Seed}
	if a.cfg.OtherForm != nil {
		cfg.OtherForm = a.cfg.OtherForm.search
	}
	if a.search, err = search.New(a.definition, a.engine, version, cfg); err == nil {
		a.search.Charge(a.meter)
	}
	return err
}

// InLanes distributes rules over lanes and runs the lanes concurrently. Rules with the same path share a lane. In each
// lane it calls do for one rule after another, with the rule's index and an Analyzer that charges the lane's meter.
func (a *Analyzer) InLanes(rules []engine.RuleRef, meters [work.Lanes]*work.Meter, do func(lane *Analyzer, i int) error) error {
	lanes := divide(rules)
	return work.InLanes(func(n int) error {
		if len(lanes[n]) == 0 {
			return nil
		}
		lane, err := a.newLane()
		if err != nil {
			return err
		}
		lane.Charge(meters[n])
		for _, i := range lanes[n] {
			if err := do(lane, i); err != nil {
				return err
			}
		}
		return nil
	})
}

func divide(rules []engine.RuleRef) (lanes [work.Lanes][]int) {
	byPath := map[string][]int{}
	var paths []string
	for i, rule := range rules {
		if byPath[rule.Path] == nil {
			paths = append(paths, rule.Path)
		}
		byPath[rule.Path] = append(byPath[rule.Path], i)
	}
	for i, path := range paths {
		lanes[i%work.Lanes] = append(lanes[i%work.Lanes], byPath[path]...)
	}
	return lanes
}
