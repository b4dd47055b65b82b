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
	"github.com/celadon-cel/celadon/engine/conversion"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/roundtrip"
	"github.com/celadon-cel/celadon/x/trace"
)

// CRD is a CRD under test. It must not be modified while suites run.
type CRD struct {
	// File is the file name for reports.
	File       string
	Definition *apiextensionsv1.CustomResourceDefinition
}

// target is a compiled CRD, or a compiled version of a CRD, or all built-in kinds.
type target struct {
	// builtins is nil for a CRD. Otherwise, crd, engine, custom, explain, and writer are nil.
	builtins    *policyrequest.Builtins
	crd         *apiextensionsv1.CustomResourceDefinition
	kubeVersion string

	once    sync.Once
	engine  *engine.Engine
	custom  *policyrequest.Custom
	explain *trace.Explainer
	writer  *apply.Writer
	err     error
	observe func(engine.RuleRun)
	trips   func() (*roundtrip.Trips, error)
}

// targets compiles each distinct CRD version once. Variants of a CRD often share versions.
type targets struct {
	mu     sync.Mutex
	cached map[targetKey]func() (*target, error)
	known  []*target
}

// targetKey identifies a requested target. Several can have the same target; see targets.same.
type targetKey struct {
	crd                  *CRD // nil for built-in kinds
	version, kubeVersion string
	patches              string
	whole                bool
}

func (t *targets) get(a targetKey, cfg *Config) (*target, error) {
	t.mu.Lock()
	if t.cached == nil {
		t.cached = map[targetKey]func() (*target, error){}
	}
	made := t.cached[a]
	if made == nil {
		made = sync.OnceValues(func() (*target, error) { return t.newTarget(a, cfg) })
		t.cached[a] = made
	}
	t.mu.Unlock()
	return made()
}

func (t *targets) newTarget(a targetKey, cfg *Config) (_ *target, err error) {
	if a.crd == nil {
		return &target{kubeVersion: a.kubeVersion, builtins: &policyrequest.Builtins{Server: cfg.Server}}, nil
	}
	crd := a.crd.Definition
	if a.patches != "" {
		if crd, err = patched(crd, []byte(a.patches)); err != nil {
			return nil, err
		}
	}
	if crd, err = only(crd, a.version, a.whole); err != nil {
		return nil, err
	}
	return t.same(crd, a.kubeVersion), nil
}

// same returns the known target with the same name, spec, and Kubernetes version, or adds a target.
func (t *targets) same(crd *apiextensionsv1.CustomResourceDefinition, kubeVersion string) *target {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, known := range t.known {
		if known.kubeVersion == kubeVersion && known.crd.Name == crd.Name && reflect.DeepEqual(known.crd.Spec, crd.Spec) {
			return known
		}
	}
	made := &target{crd: crd, kubeVersion: kubeVersion}
	t.known = append(t.known, made)
	return made
}

// only returns the CRD with a single version, served and stored, or unchanged if whole is set. It
// returns an error if the version does not exist, or if version is needed and "".
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
		return nil, fmt.Errorf("%s has the versions %s: set version in the suite to one of them", crd.Name, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("version %q: %s has %s", version, crd.Name, strings.Join(names, ", "))
}

const maxCRD = 8 << 20

// The size is checked after each copy operation, because a few dozen of them can produce any size.
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
		return nil, fmt.Errorf("initialCRDPatches: the result is not a CRD: %w", err)
	}
	return out, nil
}

// compile returns an error if the CRD cannot be used, or if some rules do not compile; these rules never run.
func (t *target) compile(cfg *Config) error {
	t.once.Do(func() {
		t.engine, t.err = engine.Compile(t.crd, engine.Config{KubeVersion: t.kubeVersion, Converter: cfg.Converter})
		if t.engine == nil {
			return
		}
		t.explain, t.custom = trace.NewExplainer(t.engine), policyrequest.NewCustom(t.crd, t.engine)
		t.writer = apply.NewWriter(t.crd, t.engine)
		t.trips = sync.OnceValues(func() (*roundtrip.Trips, error) {
			c, converter := t.crd.Spec.Conversion, cfg.Converter
			if converter == nil || c != nil && c.Strategy != apiextensionsv1.WebhookConverter {
				converter = conversion.None()
			}
			return roundtrip.NewTrips(t.crd, converter)
		})
		if cfg.Watch != nil {
			t.observe = cfg.Watch(t.crd, t.engine)
		}
		var broken *engine.CompileErrors
		if errors.As(t.err, &broken) {
			first := broken.Errors[0]
			t.err = fmt.Errorf("%s: %w", t.crd.Name, first)
			if problem := assist.Explain(t.engine, t.crd, first, nil); problem != nil && problem.Hint() != "" {
				t.err = fmt.Errorf("%w: %s", t.err, problem.Hint())
			}
		}
	})
	return t.err
}
