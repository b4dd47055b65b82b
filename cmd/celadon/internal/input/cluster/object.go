package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
)

// Object reads the object KIND/NAME and its CRD. KIND is anything that kubectl get accepts: the
// kind, its plural, its singular, or a short name, with .GROUP if it is ambiguous. A namespaced
// object is read from --namespace, or else from the namespace of the context.
func (c *Client) Object(ctx context.Context, ref string) (crd, object input.Chunk, err error) {
	word, name, ok := strings.Cut(ref, "/")
	if !ok || word == "" || name == "" {
		return crd, object, fmt.Errorf("--object %q: with --cluster, want KIND/NAME", ref)
	}
	if bad := content.IsPathSegmentName(name); len(bad) > 0 {
		return crd, object, fmt.Errorf("--object %q: the name %s", ref, bad[0])
	}
	raw, err := c.defining(ctx, word)
	if err != nil {
		return crd, object, err
	}
	var def apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(raw, &def); err != nil {
		return crd, object, fmt.Errorf("%s: not a CustomResourceDefinition: %w", c, err)
	}
	k, err := KindOf(&def)
	if err != nil {
		return crd, object, err
	}
	namespace := c.namespace
	if namespace == "" {
		namespace = c.fallback
	}
	body, err := c.get(ctx, append(k.path(namespace), name), nil)
	if err != nil {
		return crd, object, fmt.Errorf("%s: %w", ref, err)
	}
	defer body.Close()
	sent, err := input.ReadAll(body, maxValue)
	if err != nil {
		return crd, object, fmt.Errorf("%s: %w", ref, err)
	}
	crd = input.Live(crdKinds, resource.APIVersion, resource.Kind, raw)
	return crd, input.Live(k.Resource, k.group+"/"+k.version, k.Kind, sent), nil
}

// defining returns the CRD of the kind that word refers to.
func (c *Client) defining(ctx context.Context, word string) (found []byte, err error) {
	var names []string
	err = c.crds(ctx, func() {}, func(_ string, raw []byte) error {
		var def heading
		if json.Unmarshal(raw, &def) == nil && def.means(word) {
			found = raw
			names = append(names, def.Metadata.Name)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0:
		return nil, fmt.Errorf("%s has no CustomResourceDefinition for %q", c, word)
	case len(names) > 1:
		return nil, fmt.Errorf("%q is of %s: choose one", word, strings.Join(names, " and of "))
	}
	return found, nil
}

// A heading is the part of a CRD that identifies its kind.
type heading struct {
	Metadata struct{ Name string }
	Spec     struct {
		Group string
		Names apiextensionsv1.CustomResourceDefinitionNames
	}
}

func (h *heading) means(word string) bool {
	word, group, whole := strings.Cut(strings.ToLower(word), ".")
	names := &h.Spec.Names
	return (!whole || group == h.Spec.Group) &&
		(word == names.Plural || word == names.Singular || word == strings.ToLower(names.Kind) || slices.Contains(names.ShortNames, word))
}
