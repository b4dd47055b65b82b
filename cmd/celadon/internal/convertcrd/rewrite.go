package convertcrd

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/crdfile"
	"github.com/celadon-cel/celadon/engine/catalog"
)

// How it works: the nodes of the YAML tree are moved to where v1 has them, and
// their comments go with them. What v1beta1 fills in, and v1 does not, is written
// out. That what comes of it is what a server makes of the CRD is checked behind
// (check.go), so a mistake here is an error and never another CRD.

// change is what was done to one CRD.
type change struct {
	// kept: unknown fields, which the CRD preserves, are preserved at the root of
	// the schema, as v1 has it.
	kept bool
	// declared: there was a schema, below which unknown fields are now dropped.
	declared bool
}

// specNode is the spec of a CRD that can be rewritten.
func specNode(crd *yaml.Node) (*yaml.Node, error) {
	if err := plain(crd); err != nil {
		return nil, err
	}
	spec := get(crd, "spec")
	if spec == nil || spec.Kind != yaml.MappingNode {
		return nil, errors.New("spec: want a mapping")
	}
	return spec, nil
}

// rewrite makes a CRD of v1 out of one of v1beta1, in place. It is told whether a
// server that reads it preserves unknown fields.
func rewrite(crd, spec *yaml.Node, preserves bool) (c change, err error) {
	get(crd, "apiVersion").Value = crdfile.APIVersion
	if empty(get(spec, "scope")) {
		take(spec, "scope")
		put(spec, "scope", text("Namespaced"))
	}
	versions, err := versionsOf(spec)
	if err != nil {
		return c, err
	}
	for _, name := range []string{"subresources", "additionalPrinterColumns", "selectableFields"} {
		share(spec, versions, name, name)
	}
	share(spec, versions, "validation", "schema")
	for _, v := range versions {
		if columns := get(v, "additionalPrinterColumns"); columns != nil {
			for _, column := range columns.Content {
				rename(column, "JSONPath", "jsonPath")
			}
		}
	}
	convertWebhook(get(spec, "conversion"))
	if c.kept = preserves; c.kept {
		take(spec, "preserveUnknownFields")
		for _, v := range versions {
			c.declared = preserveAtRoot(v) || c.declared
		}
	}
	return c, nil
}

// plain refuses what stands at several places of the tree at once, and keys that
// stand twice.
func plain(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode {
		return fmt.Errorf("line %d: *%s: write out what it stands for first", n.Line, n.Value)
	}
	seen := map[string]bool{}
	for i, below := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if seen[below.Value] {
				return fmt.Errorf("line %d: key %q is given twice: keep one", below.Line, below.Value)
			}
			seen[below.Value] = true
		}
		if err := plain(below); err != nil {
			return err
		}
	}
	return nil
}

// versionsOf are the mappings of spec.versions, which is made where there is only
// spec.version.
func versionsOf(spec *yaml.Node) ([]*yaml.Node, error) {
	key, version := pair(spec, "version")
	take(spec, "version")
	list := get(spec, "versions")
	if empty(list) || list.Kind == yaml.SequenceNode && len(list.Content) == 0 {
		if empty(version) {
			return nil, errors.New("spec.version: want it, or spec.versions")
		}
		take(spec, "versions")
		one := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		one.Content = append(one.Content, commented("name", key), version)
		put(one, "served", truth())
		put(one, "storage", truth())
		list = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{one}}
		put(spec, "versions", list)
	}
	if list.Kind != yaml.SequenceNode {
		return nil, errors.New("spec.versions: want a list")
	}
	for i, v := range list.Content {
		if v.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("spec.versions[%d]: want a mapping", i)
		}
	}
	return list.Content, nil
}

// share moves what all versions have into each of them. Its comments go to the
// first.
func share(spec *yaml.Node, versions []*yaml.Node, from, to string) {
	key, value := pair(spec, from)
	if value == nil {
		return
	}
	take(spec, from)
	if empty(value) {
		return
	}
	for i, v := range versions {
		take(v, to)
		if i == 0 {
			v.Content = append(v.Content, commented(to, key), value)
			continue
		}
		put(v, to, plainCopy(value))
	}
}

// convertWebhook moves what a webhook has below a key of its own.
func convertWebhook(conversion *yaml.Node) {
	if conversion == nil || conversion.Kind != yaml.MappingNode {
		return
	}
	client, reviews := take(conversion, "webhookClientConfig"), take(conversion, "conversionReviewVersions")
	if strategy := get(conversion, "strategy"); reviews == nil && strategy != nil && strategy.Value == "Webhook" {
		reviews = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle, Content: []*yaml.Node{text("v1beta1")}}
	}
	if client == nil && reviews == nil {
		return
	}
	webhook := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if client != nil {
		put(webhook, "clientConfig", client)
	}
	if reviews != nil {
		put(webhook, "conversionReviewVersions", reviews)
	}
	put(conversion, "webhook", webhook)
}

const preserveUnknown = "x-kubernetes-preserve-unknown-fields"

// preserveAtRoot makes the schema of a version keep unknown fields; declared says
// that there was one.
func preserveAtRoot(version *yaml.Node) (declared bool) {
	schema := get(version, "schema")
	if schema == nil || schema.Kind != yaml.MappingNode {
		take(version, "schema")
		schema = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		put(version, "schema", schema)
	}
	root := get(schema, "openAPIV3Schema")
	if root == nil || root.Kind != yaml.MappingNode {
		take(schema, "openAPIV3Schema")
		root = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		put(root, "type", text("object"))
		put(schema, "openAPIV3Schema", root)
	} else {
		declared = true
	}
	if empty(get(root, "type")) {
		take(root, "type")
		put(root, "type", text("object"))
	}
	if empty(get(root, preserveUnknown)) {
		take(root, preserveUnknown)
		put(root, preserveUnknown, truth())
	}
	return declared
}

// beta is true of a CRD that is to be rewritten.
func beta(n *yaml.Node) bool {
	kind, apiVersion := get(n, "kind"), get(n, "apiVersion")
	return kind != nil && apiVersion != nil && kind.Value == crdfile.Kind && apiVersion.Value == catalog.APIVersionBeta
}
