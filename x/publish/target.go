package publish

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/spell"
)

// Target is a field in a version of a CRD, or the root.
type Target struct {
	CRD     *apiextensionsv1.CustomResourceDefinition
	Version string
	// Path is the path of the field in the format of engine.FormatPath. It includes [*], which
	// names in kubectl explain omit.
	Path string

	name   string // of the field, "" at the root
	schema node
	types  map[string]node
}

// Find resolves a name such as crontabs.spec.replicas as kubectl explain does: first the resource
// by its plural, singular, or short name, then fields. The group may follow the plural. The CRD's
// kind is also accepted. apiVersion is GROUP/VERSION, or "" for the server's preferred version.
func Find(crds []*apiextensionsv1.CustomResourceDefinition, name, apiVersion string) (*Target, error) {
	steps, err := fieldNames(strings.TrimSuffix(name, "."))
	if err != nil {
		return nil, err
	}
	crd, steps, err := resource(crds, steps)
	if err != nil {
		return nil, err
	}
	v := preferred(crd)
	if apiVersion != "" {
		if crd, v, err = atVersion(crds, crd, apiVersion); err != nil {
			return nil, err
		}
	}
	if v == nil {
		return nil, fmt.Errorf("%s: no version is served, so nothing is published", crd.Name)
	}
	root, err := published(v)
	if err != nil {
		return nil, err
	}
	at := &Target{CRD: crd, Version: v.Name, schema: root, types: definitions()}
	if err := at.walk(steps); err != nil {
		return nil, err
	}
	return at, nil
}

func fieldNames(name string) (names []string, err error) {
	steps, err := engine.ParsePath(name)
	if err != nil {
		return nil, err
	}
	for _, s := range steps {
		if s.Any || s.Item {
			return nil, fmt.Errorf("invalid jsonpath syntax, first node must be field node (got %s, want a path without [0] or [*]: append the fields of items to the list's name)", name)
		}
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return nil, errors.New("no type of resource: want TYPE or TYPE.FIELD, such as crontabs.spec")
	}
	return names, nil
}

// resource returns the CRD for the first name, and the remaining names. If several CRDs match, it
// prefers the CRD whose group follows, then the first.
func resource(crds []*apiextensionsv1.CustomResourceDefinition, steps []string) (*apiextensionsv1.CustomResourceDefinition, []string, error) {
	var found []*apiextensionsv1.CustomResourceDefinition
	isNamed := func(n *apiextensionsv1.CustomResourceDefinitionNames, name string) bool {
		return name == n.Plural || name == singular(n)
	}
	for _, matches := range []func(*apiextensionsv1.CustomResourceDefinitionNames, string) bool{
		isNamed,
		func(n *apiextensionsv1.CustomResourceDefinitionNames, name string) bool {
			return slices.Contains(n.ShortNames, name)
		},
		func(n *apiextensionsv1.CustomResourceDefinitionNames, name string) bool {
			return isNamed(n, strings.ToLower(name)) || strings.EqualFold(name, n.Kind)
		},
	} {
		for _, crd := range crds {
			if matches(&crd.Spec.Names, steps[0]) {
				found = append(found, crd)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	for _, crd := range found {
		full := append([]string{crd.Spec.Names.Plural}, strings.Split(crd.Spec.Group, ".")...)
		if len(steps) >= len(full) && slices.Equal(steps[:len(full)], full) {
			return crd, steps[len(full):], nil
		}
	}
	if len(found) > 0 {
		return found[0], steps[1:], nil
	}
	var known []string
	for _, crd := range crds {
		n := &crd.Spec.Names
		known = append(append(known, n.Plural, singular(n)), n.ShortNames...)
	}
	return nil, nil, fmt.Errorf("the server doesn't have a resource type %q%s", steps[0], spell.SuggestOrList(steps[0], known))
}

func singular(n *apiextensionsv1.CustomResourceDefinitionNames) string {
	return cmp.Or(n.Singular, strings.ToLower(n.Kind))
}

// preferred returns the version that is first in a server's discovery, or nil if no version is served.
func preferred(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinitionVersion {
	var best *apiextensionsv1.CustomResourceDefinitionVersion
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if v.Served && (best == nil || version.CompareKubeAwareVersionStrings(v.Name, best.Name) > 0) {
			best = v
		}
	}
	return best
}

func atVersion(crds []*apiextensionsv1.CustomResourceDefinition, like *apiextensionsv1.CustomResourceDefinition, apiVersion string) (*apiextensionsv1.CustomResourceDefinition, *apiextensionsv1.CustomResourceDefinitionVersion, error) {
	group, name, ok := strings.Cut(apiVersion, "/")
	if !ok || group == "" || name == "" || strings.Contains(name, "/") {
		return nil, nil, fmt.Errorf("API version %q: want GROUP/VERSION, such as %s/%s", apiVersion, like.Spec.Group, cmp.Or(preferred(like), &apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1"}).Name)
	}
	var known []string
	for _, crd := range crds {
		if crd.Spec.Names.Plural != like.Spec.Names.Plural {
			continue
		}
		for i := range crd.Spec.Versions {
			v := &crd.Spec.Versions[i]
			if v.Served && crd.Spec.Group == group && v.Name == name {
				return crd, v, nil
			}
			if v.Served {
				known = append(known, crd.Spec.Group+"/"+v.Name)
			}
		}
	}
	return nil, nil, fmt.Errorf("couldn't find resource for %q%s", fmt.Sprintf("%s/%s, Resource=%s", group, name, like.Spec.Names.Plural), spell.SuggestOrList(apiVersion, known))
}

// walk descends to a field, passing through lists and maps. Fields that only allOf declares are tried last.
func (p *Target) walk(names []string) error {
	var steps []engine.Step
	for i, name := range names {
		fields := p.fields(p.schema)
		next, ok := fields[name]
		if !ok {
			where := "in " + engine.FormatPath(steps)
			if i == 0 {
				where = "at the root"
			}
			known := slices.Sorted(maps.Keys(fields))
			if i == len(names)-1 {
				return fmt.Errorf("field %q does not exist %s%s", name, where, spell.SuggestOrList(name, known))
			}
			return fmt.Errorf("field %q does not exist: there is no %q %s%s", names[len(names)-1], name, where, spell.SuggestOrList(name, known))
		}
		for range next.through {
			steps = append(steps, engine.Step{Any: true})
		}
		steps = append(steps, engine.Step{Name: name})
		p.schema, p.name = next.schema, name
	}
	p.Path = engine.FormatPath(steps)
	return nil
}
