package policies

import (
	"fmt"
	"strings"
)

func (g *generator) applyConfiguration() string {
	n := g.IntN(8)
	if g.calm {
		n += 2
	}
	switch n {
	case 0:
		return fmt.Sprintf("%s ? %s : Object{}", g.boolean(), g.root())
	case 1:
		return fmt.Sprintf("has(%s) ? %s : %s", g.selection(), g.root(), g.root())
	}
	return g.root()
}

// valid returns one of the items. If most expressions of the policy are valid, it is usually one of the first n.
func (g *generator) valid(n int, items ...string) string {
	if g.calm && !g.some(8) {
		items = items[:n]
	}
	return pick(g, items...)
}

func (g *generator) root() string {
	fields := g.fields(map[string]func() string{
		"spec":     func() string { return g.spec("Object.spec") },
		"metadata": g.metadata,
		"status":   func() string { return "Object.status{ready: true}" },
		"kind":     func() string { return "'Other'" },
		"extra":    g.text,
	}, "spec", "spec", "spec", "spec", "metadata", "metadata", "status", g.valid(1, "status", "kind", "extra", "status"))
	return "Object{" + fields + "}"
}

func (g *generator) fields(of map[string]func() string, names ...string) string {
	var list []string
	seen := map[string]bool{}
	for range 1 + g.IntN(2) {
		name := pick(g, names...)
		if seen[name] {
			continue
		}
		seen[name] = true
		optional := ""
		value := of[name]()
		if g.some(12) {
			optional, value = "?", pick(g, "optional.none()", "optional.of("+value+")", "object.?spec.?"+name)
		}
		field := fmt.Sprintf("%s%s: %s", optional, name, value)
		if name == "missing" || name == "extra" {
			return field // with several errors, it depends on chance which of them the server finds
		}
		list = append(list, field)
	}
	return strings.Join(list, ", ")
}

func (g *generator) metadata() string {
	return g.valid(3, "Object.metadata{labels: {'x': 'y'}}", "Object.metadata{labels: Object.metadata.labels{x: 'z'}}", "Object.metadata{finalizers: ['example.com/f']}", "Object.metadata{annotations: {'k': "+g.text()+"}}",
		"Object.metadata{ownerReferences: [Object.metadata.ownerReferences{uid: 'u', name: 'n', kind: 'K', apiVersion: 'v1'}]}",
		"Object.metadata{name: 'renamed'}", "Object.metadata{labels: {'n': 1}}", "Object.metadata{managedFields: []}", "Object.metadata{generation: 3}", "Object.meta{labels: {'x': 'y'}}", "{'labels': {'x': 'y'}}")
}

func (g *generator) spec(name string) string {
	fields := map[string]func() string{
		"size": func() string {
			return g.valid(3, "4", "object.spec.size + 1", "size(object.spec)", g.integer(), "5u", "1.5", "null")
		},
		"name":  func() string { return g.valid(3, "'n'", "request.name", "object.kind", g.text(), "null", "b'x'") },
		"flag":  func() string { return g.valid(2, "true", "has(object.spec.name)", g.boolean()) },
		"ratio": func() string { return pick(g, "2.5", "2", "double(1)") },
		"when": func() string {
			return g.valid(2, "'2020-01-01T00:00:00Z'", "'x'", "timestamp('2020-01-01T00:00:00Z')", "duration('1h')")
		},
		"names": func() string {
			return g.valid(6, "['b', 'new']", "object.spec.?names.orValue([])", "object.spec.?names.orValue([]).filter(n, n != 'z') + ['z']", "['c', 'a']", "[]", "['b', 'z', 'a', 'cc']", "['b', 'b']", "object.spec.names.filter(n, n != 'a')", "[1]")
		},
		"tags":  func() string { return pick(g, "['t']", "[]") },
		"ports": g.ports,
		"limits": func() string {
			return g.valid(3, "{'cpu': 2}", "{'memory': object.spec.size}", "Object.spec.limits{cpu: 1}", "{'cpu': 'x'}", "{}", "{1: 2}")
		},
		"lists": func() string {
			return pick(g, "{'l': ['a']}", "{'l': object.spec.names}", "Object.spec.lists{l: ['b']}")
		},
		"selector": func() string { return pick(g, "Object.spec.selector{a: 'x'}", "{'a': 'x'}") },
		"template": func() string {
			return g.valid(3, "Object.spec.template{free: {'y': 2}}", "Object.spec.template{other: Object.spec.template.other{x: 1, y: true}}", "{'free': object.spec.?limits.orValue({})}", "Object.spec.template{known: ['x']}", "Object.spec.template{free: Object.spec.template.free{list: [3]}}", "{'free': {'y': {'z': 1}}}")
		},
		"any": func() string {
			return g.valid(4, "'t'", "Object.spec.any{a: Object.spec.any.a{c: 'd'}}", "object.spec.?limits.orValue({})", "2.5", "{'a': {'c': 2}}", "[1, 2]", "object.spec", "1", "null", "[[1]]", "[{'a': 1}]", "object.spec.ports")
		},
		"quantity": func() string { return g.valid(4, "1", "'2Gi'", "1.5", "true", "[1]") },
		"nothing":  func() string { return g.valid(1, "'x'", "null", "object.spec.?nothing.orValue('q')") },
		"nested": func() string {
			return g.valid(3, "Object.spec.nested{deep: Object.spec.nested.deep{text: 'y'}}", "Object.spec.nested{}", "Object.spec.nested{deep: Object.spec.nested.deep{}}", "Object.spec.nested{deep: Object.spec.wrong{text: 'y'}}", "Object.spec.nested{deep: {'text': 'z'}}")
		},
		"embedded": func() string {
			return g.valid(2, "Object.spec.embedded{metadata: Object.spec.embedded.metadata{labels: {'c': 'd'}}}", "Object.spec.embedded{other: 1}", "Object.spec.embedded{spec: Object.spec.embedded.spec{x: ['z']}}")
		},
		"missing": g.any,
	}
	names := []string{
		"size", "size", "name", "name", "flag", "ratio", "when", "names", "names", "names", "tags", "ports", "ports", "ports", "limits", "limits", "lists",
		"template", "template", "any", "any", "quantity", "nothing", "nested", "embedded", pick(g, "missing", "selector", "name", "flag"),
	}
	return name + "{" + g.fields(fields, names...) + "}"
}

func (g *generator) ports() string {
	port := func() string {
		return g.valid(4, "Object.spec.ports{port: 80, name: 'web'}", "Object.spec.ports{port: 80, protocol: 'UDP'}", "Object.spec.ports{port: 443, name: 'tls'}", "Object.spec.ports{port: 81, protocol: 'TCP', name: object.kind}", "Object.spec.ports{port: 81, hints: [1]}", "Object.spec.ports{port: object.spec.ports[0].port, name: "+g.text()+"}",
			"Object.spec.ports{name: 'no port'}", "Object.spec.ports{port: 443, protocol: 'TCP', name: 'tls'}", "Object.spec.ports{port: 80, extra: 1}", "{'port': 80}")
	}
	return g.valid(2, "["+port()+"]", "object.spec.?ports.orValue([])", "["+port()+"]", "["+port()+", "+port()+"]", "object.spec.ports", "object.spec.ports.map(p, Object.spec.ports{port: p.port, protocol: p.protocol, name: 'mapped'})", "[]")
}

func (g *generator) jsonPatch() string {
	switch g.IntN(10) {
	case 0:
		return fmt.Sprintf("%s ? [%s] : []", g.boolean(), g.operation())
	case 1:
		return "object.spec.names.map(n, JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey(n + '/~'), value: n})"
	case 2:
		return fmt.Sprintf("has(object.metadata.labels) ? [%s] : [JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}]", g.operation())
	}
	var list []string
	for range 1 + g.IntN(3) {
		list = append(list, g.operation())
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func (g *generator) operation() string {
	path := g.pointer()
	n := g.IntN(12)
	if g.calm && !g.some(8) {
		path = pick(g, "'/spec/size'", "'/spec/new'", "'/metadata/labels'", "'/spec/nested'", "'/spec/template'", "'/spec/' + object.kind")
		n = g.IntN(4)
	}
	switch n {
	case 0, 1, 2, 3:
		return fmt.Sprintf("JSONPatch{op: 'add', path: %s, value: %s}", path, g.patchValue())
	case 4, 5:
		return fmt.Sprintf("JSONPatch{op: 'replace', path: %s, value: %s}", path, g.patchValue())
	case 6, 7:
		return fmt.Sprintf("JSONPatch{op: 'remove', path: %s}", path)
	case 8:
		return fmt.Sprintf("JSONPatch{op: 'test', path: %s, value: %s}", path, g.patchValue())
	case 9:
		return fmt.Sprintf("JSONPatch{op: 'copy', from: %s, path: %s}", g.pointer(), path)
	case 10:
		return fmt.Sprintf("JSONPatch{op: 'move', from: %s, path: %s}", g.pointer(), path)
	}
	return pick(g, "JSONPatch{op: 'nonsense', path: '/spec'}", "JSONPatch{op: 'move', path: '/spec/name'}", "JSONPatch{op: 'add', value: 1}", "JSONPatch{op: 'replace', path: '', value: object}", "JSONPatch{op: 'add', path: '/spec/a\\x01', value: 1}",
		"JSONPatch{op: 'remove', path: '/kind'}", "JSONPatch{op: 'replace', path: '/apiVersion', value: 'example.com/v1beta1'}", "JSONPatch{op: 'replace', path: '/apiVersion', value: 'example.com/v9'}", "JSONPatch{op: 'replace', path: '/kind', value: 3}",
		"JSONPatch{op: 'replace', path: '/apiVersion', value: 'other/v1'}", "JSONPatch{op: 'replace', path: '', value: [1]}", "JSONPatch{op: object.spec.name, path: '/spec'}", "JSONPatch{op: 'replace', path: '', value: 1}", "JSONPatch{op: 'replace', path: '/apiVersion', value: 'a/b/c'}")
}

func (g *generator) pointer() string {
	return pick(g, "'/spec/size'", "'/spec/name'", "'/spec/names/0'", "'/spec/names/-'", "'/spec/names/-1'", "'/spec/names/7'", "'/spec/names/x'", "'/spec/ports/0/name'", "'/spec/ports/1'", "'/spec/tags'", "'/spec/limits/cpu'", "'/spec/new'",
		"'/spec/new/deeper'", "'/metadata/labels/a'", "'/metadata/labels/x~1y'", "'/metadata/annotations'", "'/spec'", "''", "'spec/name'", "'/spec/nothing'", "'/spec/ratio'", "'/spec/template/free/list/1'", "'/spec/any'", "'/spec/any/a/b'", "'/spec/names'", "'/status'",
		"'/spec/' + "+g.text())
}

func (g *generator) patchValue() string {
	return g.valid(9, "'v'", "1", "2.5", "object.spec", "object.metadata.labels", "{'k': 'v'}", "{'k': object}", "[object.spec.size]", "Object.a{b: object.spec.size}", g.any(), g.any(), "2.0", "true", "null", "[1, 'a']", "{'k': 'v'}", "{'k': [1]}", "object.spec", "object.spec.names", "[]", "{}", "Object.spec{a: 1}", "Object{spec: Object.wrong{}}", "9007199254740993", "1.5", "b'x'", "duration('1h')", "3u", "object.metadata", "Object.x{y: [1], z: {'a': null}}")
}
