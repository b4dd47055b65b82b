package analysis

import (
	"cmp"
	"context"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/prove"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

// A CRD is a definition about which questions are asked. It is safe for concurrent use.
type CRD struct {
	definition  *apiextensionsv1.CustomResourceDefinition
	engine      *engine.Engine // nil before Compile
	kubeVersion string

	mu    sync.Mutex
	costs *estimates // nil before the first question about costs
}

// NewCRD returns a CRD whose engine was compiled from definition, which must not change
// afterwards.
func NewCRD(definition *apiextensionsv1.CustomResourceDefinition, e *engine.Engine) *CRD {
	return &CRD{definition: definition, engine: e, kubeVersion: e.KubeVersion()}
}

// Config determines how much an Analyzer searches. The same configuration and the same CRD
// always give the same answers.
type Config struct {
	// Steps is the number of writes that may be tried for one question; 0 is
	// search.DefaultSteps.
	Steps int
	// Seed chooses among the objects that show an outcome.
	Seed uint64
	// Limits are the cost limits of the engine.
	Limits cost.Limits
	// Beside, if not nil, is another form of the same CRD version. Searches then find only
	// writes that this form admits.
	Beside *Analyzer
}

// Version returns an Analyzer for a version of the CRD; "" is the storage version.
func (c *CRD) Version(name string, cfg Config) (*Analyzer, error) {
	a := c.analyzer(name, cfg)
	if err := a.prepareSearch(name); err != nil {
		return nil, err
	}
	return a, nil
}

func (c *CRD) analyzer(version string, cfg Config) *Analyzer {
	a := &Analyzer{crd: c, cfg: cfg}
	for i := range c.definition.Spec.Versions {
		if v := &c.definition.Spec.Versions[i]; v.Name == version || version == "" && v.Storage {
			a.version = v
		}
	}
	return a
}

// estimates returns the cost estimates of the CRD's rules.
func (c *CRD) estimates(ctx context.Context) (*estimates, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.costs != nil {
		return c.costs, nil
	}
	costs, err := estimate(ctx, c.definition, c.kubeVersion)
	c.costs = costs
	return costs, err
}

// An Analyzer answers questions about the rules of one version of a CRD. It is not safe for
// concurrent use.
type Analyzer struct {
	crd     *CRD
	version *apiextensionsv1.CustomResourceDefinitionVersion
	cfg     Config
	meter   *work.Meter    // charged by all questions; nil sets no limit
	search  *search.Search // nil before Compile
	prover  *prove.Prover  // nil before the first proof
}

// Uncompiled returns an Analyzer for a version of a CRD that is not compiled. It can only
// prove; Compile makes searches possible.
func Uncompiled(definition *apiextensionsv1.CustomResourceDefinition, kubeVersion, version string, cfg Config) *Analyzer {
	c := &CRD{definition: definition, kubeVersion: kubeVersion}
	return c.analyzer(version, cfg)
}

// Compile compiles the CRD of an Analyzer that Uncompiled returned. If only some of its
// rules do not compile, the error is an *engine.CompileErrors, and searches about the other
// rules are possible.
func (a *Analyzer) Compile() error {
	e, err := engine.Compile(a.crd.definition, engine.Config{KubeVersion: a.crd.kubeVersion})
	if e == nil {
		return err
	}
	a.crd.engine = e
	return cmp.Or(a.prepareSearch(a.version.Name), err)
}

func (a *Analyzer) prepareSearch(version string) (err error) {
	cfg := search.Config{Steps: a.cfg.Steps, Seed: a.cfg.Seed}
	if a.cfg.Beside != nil {
		cfg.Beside = a.cfg.Beside.search
	}
	if a.search, err = search.New(a.crd.definition, a.crd.engine, version, cfg); err == nil {
		a.search.Charge(a.meter)
	}
	return err
}

// proofs returns the prover of the version, or nil if nothing can be proved about it.
func (a *Analyzer) proofs() *prove.Prover {
	if a.prover != nil || a.version == nil {
		return a.prover
	}
	p, err := prove.New(a.version, prove.Config{KubeVersion: a.crd.kubeVersion})
	if err != nil {
		return nil
	}
	p.Charge(a.meter)
	a.prover = p
	return p
}
