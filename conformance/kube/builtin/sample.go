package main

import (
	"maps"
	"math/rand/v2"
	"slices"
)

const maxDepth = 9

// quantity is the definition of quantities. A number would become a string in canonical form.
const quantity = "io.k8s.apimachinery.pkg.api.resource.Quantity"

// texts are strings on which defaults can depend, after one that means nothing.
var texts = []string{
	"text", "Recreate", "RollingUpdate", "OnDelete", "LoadBalancer", "NodePort", "ExternalName", "ClusterIP", "Local", "Cluster", "None",
	"OnFailure", "Never", "Always", "Indexed", "busybox:latest", "busybox:1", "ClientIP", "Service", "User", "Group", "Filesystem", "TCP", "UDP",
	"rbac.authorization.k8s.io", "Resource", "Utilization", "cpu",
}

// A sampler generates sparse objects of a kind. Their values are not zero, because a server does not
// distinguish most zero values from missing ones.
type sampler struct {
	file *file
	root *definition
	rand *rand.Rand
}

func (s *sampler) object() map[string]any {
	object := s.value(s.root, "", 0).(map[string]any)
	return object
}

func (s *sampler) value(d *definition, path string, depth int) any {
	if d.Ref == quantity {
		return "1"
	}
	d = s.file.resolve(d)
	switch {
	case d.IntOrString:
		return int64(1 + s.rand.IntN(9))
	case d.Items != nil:
		items := []any{s.value(d.Items, path+"[]", depth+1)}
		if s.rand.IntN(3) == 0 {
			items = append(items, s.value(d.Items, path+"[]", depth+1))
		}
		return items
	case d.Values != nil:
		return map[string]any{s.text(): s.value(d.Values, path+"{}", depth+1)}
	case d.Properties != nil:
		return s.fields(d, path, depth)
	}
	switch d.Type {
	case "string":
		return s.string(d.Format)
	case "integer":
		return int64(1 + s.rand.IntN(99))
	case "number":
		return 1.5
	case "boolean":
		return true
	}
	return map[string]any{}
}

func (s *sampler) fields(d *definition, path string, depth int) map[string]any {
	object := map[string]any{}
	share := 2 + s.rand.IntN(6)
	for _, name := range slices.Sorted(maps.Keys(d.Properties)) {
		required := name == "spec" || name == "template" || name == "containers" || slices.Contains(d.Required, name)
		wanted := s.rand.IntN(share+len(d.Properties)/8) == 0 || required && s.rand.IntN(8) > 0
		if wanted && depth < maxDepth && !excluded(path+"."+name) {
			object[name] = s.value(d.Properties[name], path+"."+name, depth+1)
		}
	}
	return object
}

func (s *sampler) string(format string) string {
	switch format {
	case "date-time":
		return "2026-01-02T03:04:05Z"
	case "byte":
		return "dGV4dA=="
	}
	return s.text()
}

func (s *sampler) text() string {
	if s.rand.IntN(2) == 0 {
		return "text"
	}
	return texts[s.rand.IntN(len(texts))]
}
