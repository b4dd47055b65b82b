package celadontest

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
)

// maxCatalogs bounds memory for tests that generate CRDs. When it is reached, all catalogs are dropped.
const maxCatalogs = 32

// catalogs caches catalogs by the digest of their sources and Kubernetes version.
type catalogs struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]func() (*catalog.Catalog, error)
}

// shared is the only state that outlives a test. Its entries are keyed by content and never change,
// so tests cannot affect each other.
var shared catalogs

func (c *catalogs) catalog(kubeVersion string, sources []source) (*catalog.Catalog, error) {
	content, err := json.Marshal(sources)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(append(content, kubeVersion...)) // JSON ends where its list does
	c.mu.Lock()
	load := c.known[key]
	if load == nil {
		if c.known == nil || len(c.known) == maxCatalogs {
			c.known = map[[sha256.Size]byte]func() (*catalog.Catalog, error){}
		}
		load = sync.OnceValues(func() (*catalog.Catalog, error) { return catalogOf(kubeVersion, sources) })
		c.known[key] = load
	}
	c.mu.Unlock()
	return load()
}

func catalogOf(kubeVersion string, sources []source) (*catalog.Catalog, error) {
	var all []*apiextensionsv1.CustomResourceDefinition
	for i := range sources {
		crds, err := sources[i].crds()
		if err != nil {
			return nil, err
		}
		all = append(all, crds...)
	}
	c := catalog.New(catalog.Config{Engine: engine.Config{KubeVersion: kubeVersion}, Lazy: true})
	return c, c.Apply(all, nil)
}
