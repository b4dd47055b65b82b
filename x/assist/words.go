package assist

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/types"
)

// TypeWords returns the type of an expression in words: the terms of OpenAPI where it has one, such
// as integer or object, and otherwise phrases such as "list of string".
func TypeWords(x *expr.Expr) string { return typeWords(x.Type()) }

func typeWords(t *cel.Type) string {
	switch t.Kind() {
	case celtypes.StructKind:
		if name := t.TypeName(); !strings.HasPrefix(name, "self") && strings.Contains(name, ".") {
			return lastName(name)
		}
		return "object"
	case celtypes.ListKind:
		return "list of " + element(t, 0)
	case celtypes.MapKind:
		return "map of " + element(t, 1)
	case celtypes.OpaqueKind:
		if isOptional(t) {
			return "optional " + element(t, 0)
		}
		return lastName(t.TypeName())
	}
	return cmp.Or(kindWords[t.Kind()], t.String())
}

var kindWords = map[celtypes.Kind]string{
	celtypes.BoolKind: "boolean", celtypes.IntKind: "integer", celtypes.UintKind: "unsigned integer",
	celtypes.DoubleKind: "number", celtypes.StringKind: "string", celtypes.BytesKind: "bytes",
	celtypes.NullTypeKind: "null", celtypes.TypeKind: "type",
	celtypes.TimestampKind: "date-time", celtypes.DurationKind: "duration", celtypes.TypeParamKind: "anything",
	celtypes.DynKind: "int-or-string", celtypes.AnyKind: "int-or-string",
}

// lastName returns the short name of a library type, such as quantity or IP.
func lastName(typeName string) string {
	name := typeName[strings.LastIndexByte(typeName, '.')+1:]
	if strings.ToUpper(name) == name {
		return name
	}
	return strings.ToLower(name[:1]) + name[1:]
}

func isOptional(t *cel.Type) bool {
	return t.Kind() == celtypes.OpaqueKind && t.TypeName() == "optional_type"
}

func element(t *cel.Type, i int) string {
	params := t.Parameters()
	if i >= len(params) || params[i].Kind() == celtypes.DynKind || params[i].Kind() == celtypes.TypeParamKind {
		return "anything"
	}
	return typeWords(params[i])
}

// Bounds returns the schema's constraints on a value as text, such as "maxLength 64; pattern a+".
// node is nil if the CRD does not declare the value itself.
func Bounds(d *types.Decl, node *apiextensionsv1.JSONSchemaProps) string {
	if node == nil {
		node = &apiextensionsv1.JSONSchemaProps{}
	}
	var parts []string
	add := func(name string, v any) { parts = append(parts, fmt.Sprintf("%s %v", name, v)) }
	for name, bound := range map[string]*int64{"maxLength": node.MaxLength, "maxItems": node.MaxItems, "maxProperties": node.MaxProperties} {
		if bound != nil && name == BoundName(d) {
			add(name, *bound)
		}
	}
	if len(parts) == 0 && d.Max.Source == types.Assumed && BoundName(d) != "" {
		parts = append(parts, "no "+BoundName(d))
	}
	if node.Minimum != nil {
		add("minimum", *node.Minimum)
	}
	if node.Maximum != nil {
		add("maximum", *node.Maximum)
	}
	if node.Pattern != "" {
		add("pattern", node.Pattern)
	}
	if values := EnumStrings(node); len(values) > 0 {
		add("enum", strings.Join(values, ", "))
	}
	if node.Default != nil {
		add("default", termwidth.Cut(lex.OneLine(string(node.Default.Raw)), 40))
	}
	return strings.Join(parts, "; ")
}

// BoundName returns the keyword that bounds the size of a value: maxLength, maxItems,
// maxProperties, or "" if no bound applies.
func BoundName(d *types.Decl) string {
	switch d.Kind {
	case types.List:
		return "maxItems"
	case types.Map:
		return "maxProperties"
	case types.String, types.Bytes, types.IntOrString:
		return "maxLength"
	}
	return ""
}

// EnumStrings returns the strings in a schema's enum.
func EnumStrings(node *apiextensionsv1.JSONSchemaProps) []string {
	if node == nil {
		return nil
	}
	var values []string
	for _, e := range node.Enum {
		var text string
		if json.Unmarshal(e.Raw, &text) == nil {
			values = append(values, text)
		}
	}
	return values
}
