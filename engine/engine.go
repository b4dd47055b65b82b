package engine

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/celadon-cel/celadon/engine/x/schema"
	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/types"
)

// An Engine validates objects of a CRD in all its versions. It is immutable and safe for concurrent
// use.
type Engine struct {
	info Info
	// If webhook is set, only info.Config.Converter can convert objects.
	webhook        bool
	reviewVersions []string
	versions       map[string]*crdVersion
	storage        *crdVersion
	server         server
}

type crdVersion struct {
	name        string
	apiVersion  string
	served      bool
	schema      *structuralschema.Structural
	preserve    bool // spec.preserveUnknownFields; disables pruning
	values      *schema.Schema
	hasStatus   bool
	status      *schema.Schema
	scale       *apiextensionsv1.CustomResourceSubresourceScale
	decl        *types.Decl
	rules       func() *Rules // may compile them, and panics with an *InternalError
	deprecation string        // the warning, or "" if the version is not deprecated
}

// Compile compiles a CRD in all its versions. If only rules are invalid, it returns a usable engine and
// *CompileErrors, because the API server serves such CRDs once they are stored. Any other error comes without an
// engine. A schema that is missing or not structural is an error, unless the CRD has preserveUnknownFields. The CRD
// must not be modified afterwards.
//
// If cfg.Lazy is set, Compile does not compile rules, so it does not report invalid ones.
func Compile(crd *apiextensionsv1.CustomResourceDefinition, cfg Config) (e *Engine, err error) {
	var c *compiler
	defer func() {
		if p := recover(); p != nil {
			e, err = nil, c.bug(p)
		}
	}()
	if crd == nil {
		return nil, fmt.Errorf("no CRD given")
	}
	if c, err = newCompiler(cfg); err != nil {
		return nil, err
	}
	e = &Engine{
		info:     newInfo(crd, c.cfg),
		webhook:  crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter,
		versions: map[string]*crdVersion{},
		server:   c.server,

		reviewVersions: reviewVersions(crd),
	}
	for i := range crd.Spec.Versions {
		v, err := c.compileVersion(crd, &crd.Spec.Versions[i])
		if err != nil {
			return nil, fmt.Errorf("%s: spec.versions[%d] (%s): %w", crd.Name, i, crd.Spec.Versions[i].Name, err)
		}
		e.versions[v.name] = v
		if crd.Spec.Versions[i].Storage {
			e.storage = v
		}
	}
	if e.storage == nil {
		return nil, fmt.Errorf("%s: spec.versions: no storage version: set storage: true on exactly one version", crd.Name)
	}
	return e, c.err()
}

func (c *compiler) compileVersion(crd *apiextensionsv1.CustomResourceDefinition, spec *apiextensionsv1.CustomResourceDefinitionVersion) (*crdVersion, error) {
	v := &crdVersion{
		name:        spec.Name,
		apiVersion:  crd.Spec.Group + "/" + spec.Name,
		served:      spec.Served,
		preserve:    crd.Spec.PreserveUnknownFields,
		deprecation: deprecation(crd, spec),
	}
	if spec.Subresources != nil {
		v.hasStatus = spec.Subresources.Status != nil
		v.scale = spec.Subresources.Scale
	}
	s, err := c.schemaOf(spec.Schema, v.preserve)
	if err != nil {
		return nil, err
	}
	v.schema, v.values, v.status, v.decl = s.structural, s.values, s.values.Property("status"), s.decl
	if c.cfg.Lazy {
		v.rules = later(c.cfg, v.name, s)
		return v, nil
	}
	rules, err := c.compile(v.name, s.structural, s.decl)
	v.rules = func() *Rules { return rules }
	return v, err
}

func later(cfg Config, version string, s *versionSchema) func() *Rules {
	return sync.OnceValue(func() *Rules {
		c, _ := newCompiler(cfg) // cfg has been accepted before
		defer func() {
			if p := recover(); p != nil {
				panic(c.bug(p))
			}
		}()
		rules, err := c.compile(version, s.structural, s.decl)
		if err != nil {
			panic(internalError(err))
		}
		return rules
	})
}

// Versions with the same schema share a versionSchema.
type versionSchema struct {
	source     *apiextensionsv1.CustomResourceValidation
	structural *structuralschema.Structural
	values     *schema.Schema
	decl       *types.Decl
}

func (c *compiler) schemaOf(source *apiextensionsv1.CustomResourceValidation, preserve bool) (*versionSchema, error) {
	for _, known := range c.schemas {
		if reflect.DeepEqual(known.source, source) {
			return known, nil
		}
	}
	s, err := c.newSchema(source, preserve)
	if err == nil {
		c.schemas = append(c.schemas, s)
	}
	return s, err
}

func (c *compiler) newSchema(source *apiextensionsv1.CustomResourceValidation, preserve bool) (*versionSchema, error) {
	values, spine, err := valuesOf(source, preserve, c.server)
	if err != nil {
		return nil, err
	}
	return &versionSchema{source, spine, values, c.decls.FromSchema(spine, types.ResourceRoot)}, nil
}

func valuesOf(source *apiextensionsv1.CustomResourceValidation, preserve bool, by server) (*schema.Schema, *structuralschema.Structural, error) {
	read := structural.Of
	if preserve {
		read = structural.Open
	}
	props, spine, err := read(source)
	if err != nil {
		return nil, nil, err
	}
	values, err := schema.Compile(props, spine, int(by))
	return values, spine, err
}

func deprecation(crd *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	if !v.Deprecated {
		return ""
	}
	if v.DeprecationWarning != nil {
		return *v.DeprecationWarning
	}
	name := func(version string) string {
		return crd.Spec.Group + "/" + version + " " + crd.Spec.Names.Kind
	}
	newest := ""
	for _, other := range crd.Spec.Versions {
		if other.Served && !other.Deprecated && newer(other.Name, v.Name) && (newest == "" || newer(other.Name, newest)) {
			newest = other.Name
		}
	}
	if newest == "" {
		return name(v.Name) + " is deprecated"
	}
	return name(v.Name) + " is deprecated; use " + name(newest)
}

func newer(a, b string) bool { return apiversion.CompareKubeAwareVersionStrings(a, b) > 0 }

// Info describes an engine. Its slices and maps are shared: do not modify them.
type Info struct {
	// Config is the configuration, with defaults for KubeVersion and Limits. NoRatcheting is also set if the emulated
	// minor does not ratchet updates.
	Config
	GroupKind runtimeschema.GroupKind
	// Namespaced is set if objects of the CRD are namespaced.
	Namespaced bool
	// Versions holds the names of the CRD's versions in the priority order of Kubernetes, such as v2, v1, v1beta1.
	// Served holds the served versions in the same order, so the preferred version is first.
	Versions, Served []string
	// Deprecations are the warnings that the server adds to every request to a deprecated version, including reads,
	// by version name.
	Deprecations map[string]string
}

// Info returns a description of the engine.
func (e *Engine) Info() Info { return e.info }

func newInfo(crd *apiextensionsv1.CustomResourceDefinition, cfg Config) Info {
	info := Info{
		Config:       cfg,
		GroupKind:    runtimeschema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind},
		Namespaced:   crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		Deprecations: map[string]string{},
	}
	byAge := slices.SortedFunc(slices.Values(crd.Spec.Versions), func(a, b apiextensionsv1.CustomResourceDefinitionVersion) int {
		return -apiversion.CompareKubeAwareVersionStrings(a.Name, b.Name)
	})
	for i := range byAge {
		v := &byAge[i]
		info.Versions = append(info.Versions, v.Name)
		if v.Served {
			info.Served = append(info.Served, v.Name)
		}
		if v.Deprecated {
			info.Deprecations[v.Name] = deprecation(crd, v)
		}
	}
	return info
}
