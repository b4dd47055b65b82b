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
	engine      *engine.Engine // nil for an uncompiled CRD
	kubeVersion string

	mu    sync.Mutex
	costs *estimates // nil before the first question about costs
}

// NewCRD returns a CRD whose engine was compiled from definition, which must not change
// afterwards.
func NewCRD(definition *apiextensionsv1.CustomResourceDefinition, e *engine.Engine) *CRD {
	return &CRD{definition: definition, engine: e, kubeVersion: e.KubeVersion()}
}

// UncompiledCRD returns a CRD for proofs, which need no engine. [Analyzer.Compile] makes
// searches possible.
func UncompiledCRD(definition *apiextensionsv1.CustomResourceDefinition, kubeVersion string) *CRD {
	return &CRD{definition: definition, kubeVersion: kubeVersion}
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
	a := &Analyzer{crd: c, engine: c.engine, cfg: cfg}
	for i := range c.definition.Spec.Versions {
		if v := &c.definition.Spec.Versions[i]; v.Name == name || name == "" && v.Storage {
			a.version = v
		}
	}
	if c.engine == nil {
		return a, nil
	}
	return a, a.prepareSearch(name)
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
	engine  *engine.Engine
	version *apiextensionsv1.CustomResourceDefinitionVersion
	cfg     Config
	meter   *work.Meter    // charged by all questions; nil sets no limit
	search  *search.Search // nil before Compile
	prover  *prove.Prover  // nil before the first proof
}

// Compile compiles an uncompiled CRD. If only some of its rules do not compile, the error is
// an *engine.CompileErrors, and searches about other rules are possible.
func (a *Analyzer) Compile() error {
	e, err := engine.Compile(a.crd.definition, engine.Config{KubeVersion: a.crd.kubeVersion})
	if e == nil {
		return err
	}
	a.engine = e
	return cmp.Or(a.prepareSearch(a.version.Name), err)
}

func (a *Analyzer) prepareSearch(version string) (err error) {
	cfg := search.Config{Steps: a.cfg.Steps, Seed: a.cfg.Seed}
	if a.cfg.Beside != nil {
		cfg.Beside = a.cfg.Beside.search
	}
	if a.search, err = search.New(a.crd.definition, a.engine, version, cfg); err == nil {
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
