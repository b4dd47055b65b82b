package policies

import (
	"fmt"
	"strconv"
)

// How it works: each method returns an expression that usually has the type of its name. Paths are dyn,
// so many expressions fail when they are evaluated, and some do not compile.

const maxDepth = 4

func (g *generator) deeper() func() {
	g.depth++
	return func() { g.depth-- }
}

func (g *generator) path() string {
	root := pick(g, "object", "object", "object", "oldObject")
	if g.hasParams && g.some(4) {
		return "params." + pick(g, "limit", "names", "flag", "metadata.name", "kind", "missing")
	}
	if len(g.locals) > 0 && g.some(2) {
		return pick(g, g.locals...) + pick(g, "", "", ".port", ".name")
	}
	if len(g.variables) > 0 && g.some(3) {
		return pick(g, "variables.", "variables.", "variables.", "dyn(variables).") + pick(g, append(g.variables, "missing")[:len(g.variables)+g.IntN(30)/29]...)
	}
	return root + pick(g, "", ".spec", ".spec.size", ".spec.size", ".spec.size", ".spec.name", ".spec.name", ".spec.flag", ".spec.ratio", ".spec.names", ".spec.ports", ".spec.nothing", ".spec.quantity",
		".metadata.labels", ".metadata.labels['a']", ".metadata.annotations.k", ".spec.names[0]", ".spec.ports[1].port", ".spec.?size.orValue(3)", ".?spec.names", "['spec']['name']", ".missing", ".spec.missing.deeper")
}

func (g *generator) selection() string {
	return pick(g, "object.spec", "object.spec.names", "object.spec.nothing", "oldObject.spec.size", "object.metadata.labels.a", "request.namespace", "request.name", "request.subResource", "request.userInfo.uid",
		"namespaceObject.metadata.labels", "object.spec.ports[0].name", "object.missing.deeper", "request.options.fieldManager", "namespaceObject.metadata.deletionTimestamp")
}

func (g *generator) any() string {
	return pick(g, g.path, g.path, g.boolean, g.integer, g.text, g.list, g.other)()
}

func (g *generator) other() string {
	return pick(g, "null", "1.5", "b'x'", "duration('1h')", "timestamp('2020-01-01T00:00:00Z')", "{'a': 1}", "{'a': object}", "quantity('1Gi')", "request", "request.options", "optional.of(1)", "optional.none()",
		"type(object)", "object.?spec.?size", "namespaceObject", "namespaceObject.metadata", "request.userInfo.extra", "dyn(request).uid", "2u", "request.kind", "ip('1.2.3.4')", "dyn(namespaceObject).metadata")
}

func (g *generator) boolean() string {
	defer g.deeper()()
	if g.depth > maxDepth {
		return pick(g, "true", "false", "object.spec.flag == true", "request.dryRun")
	}
	switch g.IntN(20) {
	case 0, 1:
		return fmt.Sprintf("(%s %s %s)", g.boolean(), pick(g, "&&", "||"), g.boolean())
	case 2:
		return "!" + g.boolean()
	case 3, 4:
		return "has(" + g.selection() + ")"
	case 5, 6:
		return fmt.Sprintf("%s %s %s", g.path(), pick(g, "==", "!="), g.any())
	case 7, 8:
		return fmt.Sprintf("%s %s %s", g.integer(), pick(g, "<", "<=", ">", ">=", "==", "!="), g.integer())
	case 9:
		return fmt.Sprintf("%s.%s(%s)", g.text(), pick(g, "startsWith", "endsWith", "contains", "matches"), g.text())
	case 10, 11:
		return g.macro(pick(g, "all", "exists", "exists_one"), g.boolean)
	case 12:
		return fmt.Sprintf("%s in %s", g.any(), g.list())
	case 13:
		return g.authorizer()
	case 14:
		return fmt.Sprintf("(%s ? %s : %s)", g.boolean(), g.boolean(), g.boolean())
	case 15:
		return fmt.Sprintf("%s %s %s", g.text(), pick(g, "==", "==", "!=", "<", ">="), g.text())
	case 16:
		return "request." + pick(g, "dryRun", "operation == 'CREATE'", "operation in ['UPDATE', 'DELETE']", "userInfo.groups.exists(g, g == 'system:authenticated')", "resource.resource == 'widgets'",
			"kind.version == 'v1beta1'", "requestKind.version == request.kind.version", "namespace == namespaceObject.metadata.name", "userInfo.extra['k'][0] == 'v'", "options.kind == 'CreateOptions'", "resource == request.requestResource", "missing == 1")
	case 17:
		return "namespaceObject" + pick(g, ".metadata.labels.a == 'b'", " == null", ".metadata.name == request.namespace", ".status.phase == 'Active'", ".spec.finalizers.size() > 0", ".metadata.managedFields == []", ".metadata.creationTimestamp < timestamp('2021-01-01T00:00:00Z')", ".metadata.UID == ''", ".metadata.generation > 1")
	case 18:
		return fmt.Sprintf("quantity(%s).isGreaterThan(quantity('1M'))", pick(g, "object.spec.quantity", "'2Gi'"))
	}
	return fmt.Sprintf("object.spec.flag == %s", g.boolean())
}

func (g *generator) authorizer() string {
	if !g.authorize {
		return "true"
	}
	return pick(g, "authorizer.group('example.com').resource('widgets').namespace('ns').check('get').allowed()", "authorizer.requestResource.check('delete').allowed()", "authorizer.requestResource.name('q').check('use').reason() == 'r'",
		"authorizer.path('/healthz').check('get').allowed()", "authorizer.serviceAccount('ns', 'sa').group('').resource('pods').check('list').errored()", "authorizer.requestResource.subresource('x').check(object.spec.name).allowed()")
}

func (g *generator) integer() string {
	defer g.deeper()()
	if g.depth > maxDepth {
		return strconv.Itoa(g.IntN(9))
	}
	switch g.IntN(8) {
	case 0:
		return fmt.Sprintf("(%s %s %s)", g.integer(), pick(g, "+", "-", "*", "/", "%"), g.integer())
	case 1:
		return fmt.Sprintf("size(%s)", pick(g, g.text, g.list, g.path)())
	case 2:
		return fmt.Sprintf("int(%s)", g.any())
	case 3, 4:
		return g.path()
	case 5:
		return fmt.Sprintf("(%s ? %s : %s)", g.boolean(), g.integer(), g.integer())
	}
	return strconv.Itoa(g.IntN(9))
}

func (g *generator) text() string {
	defer g.deeper()()
	if g.depth > maxDepth {
		return pick(g, "'a'", "'bb'", "''", "'x\\ny'")
	}
	switch g.IntN(12) {
	case 0, 1:
		return fmt.Sprintf("(%s + %s)", g.text(), g.text())
	case 2, 3:
		return fmt.Sprintf("string(%s)", g.any())
	case 4:
		return fmt.Sprintf("%s.%s()", g.text(), pick(g, "lowerAscii", "upperAscii", "trim"))
	case 5:
		return "request." + pick(g, "name", "namespace", "operation", "userInfo.username", "kind.kind", "resource.version", "userInfo.uid", "subResource")
	case 6:
		return fmt.Sprintf("'%%s and %%d'.format([%s, %s])", g.any(), g.integer())
	case 7:
		return fmt.Sprintf("%s.join('-')", g.list())
	case 8:
		return fmt.Sprintf("%s.replace('a', 'b')", g.text())
	case 9:
		return fmt.Sprintf("(%s ? %s : %s)", g.boolean(), g.text(), g.text())
	}
	return pick(g, "'a'", "'bb'", "'the size'", "' x '", "object.spec.name", "'x\\ny'", "'ä longer text, of 30 characters'", "object.apiVersion", "oldObject.metadata.name")
}

func (g *generator) list() string {
	defer g.deeper()()
	if g.depth > maxDepth {
		return "[1, 2]"
	}
	switch g.IntN(8) {
	case 0:
		return fmt.Sprintf("[%s, %s]", g.text(), g.text())
	case 1:
		return fmt.Sprintf("[%s]", g.any())
	case 2:
		return g.macro("map", g.any)
	case 3:
		return g.macro("filter", g.boolean)
	case 4:
		return fmt.Sprintf("(%s + %s)", g.list(), g.list())
	}
	return pick(g, "object.spec.names", "object.spec.ports", "oldObject.spec.names", "['a', 'b']", "[1, 2, 3]", "object.metadata.annotations", "request.userInfo.groups")
}

func (g *generator) macro(name string, body func() string) string {
	list := g.list()
	local := fmt.Sprintf("e%d", len(g.locals))
	g.locals = append(g.locals, local)
	defer func() { g.locals = g.locals[:len(g.locals)-1] }()
	return fmt.Sprintf("%s.%s(%s, %s)", list, name, local, body())
}
