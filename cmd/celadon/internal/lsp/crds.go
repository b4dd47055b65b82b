package lsp

import (
	"cmp"
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/engine"
)

// crds holds all known CRDs, on disk and in the editor. A repository may contain copies: of several CRDs with
// the same name, the CRD with the shortest path is in force, and in one file the last.
type crds struct {
	mu      sync.Mutex
	objects *verdict.Decider
	files   map[string][]read
	names   map[string][]read // by name; the first is in force
	changed atomic.Int64      // number of additions, replacements, and removals of CRDs
}

type read struct {
	resource.Read
	file string
	sum  [sha256.Size]byte
}

func newRead(file string, doc *input.Document) read {
	data, _ := doc.JSON()
	return read{resource.One(doc), file, sha256.Sum256(data)}
}

func (c *crds) reset(kube string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cfg := verdict.Config{KubeVersion: kube, Validation: "Strict", Locate: true, Explain: true, Server: builtins.Alone()}
	c.objects = verdict.New(cfg, verdict.NewCRDs(engine.Config{KubeVersion: kube}))
	c.files, c.names = map[string][]read{}, map[string][]read{}
}

func (c *crds) decider() *verdict.Decider {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.objects
}

// set adds the kinds whose CRD in force changed to changed.
func (c *crds) set(file string, now []read, changed map[schema.GroupKind]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[string]bool{}
	for _, r := range slices.Concat(c.files[file], now) {
		names[r.CRD.Name] = true
	}
	if c.files[file] = now; len(now) == 0 {
		delete(c.files, file)
	}
	var put []resource.Read
	var remove []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before := c.names[name]
		after := slices.DeleteFunc(slices.Clone(before), func(r read) bool { return r.file == file })
		for _, r := range now {
			if r.CRD.Name == name {
				after = slices.Insert(after, 0, r) // before an earlier CRD of the file
			}
		}
		slices.SortStableFunc(after, func(a, b read) int {
			return cmp.Or(cmp.Compare(len(a.file), len(b.file)), cmp.Compare(a.file, b.file))
		})
		c.names[name] = after
		if len(before) > 0 && len(after) > 0 && before[0].sum == after[0].sum {
			continue
		}
		if len(before) > 0 {
			changed[kindOf(before[0])] = true
		}
		if len(after) > 0 {
			changed[kindOf(after[0])] = true
			put = append(put, after[0].Read)
		} else {
			delete(c.names, name)
			remove = append(remove, name)
		}
	}
	c.changed.Add(int64(len(put) + len(remove)))
	c.objects.CRDs.Change(put, remove)
}

func kindOf(r read) schema.GroupKind {
	return schema.GroupKind{Group: r.CRD.Spec.Group, Kind: r.CRD.Spec.Names.Kind}
}

func (c *crds) live() *verdict.CRDs { return c.decider().CRDs }

// engine compiles a CRD. A CRD in force uses the engine that also validates objects.
func (c *crds) engine(of *resource.Compact) (*engine.Engine, error) {
	d := c.decider()
	return d.CRDs.Engine(of, engine.Config{KubeVersion: d.KubeVersion})
}

func (c *crds) fileOf(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reads := c.names[name]; len(reads) > 0 {
		return reads[0].file
	}
	return ""
}

func (c *crds) paths() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.files))
}

func (c *crds) known() (all []resource.Read) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, reads := range c.names {
		all = append(all, reads[0].Read)
	}
	return all
}
