package ruletest

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// Policies are admission policies with everything that they refer to. They must not be modified while
// suites run.
type Policies struct {
	// Documents are the policies, their bindings, params objects, Namespaces, and RBAC objects.
	Documents []map[string]any
	// Set is compiled from Documents for the newest Kubernetes version.
	Set *policy.Set
	// Namespaced is as in policy.Config.
	Namespaced map[schema.GroupKind]bool
	// Validation is as in policyrequest.Describer.
	Validation func(policy string, index int, condition string) policyrequest.Validation

	mu   sync.Mutex
	sets map[string]func() (*compiledSet, error) // by Kubernetes version
}

type compiledSet struct {
	*policy.Set
	observer PolicyObserver // can be nil
}

func (p *Policies) compiled(kubeVersion string, cfg *Config) (*compiledSet, error) {
	p.mu.Lock()
	if p.sets == nil {
		p.sets = map[string]func() (*compiledSet, error){}
	}
	set := p.sets[kubeVersion]
	if set == nil {
		set = sync.OnceValues(func() (*compiledSet, error) { return p.compile(kubeVersion, cfg) })
		p.sets[kubeVersion] = set
	}
	p.mu.Unlock()
	return set()
}

func (p *Policies) compile(kubeVersion string, cfg *Config) (_ *compiledSet, err error) {
	c := &compiledSet{Set: p.Set}
	if kubeVersion != "" {
		if c.Set, err = policy.Compile(p.Documents, policy.Config{KubeVersion: kubeVersion, Namespaced: p.Namespaced}); err != nil {
			return nil, fmt.Errorf("policies: %w", err)
		}
	}
	if cfg.WatchPolicies != nil {
		c.observer = cfg.WatchPolicies(c.Set)
	}
	return c, nil
}
