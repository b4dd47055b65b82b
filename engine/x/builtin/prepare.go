package builtin

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// generated lists the built-in kinds with metadata.generation. The other kinds have none, except for
// those of the group admissionregistration.k8s.io.
var generated = map[schema.GroupKind]bool{
	{Kind: "Pod"}:                                                               true,
	{Kind: "PodTemplate"}:                                                       true,
	{Kind: "ReplicationController"}:                                             true,
	{Group: "apps", Kind: "DaemonSet"}:                                          true,
	{Group: "apps", Kind: "Deployment"}:                                         true,
	{Group: "apps", Kind: "ReplicaSet"}:                                         true,
	{Group: "apps", Kind: "StatefulSet"}:                                        true,
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:                     true,
	{Group: "batch", Kind: "CronJob"}:                                           true,
	{Group: "batch", Kind: "Job"}:                                               true,
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}:                          true,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}:                 true,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}: true,
	{Group: "networking.k8s.io", Kind: "Ingress"}:                               true,
	{Group: "networking.k8s.io", Kind: "IngressClass"}:                          true,
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:                         true,
	{Group: "policy", Kind: "PodDisruptionBudget"}:                              true,
	{Group: "resource.k8s.io", Kind: "DeviceClass"}:                             true,
	{Group: "resource.k8s.io", Kind: "ResourceSlice"}:                           true,
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:                         true,
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:           true,
}

// Prepare returns a new or changed object of a kind as the API server prepares it before validation,
// with the status that a client cannot set. A new object has an empty status; an update keeps the
// status of old. old is nil for a create. Neither object is modified.
func (c *Catalog) Prepare(kind Kind, object, old map[string]any) map[string]any {
	if object == nil {
		return nil
	}
	object = maps.Clone(object)
	if slices.ContainsFunc(kind.Subresources, func(s Subresource) bool { return s.Name == "status" }) {
		delete(object, "status")
		switch status := c.emptyStatus(kind.GroupVersionKind); {
		case old == nil && status != nil:
			object["status"] = status
		case old != nil && old["status"] != nil:
			object["status"] = old["status"]
		}
	}
	return object
}

// SetGeneration sets metadata.generation of an object with defaults, if its kind has this field: to 1
// for a new object, and to that of old for an update, plus 1 if spec changes. It replaces metadata
// instead of modifying it. old is nil for a create.
func SetGeneration(kind schema.GroupKind, object, old map[string]any) {
	if object == nil || !generated[kind] && kind.Group != "admissionregistration.k8s.io" {
		return
	}
	given, _ := object["metadata"].(map[string]any)
	meta := make(map[string]any, len(given)+1)
	maps.Copy(meta, given)
	generation := int64(1)
	if old != nil {
		was, _ := old["metadata"].(map[string]any)
		n, ok := was["generation"].(int64)
		if !ok {
			return
		}
		if generation = n; !reflect.DeepEqual(object["spec"], old["spec"]) {
			generation++
		}
	}
	meta["generation"] = generation
	object["metadata"] = meta
}

// emptyStatus returns the status of a new object, which has zeros for required fields, or nil if the
// kind has no schema of a status.
func (c *Catalog) emptyStatus(gvk schema.GroupVersionKind) any {
	root := c.resolve(&definition{Ref: c.roots[gvk].Schema})
	if root == nil || root.Properties["status"] == nil {
		return nil
	}
	return c.zero(root.Properties["status"], 0)
}

func (c *Catalog) resolve(d *definition) *definition {
	for range maxDepth {
		if d == nil || d.Ref == "" {
			return d
		}
		d = c.definitions[d.Ref]
	}
	return nil
}

// maxDepth limits references and the nesting of required fields.
const maxDepth = 16

// zero returns the value of a field that is required but not given.
func (c *Catalog) zero(d *definition, depth int) any {
	d = c.resolve(d)
	if d == nil || depth > maxDepth {
		return nil
	}
	switch d.Type {
	case "string":
		return ""
	case "integer":
		return int64(0)
	case "number":
		return float64(0)
	case "boolean":
		return false
	case "array":
		return []any{}
	}
	object := map[string]any{}
	for _, name := range d.Required {
		object[name] = c.zero(d.Properties[name], depth+1)
	}
	return object
}
