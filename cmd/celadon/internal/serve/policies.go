package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/engine/policy"
)

// A policyFolder keeps the policies of a server equal to those in files and folders.
type policyFolder struct {
	paths       []string
	kubeVersion string
	server      *server
	// grace is how long the files must have been unchanged before policies or bindings that they lack are removed.
	grace time.Duration
	// inForce is the number of bindings in force.
	inForce int
	// digest is the digest of the last reading, and since is when it was first obtained.
	digest []byte
	since  time.Time
	// loaded is the digest of the policies in force.
	loaded []byte
}

// servePolicies loads the policies, if there are any, and watches their files until ctx is done.
func (o *Options) servePolicies(ctx context.Context, s *server) error {
	if len(o.Policies) == 0 {
		return nil
	}
	f := &policyFolder{paths: o.Policies, kubeVersion: o.KubeVersion, server: s, grace: o.Grace}
	load := func() error {
		_, err := f.load(ctx)
		return notServed("policies", err)
	}
	return s.watch(ctx, f.paths, load, func() time.Duration { return f.reload(ctx) })
}

// load puts the policies at the paths in force as one change, if all of them are valid. If bindings are gone, it waits
// until the content has been the same for at least grace, as for CRDs, and returns the time that is left.
func (f *policyFolder) load(ctx context.Context) (again time.Duration, err error) {
	p, err := policies.Read(ctx, nil, f.paths, input.Selection{}, policy.Config{KubeVersion: f.kubeVersion})
	if err != nil {
		return 0, err
	}
	digest := sha256.New()
	p.Hash(digest)
	now := time.Now()
	if sum := digest.Sum(nil); !bytes.Equal(sum, f.digest) {
		f.digest, f.since = sum, now
	}
	if len(p.Problems) > 0 {
		return 0, errors.Join(p.Problems...)
	}
	bindings := 0
	for _, info := range p.Set.Policies() {
		bindings += len(info.Bindings)
	}
	if bytes.Equal(f.digest, f.loaded) {
		return 0, nil
	}
	if left := f.grace - now.Sub(f.since); bindings < f.inForce && left > 0 {
		return left, nil
	}
	for _, unbound := range p.Unbound {
		f.server.log.Warn("policy without effect", "error", unbound.Error())
	}
	f.inForce, f.loaded = bindings, f.digest
	f.server.set.SetPolicies(p.Set)
	f.server.log.Info("policies loaded", "policies", len(p.Set.Policies()), "bindings", bindings)
	return 0, nil
}

// reload is load for a running server. It logs errors, and returns the time after which it must be called again, or 0.
func (f *policyFolder) reload(ctx context.Context) time.Duration {
	again, err := f.load(ctx)
	if err != nil {
		f.server.log.Error("policies not changed", "error", err)
	}
	return again
}
