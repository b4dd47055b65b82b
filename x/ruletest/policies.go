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
	sets map[string]*compiledSet // by Kubernetes version
}

type compiledSet struct {
	once     sync.Once
	set      *policy.Set
	observer PolicyObserver
	err      error
}

// compiled returns the policies for a Kubernetes version and their observer; "" is the newest version.
func (p *Policies) compiled(kubeVersion string, cfg *Config) (*policy.Set, PolicyObserver, error) {
	p.mu.Lock()
	if p.sets == nil {
		p.sets = map[string]*compiledSet{}
	}
	c := p.sets[kubeVersion]
	if c == nil {
		c = &compiledSet{}
		p.sets[kubeVersion] = c
	}
	p.mu.Unlock()
	c.once.Do(func() {
		if c.set = p.Set; kubeVersion != "" {
			c.set, c.err = policy.Compile(p.Documents, policy.Config{KubeVersion: kubeVersion, Namespaced: p.Namespaced})
		}
		switch {
		case c.err != nil:
			c.err = fmt.Errorf("policies: %w", c.err)
		case cfg.WatchPolicies != nil:
			c.observer = cfg.WatchPolicies(c.set)
		}
	})
	return c.set, c.observer, c.err
}
