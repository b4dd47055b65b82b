package lsp

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/engine"
)

// crds holds all known CRDs, on disk and in the editor. If several have the same name, the CRD with
// the shortest path is in force, and among those the first. A repository may contain copies.
type crds struct {
	mu      sync.Mutex
	objects *verdict.Decider
	files   map[string][]read          // by path
	names   map[string]map[string]read // by name, then by path
	inForce map[string]read            // by name
	changed int
}

// read is a CRD in a file.
type read struct {
	resource.Read
	file string
	sum  [sha256.Size]byte // of its JSON
}

// reset removes all CRDs, and sets the Kubernetes version.
func (c *crds) reset(kube string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cfg := verdict.Config{KubeVersion: kube, Validation: "Strict", Locate: true, Explain: true, Server: builtins.Alone()}
	c.objects = verdict.New(cfg, verdict.NewCRDs(engine.Config{KubeVersion: kube}))
	c.files, c.names, c.inForce = map[string][]read{}, map[string]map[string]read{}, map[string]read{}
}

// decider returns the decider that uses the CRDs in force.
func (c *crds) decider() *verdict.Decider {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.objects
}

// set replaces the CRDs of a file. It adds the kinds whose CRD in force changed to changed.
func (c *crds) set(file string, now []read, changed map[schema.GroupKind]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[string]bool{}
	for _, r := range c.files[file] {
		names[r.CRD.Name] = true
		delete(c.names[r.CRD.Name], file)
	}
	for _, r := range now {
		names[r.CRD.Name] = true
		if c.names[r.CRD.Name] == nil {
			c.names[r.CRD.Name] = map[string]read{}
		}
		c.names[r.CRD.Name][file] = r
	}
	if c.files[file] = now; len(now) == 0 {
		delete(c.files, file)
	}
	var put []resource.Read
	var remove []string
	for name := range names {
		was, had := c.inForce[name]
		is, has := c.best(name)
		if had && has && was.sum == is.sum {
			c.inForce[name] = is
			continue
		}
		if had {
			changed[kindOf(was)] = true
		}
		if has {
			c.inForce[name] = is
			changed[kindOf(is)] = true
			put = append(put, is.Read)
		} else if had {
			delete(c.inForce, name)
			remove = append(remove, name)
		}
	}
	c.changed += len(put) + len(remove)
	slices.SortFunc(put, func(a, b resource.Read) int { return cmp.Compare(a.CRD.Name, b.CRD.Name) })
	c.objects.CRDs.Change(put, remove)
}

func kindOf(r read) schema.GroupKind {
	return schema.GroupKind{Group: r.CRD.Spec.Group, Kind: r.CRD.Spec.Names.Kind}
}

// best returns the CRD with the given name that should be in force.
func (c *crds) best(name string) (best read, ok bool) {
	for _, r := range c.names[name] {
		if !ok || hasShorterPath(r, best) {
			best, ok = r, true
		}
	}
	if !ok {
		delete(c.names, name)
	}
	return best, ok
}

func hasShorterPath(a, b read) bool {
	return cmp.Or(cmp.Compare(len(a.file), len(b.file)), cmp.Compare(a.file, b.file)) < 0
}

// live returns the CRDs in force.
func (c *crds) live() *verdict.CRDs { return c.decider().CRDs }

// engine compiles a CRD. A CRD in force uses the engine that also validates objects.
func (c *crds) engine(of *resource.Compact) (*engine.Engine, error) {
	d := c.decider()
	return d.CRDs.Engine(of, engine.Config{KubeVersion: d.KubeVersion})
}

// changes returns the number of CRDs that have been added or removed so far.
func (c *crds) changes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// fileOf returns the file with the CRD that is in force under a name.
func (c *crds) fileOf(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inForce[name].file
}

// paths returns the files that contain CRDs.
func (c *crds) paths() (paths []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path := range c.files {
		paths = append(paths, path)
	}
	return paths
}
