package builtin

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// SetConditionalDefaults returns an object with defaults that depend on other fields and that published
// policies read: in Pods and Pod templates imagePullPolicy, resources.requests of a Pod, and the equal
// fields serviceAccount and serviceAccountName; and the labels of a Job or ReplicationController, which
// are those of its template. The given object is not modified.
func SetConditionalDefaults(kind schema.GroupKind, object map[string]any) map[string]any {
	object = defaultsBelow(object, kind == schema.GroupKind{Kind: "Pod"}, maxTemplateDepth)
	if kind == (schema.GroupKind{Group: "batch", Kind: "Job"}) || kind == (schema.GroupKind{Kind: "ReplicationController"}) {
		return labeledAsTemplate(object)
	}
	return object
}

// labeledAsTemplate returns an object with the labels of its template if it has no labels.
func labeledAsTemplate(object map[string]any) map[string]any {
	meta := below(object, "metadata")
	labels := below(object, "spec", "template", "metadata", "labels")
	if len(below(meta, "labels")) > 0 || len(labels) == 0 {
		return object
	}
	labeled := make(map[string]any, len(meta)+1)
	maps.Copy(labeled, meta)
	labeled["labels"] = labels
	object = maps.Clone(object)
	object["metadata"] = labeled
	return object
}

func below(object map[string]any, path ...string) map[string]any {
	for _, field := range path {
		object, _ = object[field].(map[string]any)
	}
	return object
}

// maxTemplateDepth is the length of the longest path to the spec of a Pod:
// spec.jobTemplate.spec.template.spec.
const maxTemplateDepth = 5

func defaultsBelow(object map[string]any, isPod bool, depth int) map[string]any {
	if _, ok := object["containers"].([]any); ok {
		return podDefaults(object, isPod)
	}
	for _, field := range []string{"spec", "template", "jobTemplate"} {
		below, ok := object[field].(map[string]any)
		if !ok || depth == 0 {
			continue
		}
		object = maps.Clone(object)
		object[field] = defaultsBelow(below, isPod, depth-1)
	}
	return object
}

// podDefaults sets the defaults in the spec of a Pod or of a Pod template.
func podDefaults(spec map[string]any, isPod bool) map[string]any {
	spec = maps.Clone(spec)
	for _, field := range []string{"containers", "initContainers", "ephemeralContainers"} {
		list, ok := spec[field].([]any)
		if !ok {
			continue
		}
		changed := make([]any, len(list))
		for i, item := range list {
			changed[i] = containerDefaults(item, isPod && field != "ephemeralContainers")
		}
		spec[field] = changed
	}
	for _, fields := range [][2]string{{"serviceAccount", "serviceAccountName"}, {"serviceAccountName", "serviceAccount"}} {
		if name, _ := spec[fields[1]].(string); name != "" && spec[fields[0]] == nil {
			spec[fields[0]] = name
		}
	}
	return spec
}

func containerDefaults(item any, requests bool) any {
	given, ok := item.(map[string]any)
	if !ok {
		return item
	}
	container := maps.Clone(given)
	if policy, _ := container["imagePullPolicy"].(string); policy == "" {
		image, _ := container["image"].(string)
		container["imagePullPolicy"] = pullPolicy(image)
	}
	resources, _ := container["resources"].(map[string]any)
	if limits, _ := resources["limits"].(map[string]any); requests && len(limits) > 0 {
		all := maps.Clone(limits)
		given, _ := resources["requests"].(map[string]any)
		maps.Copy(all, given)
		resources = maps.Clone(resources)
		resources["requests"] = all
		container["resources"] = resources
	}
	return container
}

// pullPolicy returns the imagePullPolicy of an image: Always if its tag is latest, which is also the
// tag of an image with neither tag nor digest.
func pullPolicy(image string) string {
	name, _, digest := strings.Cut(image, "@")
	_, tag, tagged := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	if tag == "latest" || image != "" && !tagged && !digest {
		return "Always"
	}
	return "IfNotPresent"
}
