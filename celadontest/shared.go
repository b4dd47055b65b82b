package celadontest

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/x/trace"
)

// A set holds the CRDs of some sources. They are compiled on first use.
type set struct {
	once    sync.Once
	err     error
	catalog *catalog.Catalog

	mu         sync.Mutex
	explainers map[*engine.Engine]*trace.Explainer
}

func (s *set) explainer(e *engine.Engine) *trace.Explainer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.explainers[e] == nil {
		s.explainers[e] = trace.NewExplainer(e)
	}
	return s.explainers[e]
}

// maxSets limits how many sets are kept for later tests. It exceeds the number that the tests of a
// package normally use, and bounds memory for tests that generate CRDs.
const maxSets = 32

// sets holds sets by their content.
type sets struct {
	mu    sync.Mutex
	known map[digest]*set
}

type digest [sha256.Size]byte

// shared is the only state that outlives a test. Its entries are keyed by content and never change,
// so tests cannot affect each other.
var shared = &sets{known: map[digest]*set{}}

func (s *sets) set(kubeVersion string, sources []source) (*set, error) {
	key, err := keyOf(kubeVersion, sources)
	if err != nil {
		return nil, err
	}
	found := s.find(key)
	found.once.Do(func() { found.catalog, found.err = catalogOf(kubeVersion, sources) })
	return found, found.err
}

func (s *sets) find(key digest) *set {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[key] == nil {
		if len(s.known) == maxSets {
			clear(s.known)
		}
		s.known[key] = &set{explainers: map[*engine.Engine]*trace.Explainer{}}
	}
	return s.known[key]
}

// keyOf returns a digest of the sources' content and names, and of the Kubernetes version.
func keyOf(kubeVersion string, sources []source) (key digest, err error) {
	h := sha256.New()
	write := func(data []byte) {
		_ = binary.Write(h, binary.LittleEndian, int64(len(data)))
		h.Write(data)
	}
	write([]byte(kubeVersion))
	for i := range sources {
		contents, err := sources[i].contents()
		if err != nil {
			return key, err
		}
		write([]byte(sources[i].name))
		_ = binary.Write(h, binary.LittleEndian, int64(len(contents)))
		for _, data := range contents {
			write(data)
		}
	}
	h.Sum(key[:0])
	return key, nil
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
