package ruletest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/trace"
)

// CRD is one that suites are run against. It must not change while they are.
type CRD struct {
	// File is its name for reports.
	File       string
	Definition *apiextensionsv1.CustomResourceDefinition
}

// target is a CRD, or one version of it, compiled.
type target struct {
	crd         *apiextensionsv1.CustomResourceDefinition
	kubeVersion string

	once    sync.Once
	engine  *engine.Engine
	explain *trace.Explainer
	err     error
	observe func(engine.RuleRun)
	trips   trips
}

// targets are compiled once each: variants of a CRD mostly have a version in
// common.
type targets struct {
	mu    sync.Mutex
	byAsk map[ask]*found
	byKey map[key][]*target
}

// ask is what is asked for, key what can only be equal among its own.
type ask struct {
	crd                  *CRD
	version, kubeVersion string
	patches              string
	whole                bool
}

type key struct{ name, version, kubeVersion string }

// found is the answer to an ask.
type found struct {
	once   sync.Once
	target *target
	err    error
}

// get finds or makes the target for a version of a CRD; "" is its only version.
func (t *targets) get(a ask) (*target, error) {
	t.mu.Lock()
	if t.byAsk == nil {
		t.byAsk, t.byKey = map[ask]*found{}, map[key][]*target{}
	}
	f := t.byAsk[a]
	if f == nil {
		f = &found{}
		t.byAsk[a] = f
	}
	t.mu.Unlock()
	f.once.Do(func() {
		crd, err := a.crd.Definition, error(nil)
		if a.patches != "" {
			crd, err = patched(crd, []byte(a.patches))
		}
		if err == nil {
			crd, err = only(crd, a.version, a.whole)
		}
		if err != nil {
			f.err = err
			return
		}
		f.target = t.same(crd, a)
	})
	return f.target, f.err
}

// same is a target with that very CRD version.
func (t *targets) same(crd *apiextensionsv1.CustomResourceDefinition, a ask) *target {
	k := key{crd.Name, a.version, a.kubeVersion}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, known := range t.byKey[k] {
		if reflect.DeepEqual(known.crd.Spec, crd.Spec) {
			return known
		}
	}
	made := &target{crd: crd, kubeVersion: a.kubeVersion}
	t.byKey[k] = append(t.byKey[k], made)
	return made
}

// only is a CRD with one version alone, served and stored; or the whole CRD, where
// it has that version.
func only(crd *apiextensionsv1.CustomResourceDefinition, version string, whole bool) (*apiextensionsv1.CustomResourceDefinition, error) {
	if whole && version == "" {
		return crd, nil
	}
	var names []string
	for i := range crd.Spec.Versions {
		v := crd.Spec.Versions[i]
		names = append(names, v.Name)
		if v.Name != version && (version != "" || len(crd.Spec.Versions) > 1) {
			continue
		}
		if whole {
			return crd, nil
		}
		v.Served, v.Storage = true, true
		out := *crd
		out.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{v}
		out.Spec.Conversion = nil
		return &out, nil
	}
	if version == "" && len(names) > 0 {
		return nil, fmt.Errorf("%s has the versions %s: want version: one of them in the suite", crd.Name, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("version %q: %s has %s", version, crd.Name, strings.Join(names, ", "))
}

// maxCRD is how large a CRD may become by patches.
const maxCRD = 8 << 20

// patched is a CRD after a JSON patch. It is applied step by step where a step
// copies: a few dozen of those make any size.
func patched(crd *apiextensionsv1.CustomResourceDefinition, patches []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	patch, err := jsonpatch.DecodePatch(patches)
	if err != nil {
		return nil, fmt.Errorf("initialCRDPatches: %w", err)
	}
	data, err := json.Marshal(crd)
	for len(patch) > 0 && err == nil {
		n := slices.IndexFunc(patch, func(op jsonpatch.Operation) bool { return op.Kind() == "copy" }) + 1
		if n == 0 {
			n = len(patch)
		}
		if data, err = patch[:n].Apply(data); err == nil && len(data) > maxCRD {
			err = fmt.Errorf("the CRD becomes larger than %d MiB", maxCRD>>20)
		}
		patch = patch[n:]
	}
	if err != nil {
		return nil, fmt.Errorf("initialCRDPatches: %w", err)
	}
	out := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("initialCRDPatches: what they make is no CRD: %w", err)
	}
	return out, nil
}

// compile compiles the target; the error is of a CRD that cannot be used at all, or
// of which rules do not compile: these never run.
func (t *target) compile(cfg *Config) error {
	t.once.Do(func() {
		t.engine, t.err = engine.Compile(t.crd, engine.Config{KubeVersion: t.kubeVersion, Converter: cfg.Converter})
		if t.engine == nil {
			return
		}
		t.explain = trace.NewExplainer(t.engine)
		if cfg.Watch != nil {
			t.observe = cfg.Watch(t.crd, t.engine)
		}
		var broken *engine.CompileErrors
		if errors.As(t.err, &broken) {
			t.err = fmt.Errorf("%s: %w", t.crd.Name, broken.Errors[0])
		}
	})
	return t.err
}

// statusful is true where status is written on its own.
func (t *target) statusful() bool {
	s := t.crd.Spec.Versions[0].Subresources
	return s != nil && s.Status != nil
}
