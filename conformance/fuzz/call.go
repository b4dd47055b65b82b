package fuzz

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
)

var infix = map[string]string{
	"_+_": "+", "_-_": "-", "_*_": "*", "_/_": "/", "_%_": "%", "_==_": "==", "_!=_": "!=", "_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">=", "_&&_": "&&", "_||_": "||", "@in": "in", "in": "in",
}

func (w *writer) call(o overload, b binding, depth int) string {
	if expr := w.macro(o, b, depth); expr != "" {
		return expr
	}
	types := o.decl.ArgTypes()
	args := make([]string, len(types))
	for i, t := range types {
		args[i] = w.arg(b.resolve(w.choice, t), depth)
	}
	if op, ok := infix[o.function]; ok {
		return "(" + args[0] + " " + op + " " + args[1] + ")"
	}
	switch o.function {
	case "!_":
		return "!(" + args[0] + ")"
	case "-_":
		return "-(" + args[0] + ")"
	case "_?_:_":
		return "(" + args[0] + " ? " + args[1] + " : " + args[2] + ")"
	case "_[_]":
		return args[0] + "[" + args[1] + "]"
	case "_[?_]":
		return args[0] + "[?" + args[1] + "]"
	}
	if o.decl.IsMemberFunction() {
		return args[0] + "." + o.function + "(" + strings.Join(args[1:], ", ") + ")"
	}
	return o.function + "(" + strings.Join(args, ", ") + ")"
}

// macro returns "" unless the overload can only be reached through a macro or special syntax.
func (w *writer) macro(o overload, b binding, depth int) string {
	switch o.decl.ID() {
	case "select_optional_field":
		return "{'a': " + w.expr(b.resolve(w.choice, cel.TypeParamType("V")), 0) + "}.?" + pick(w.choice, []string{"a", "b"})
	case "not_strictly_false":
		name, body := w.scoped(cel.IntType, func() string { return w.expr(cel.BoolType, 1) })
		return "[1, 2, 3].all(" + name + ", " + body + ")"
	case "@mapInsert_map_key_value":
		return w.transform("transformMap", b, depth, "%s")
	case "@mapInsert_map_map":
		return w.transform("transformMapEntry", b, depth, "{%s: %s}")
	}
	if o.function == "@sortByAssociatedKeys" {
		types := o.decl.ArgTypes()
		list := b.resolve(w.choice, types[0])
		name, body := w.scoped(list.Parameters()[0], func() string { return w.expr(types[1].Parameters()[0], 1) })
		return w.arg(list, depth) + ".sortBy(" + name + ", " + body + ")"
	}
	return ""
}

func (w *writer) transform(macro string, b binding, depth int, form string) string {
	key, value := b.resolve(w.choice, cel.TypeParamType("K")), b.resolve(w.choice, cel.TypeParamType("V"))
	var v string
	k, rest := w.scoped(key, func() string {
		var body string
		v, body = w.scoped(value, func() string { return w.expr(value, 1) })
		if strings.Count(form, "%s") == 2 {
			return fmt.Sprintf(form, w.vars[len(w.vars)-1].name, body)
		}
		return fmt.Sprintf(form, body)
	})
	return w.literal(cel.MapType(key, value), depth) + "." + macro + "(" + k + ", " + v + ", " + rest + ")"
}

func (w *writer) arg(t *cel.Type, depth int) string {
	if t.Kind() == celtypes.DynKind {
		return "dyn(" + w.expr(pick(w.choice, simpleTypes), max(0, depth-1)) + ")"
	}
	if w.one(25) {
		return "dyn(" + w.expr(pick(w.choice, simpleTypes), 0) + ")"
	}
	return w.expr(t, max(0, depth-1))
}

// constructors holds expressions by type name, for types that literal does not write otherwise.
var constructors = map[string][]string{
	"kubernetes.Quantity":                    {"quantity('1Gi')", "quantity('500m')", "quantity('3')"},
	"kubernetes.URL":                         {"url('https://example.com:80/p?q=1')", "url('/a/b')"},
	"kubernetes.Semver":                      {"semver('1.2.3')", "semver('v2.0', true)"},
	"kubernetes.NamedFormat":                 {"format.dns1123Label()", "format.uri()", "format.named('uuid').value()"},
	"net.IP":                                 {"ip('10.0.0.1')", "ip('::1')"},
	"net.CIDR":                               {"cidr('10.0.0.0/8')", "cidr('::1/128')"},
	"google.protobuf.Timestamp":              {"timestamp('2024-02-29T01:02:03Z')", "timestamp(0)"},
	"google.protobuf.Duration":               {"duration('1h30m')", "duration('-5s')"},
	"null_type":                              {"null"},
	"kubernetes.authorization.Authorizer":    {"dyn('authorizer')"},
	"kubernetes.authorization.Decision":      {"dyn('decision')"},
	"kubernetes.authorization.PathCheck":     {"dyn('path')"},
	"kubernetes.authorization.GroupCheck":    {"dyn('group')"},
	"kubernetes.authorization.ResourceCheck": {"dyn('resource')"},
}

func (w *writer) literal(t *cel.Type, depth int) string {
	if list := constructors[t.TypeName()]; list != nil {
		return pick(w.choice, list)
	}
	switch t.Kind() {
	case celtypes.BoolKind:
		return pick(w.choice, []string{"true", "false"})
	case celtypes.IntKind:
		return strconv.FormatInt(pick(w.choice, integers), 10)
	case celtypes.UintKind:
		return strconv.Itoa(w.IntN(5)) + "u"
	case celtypes.DoubleKind:
		return pick(w.choice, []string{"0.5", "1.0", "-2.25", "1e300", "0.0"})
	case celtypes.StringKind:
		return strconv.Quote(pick(w.choice, words))
	case celtypes.BytesKind:
		return "b" + pick(w.choice, []string{"'hello'", "''", "'a'"})
	case celtypes.ListKind:
		return w.listLiteral(t.Parameters()[0], depth)
	case celtypes.MapKind:
		return w.mapLiteral(t.Parameters()[0], t.Parameters()[1], depth)
	case celtypes.TypeKind:
		return pick(w.choice, []string{"int", "string", "bool", "list", "type(1)"})
	case celtypes.OpaqueKind:
		if len(t.Parameters()) == 1 {
			return pick(w.choice, []string{"optional.none()", "optional.of(" + w.expr(t.Parameters()[0], 0) + ")"})
		}
	}
	return "dyn(" + w.expr(pick(w.choice, simpleTypes), 0) + ")"
}

func (w *writer) listLiteral(elem *cel.Type, depth int) string {
	items := make([]string, w.IntN(4))
	for i := range items {
		items[i] = w.expr(elem, max(0, depth-1))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func (w *writer) mapLiteral(key, value *cel.Type, depth int) string {
	switch key.Kind() {
	case celtypes.StringKind, celtypes.IntKind, celtypes.UintKind, celtypes.BoolKind:
	default:
		return "{}" // upstream's planner panics for other key types
	}
	entries := make([]string, w.IntN(3))
	for i := range entries {
		entries[i] = w.literal(key, 0) + ": " + w.expr(value, max(0, depth-1))
	}
	return "{" + strings.Join(entries, ", ") + "}"
}
