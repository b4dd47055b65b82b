package policyvet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/types"
)

// Schemas holds the kinds whose schemas are known. It is not safe for concurrent use, because it
// declares a kind when it is first needed.
type Schemas struct {
	version types.Version
	env     *cel.Env
	// byResource holds the kinds by the name of their resource.
	byResource map[string][]*kind
	byName     map[schema.GroupVersionKind]*kind
	// groups holds the groups of built-in resources.
	groups   map[string]bool
	metadata *apiextensionsv1.JSONSchemaProps
}

type kind struct {
	schema.GroupVersionKind
	resource   string
	namespaced bool
	// subresources holds the kinds of the objects in requests to subresources.
	subresources map[string]schema.GroupVersionKind
	builtIn      bool
	props        func() (*apiextensionsv1.JSONSchemaProps, error)

	loaded bool
	// node and decl are nil if the schema cannot be declared.
	node *structuralschema.Structural
	decl *types.Decl
}

var scaleKind = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// String returns the kind as the API server prints it, such as "apps/v1, Kind=Deployment".
func (k *kind) String() string { return k.GroupVersionKind.String() }

// NewSchemas returns the schemas of built-in kinds and of CRDs. Schemas are declared as in a
// Kubernetes version, or in the newest version if it is "". crds must not be modified afterwards.
func NewSchemas(kubeVersion string, crds []*apiextensionsv1.CustomResourceDefinition) (*Schemas, error) {
	version, err := types.ParseVersion(kubeVersion)
	if err != nil {
		return nil, err
	}
	scope, err := celenv.StoredRules(version).Scope()
	if err != nil {
		return nil, err
	}
	catalog, err := builtin.Newest()
	if err != nil {
		return nil, err
	}
	metadata, err := catalog.Metadata()
	if err != nil {
		return nil, err
	}
	s := &Schemas{version: version, env: scope.Env(), byResource: map[string][]*kind{}, byName: map[schema.GroupVersionKind]*kind{}, groups: map[string]bool{}, metadata: metadata}
	for _, k := range catalog.Kinds() {
		one := &kind{GroupVersionKind: k.GroupVersionKind, resource: k.Resource, namespaced: k.Namespaced, builtIn: true, subresources: map[string]schema.GroupVersionKind{}}
		one.props = func() (*apiextensionsv1.JSONSchemaProps, error) { return catalog.Schema(k.GroupVersionKind) }
		for _, sub := range k.Subresources {
			one.subresources[sub.Name] = sub.Kind
		}
		if k.Resource != "" {
			s.groups[k.Group] = true
		}
		s.add(one)
	}
	for _, crd := range crds {
		s.addCRD(crd)
	}
	for _, list := range s.byResource {
		slices.SortStableFunc(list, func(a, b *kind) int { return strings.Compare(a.String(), b.String()) })
	}
	return s, nil
}

// add ignores a kind that is known. A kind without a resource can only be the kind of params.
func (s *Schemas) add(k *kind) {
	if s.byName[k.GroupVersionKind] != nil {
		return
	}
	s.byName[k.GroupVersionKind] = k
	if k.resource != "" {
		s.byResource[k.resource] = append(s.byResource[k.resource], k)
	}
}

func (s *Schemas) addCRD(crd *apiextensionsv1.CustomResourceDefinition) {
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if !v.Served {
			continue
		}
		k := &kind{
			GroupVersionKind: schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind},
			resource:         crd.Spec.Names.Plural, namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
			subresources: map[string]schema.GroupVersionKind{},
			props: func() (*apiextensionsv1.JSONSchemaProps, error) {
				if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
					return nil, fmt.Errorf("%s has no schema", v.Name)
				}
				return v.Schema.OpenAPIV3Schema.DeepCopy(), nil
			},
		}
		if sub := v.Subresources; sub != nil && sub.Scale != nil {
			k.subresources["scale"] = scaleKind
		}
		if sub := v.Subresources; sub != nil && sub.Status != nil {
			k.subresources["status"] = k.GroupVersionKind
		}
		s.add(k)
	}
}

// declare returns nil if k is nil or its schema cannot be declared.
func (s *Schemas) declare(k *kind) *types.Decl {
	if k == nil {
		return nil
	}
	if k.loaded {
		return k.decl
	}
	k.loaded = true
	props, err := k.props()
	if err != nil || props.Type != "object" {
		return nil
	}
	s.addMetadata(props, true)
	node, err := structural.Node(props)
	if err != nil {
		return nil
	}
	in := &types.Interner{Version: s.version}
	k.node, k.decl = node, in.FromSchema(node, types.ResourceRoot)
	return k.decl
}

// addMetadata declares the metadata of objects and embedded objects, like the OpenAPI documents of the
// API server.
func (s *Schemas) addMetadata(props *apiextensionsv1.JSONSchemaProps, root bool) {
	for name, property := range props.Properties {
		s.addMetadata(&property, false)
		props.Properties[name] = property
	}
	if props.Items != nil && props.Items.Schema != nil {
		s.addMetadata(props.Items.Schema, false)
	}
	if props.AdditionalProperties != nil && props.AdditionalProperties.Schema != nil {
		s.addMetadata(props.AdditionalProperties.Schema, false)
	}
	if !root && !props.XEmbeddedResource {
		return
	}
	if props.Properties == nil {
		props.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
	}
	props.Properties["apiVersion"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	props.Properties["kind"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	props.Properties["metadata"] = *s.metadata
}

// A matchedKind is a kind that a policy matches. It is explicit if a rule names its group, version, and
// resource. shown is the name of the kind in lints, with its group and version if the policy matches several of the name.
type matchedKind struct {
	*kind
	explicit bool
	shown    string
}

const maxKinds = 200

// matched returns the kinds of the resources that m names, in the API server's order. The item "*" in
// resources is ignored, as in the server, because such policies are made for fields that all kinds have.
// If there are too many kinds, it returns the first, and complete is false.
func (s *Schemas) matched(m *matchResources) (list []matchedKind, complete bool) {
	index := map[*kind]int{}
	for i := range m.ResourceRules {
		r := &m.ResourceRules[i]
		for _, item := range r.Resources {
			resource, sub := split(item)
			if sub != "" && sub != all || resource == all {
				continue
			}
			for _, k := range s.byResource[resource] {
				if !has(r.APIGroups, k.Group) || !has(r.APIVersions, k.Version) || m.excludes(k) {
					continue
				}
				explicit := sub == "" && slices.Contains(r.APIGroups, k.Group) && slices.Contains(r.APIVersions, k.Version)
				if at, known := index[k]; known {
					list[at].explicit = list[at].explicit || explicit
				} else {
					index[k] = len(list)
					list = append(list, matchedKind{k, explicit, k.Kind})
				}
			}
		}
	}
	for i, k := range list {
		if slices.ContainsFunc(list, func(other matchedKind) bool { return other.Kind == k.Kind && other.kind != k.kind }) {
			list[i].shown = k.String()
		}
	}
	slices.SortFunc(list, func(a, b matchedKind) int { return strings.Compare(a.order(), b.order()) })
	return list[:min(len(list), maxKinds)], len(list) <= maxKinds
}

// order returns the sort key of a kind in the API server.
func (k *kind) order() string { return k.Group + "\x00" + k.Version + "\x00" + k.Kind }

func (m *matchResources) excludes(k *kind) bool {
	return slices.ContainsFunc(m.ExcludeResourceRules, func(r rule) bool {
		return len(r.ResourceNames) == 0 && slices.Contains(r.Operations, all) && has(r.APIVersions, k.Version) && r.matchesResource(k.Group, k.resource, "")
	})
}
