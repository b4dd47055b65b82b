package requests

import (
	"context"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// How it works: requests to subresources such as pods/exec contain objects of a kind of their own. A CRD describes
// the kind, so objects are found as for any CRD, and only policies can reject them. As in documents for check, the
// metadata has the name and namespace of the resource, which policies do not see for a connection.

// subresourceDecider accepts all objects that fit the schema of a subresource's kind.
type subresourceDecider struct {
	*engine.Engine
	of *policyrequest.Subresource
}

func (d subresourceDecider) Validate(ctx context.Context, req engine.Request) (*engine.Result, error) {
	kind := d.of.Subject().Kind
	req.Subresource, req.Object = "", with(req.Object, "apiVersion", kind.Group+"/"+kind.Version)
	res, err := d.Engine.Validate(ctx, req)
	if err == nil && res.Object != nil {
		meta := maps.Clone(object(res.Object, "metadata"))
		delete(meta, "generation")
		res.Object = with(with(res.Object, "metadata", meta), "apiVersion", kind.GroupVersion().String())
	}
	return res, err
}

// subresourceKinds returns the subresources of a kind that rules name and whose objects have another kind. For rules
// with * or */*, it returns only exec, and only if CONNECT is the only operation.
func subresourceKinds(catalog *builtin.Catalog, all *policyrequest.Builtins, k *builtin.Kind, rules []map[string]any) (kinds []BuiltinKind, err error) {
	for _, s := range k.Subresources {
		sub := all.Subresource(s.Kind)
		if s.Kind == k.GroupVersionKind || sub == nil {
			continue
		}
		one := form{sub.Operation(), s.Name}
		if !slices.ContainsFunc(rules, func(rule map[string]any) bool {
			operations, _ := rule["operations"].([]any)
			isExample := s.Name == "exec" && slices.Equal(operations, []any{string(policy.OperationConnect)})
			return (isExample || !has(rule, "resources", "*/*")) && one.matches(rule, k.GroupVersion().WithResource(k.Resource), nil)
		}) {
			continue
		}
		crd, err := subresourceCRD(catalog, sub)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, BuiltinKind{CRD: crd, Release: catalog.Release(), Subresource: sub})
	}
	return kinds, nil
}

// connectionSchemas holds the schemas of the objects of connections, which are not published, by subresource.
var connectionSchemas = map[string]string{
	"exec":        "{type: object, properties: {" + streams + ", command: {type: array, items: {type: string}}}}",
	"attach":      "{type: object, properties: {" + streams + "}}",
	"portforward": "{type: object, properties: {ports: {type: array, items: {type: integer}}}}",
	"proxy":       "{type: object, properties: {path: {type: string}}}",
}

const streams = "stdin: {type: boolean}, stdout: {type: boolean}, stderr: {type: boolean}, tty: {type: boolean}, container: {type: string}"

func subresourceCRD(catalog *builtin.Catalog, sub *policyrequest.Subresource) (*apiextensionsv1.CustomResourceDefinition, error) {
	kind := sub.Subject().Kind
	props, err := &apiextensionsv1.JSONSchemaProps{}, error(nil)
	if sub.Operation() == policy.OperationConnect {
		err = yaml.Unmarshal([]byte(connectionSchemas[sub.Name]), props)
	} else {
		props, err = catalog.Schema(kind)
	}
	if err != nil {
		return nil, err
	}
	if kind.Kind == "TokenRequest" { // a server requires at least 600 seconds, and sets missing audiences
		spec := props.Properties["spec"]
		seconds, audiences, least, one := spec.Properties["expirationSeconds"], spec.Properties["audiences"], 600.0, int64(1)
		seconds.Minimum, audiences.MinItems = &least, &one
		spec.Properties["expirationSeconds"], spec.Properties["audiences"], spec.Required = seconds, audiences, []string{"audiences"}
		props.Properties["spec"], props.Required = spec, []string{"spec"}
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = sub.Of.Resource + "/" + sub.Name
	crd.Spec.Group, crd.Spec.Names.Kind, crd.Spec.Names.Plural, crd.Spec.Scope = kind.Group, kind.Kind, sub.Of.Resource, apiextensionsv1.ClusterScoped
	if sub.Of.Namespaced {
		crd.Spec.Scope = apiextensionsv1.NamespaceScoped
	}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: kind.Version, Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props},
	}}
	return crd, nil
}
