package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/types"
)

type facet struct {
	subject, key string
	// text returns the constraint, or "" if the schema does not have it.
	text func(s *props) string
	// rule returns the constraint on a value x as a CEL rule, or "" if CEL cannot express it. typ
	// is the type in the schema; schemas within allOf and the like do not repeat it.
	rule func(s *props, typ, x string) string
}

var facets = []facet{
	{"enum", "enum", func(s *props) string {
		if len(s.Enum) == 0 {
			return ""
		}
		return compact(s.Enum)
	}, func(s *props, typ, x string) string {
		if typ == "object" || typ == "array" || s.Nullable {
			return "" // rules do not see null
		}
		all := make([]string, 0, len(s.Enum))
		for _, v := range s.Enum {
			if string(v.Raw) != "null" {
				all = append(all, literal(v.Raw, typ))
			}
		}
		return x + " in [" + strings.Join(all, ", ") + "]"
	}},
	{"pattern", "pattern", func(s *props) string { return s.Pattern }, func(s *props, typ, x string) string {
		if typ != "string" {
			return ""
		}
		return fmt.Sprintf("%s.matches(%s)", x, compact(s.Pattern))
	}},
	{"format", "format", func(s *props) string { return s.Format }, func(*props, string, string) string { return "" }},
	count("bound", "maxLength", "string", "<=", func(s *props) *int64 { return s.MaxLength }),
	count("bound", "minLength", "string", ">=", func(s *props) *int64 { return s.MinLength }),
	count("bound", "maxItems", "array", "<=", func(s *props) *int64 { return s.MaxItems }),
	count("bound", "minItems", "array", ">=", func(s *props) *int64 { return s.MinItems }),
	count("bound", "maxProperties", "object", "<=", func(s *props) *int64 { return s.MaxProperties }),
	count("bound", "minProperties", "object", ">=", func(s *props) *int64 { return s.MinProperties }),
	limit("maximum", "<", func(s *props) (*float64, bool) { return s.Maximum, s.ExclusiveMaximum }),
	limit("minimum", ">", func(s *props) (*float64, bool) { return s.Minimum, s.ExclusiveMinimum }),
	{"bound", "multipleOf", func(s *props) string {
		if s.MultipleOf == nil {
			return ""
		}
		return number(*s.MultipleOf)
	}, func(s *props, typ, x string) string {
		if f := *s.MultipleOf; typ == "integer" && f == math.Trunc(f) && f != 0 {
			return fmt.Sprintf("%s %% %s == 0", x, number(f))
		}
		return ""
	}},
	{"list type", listType, func(s *props) string {
		if text := listTypeOf(s); text != "" || !s.UniqueItems {
			return text
		}
		return "unique"
	}, func(s *props, typ, x string) string { return unique(s, x) }},
	{"map type", mapType, func(s *props) string {
		if s.XMapType == nil || *s.XMapType == "granular" {
			return ""
		}
		return *s.XMapType
	}, func(*props, string, string) string { return "true" }},
}

const listType, mapType = "x-kubernetes-list-type", "x-kubernetes-map-type"

func listTypeOf(s *props) string {
	switch {
	case s.XListType == nil || *s.XListType == "atomic":
		return ""
	case *s.XListType == "map":
		return "map of " + strings.Join(s.XListMapKeys, ", ")
	}
	return *s.XListType
}

func count(subject, key, of, relation string, get func(*props) *int64) facet {
	return facet{subject, key, func(s *props) string {
		if n := get(s); n != nil {
			return strconv.FormatInt(*n, 10)
		}
		return ""
	}, func(s *props, typ, x string) string {
		if typ != of {
			return ""
		}
		if of == "object" && valuesOf(s) == nil {
			return entries(s, x, relation, *get(s))
		}
		return fmt.Sprintf("size(%s) %s %d", x, relation, *get(s))
	}}
}

// entries returns a rule on the number of an object's fields, because objects have no size in CEL. It returns "" if
// CEL cannot express the rule.
func entries(s *props, x, relation string, n int64) string {
	var all []string
	for _, name := range sortedKeys(s.Properties) {
		field, ok := types.Escape(name)
		if !ok {
			return ""
		}
		all = append(all, fmt.Sprintf("(has(%s.%s) ? 1 : 0)", x, field))
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s %d", strings.Join(all, " + "), relation, n)
}

func limit(key, relation string, get func(*props) (*float64, bool)) facet {
	return facet{"bound", key, func(s *props) string {
		f, exclusive := get(s)
		switch {
		case f == nil:
			return ""
		case exclusive:
			return number(*f) + " (exclusive)"
		}
		return number(*f)
	}, func(s *props, typ, x string) string {
		f, exclusive := get(s)
		relation := relation
		if !exclusive {
			relation += "="
		}
		switch {
		case typ == "integer" && *f == math.Trunc(*f) && math.Abs(*f) < 1<<53:
			return fmt.Sprintf("%s %s %s", x, relation, number(*f))
		case typ == "integer":
			return fmt.Sprintf("double(%s) %s %s", x, relation, double(*f))
		case typ == "number":
			return fmt.Sprintf("%s %s %s", x, relation, double(*f))
		}
		return ""
	}}
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func double(f float64) string {
	if text := number(f); strings.Contains(text, ".") {
		return text
	}
	return number(f) + ".0"
}

func unique(s *props, x string) string {
	same := []string{"a == b"}
	if s.XListType != nil && *s.XListType == "map" {
		same = nil
		for _, key := range s.XListMapKeys {
			name, ok := types.Escape(key)
			if !ok || s.Items == nil || s.Items.Schema == nil {
				return ""
			}
			one := fmt.Sprintf("a.%s == b.%[1]s", name)
			if !slices.Contains(s.Items.Schema.Required, key) {
				one = fmt.Sprintf("(has(a.%s) && has(b.%[1]s) ? a.%[1]s == b.%[1]s : !has(a.%[1]s) && !has(b.%[1]s))", name)
			}
			same = append(same, one)
		}
	}
	return fmt.Sprintf("%s.all(a, %s.exists_one(b, %s))", x, x, strings.Join(same, " && "))
}

func literal(raw []byte, typ string) string {
	v, err := decoded(raw)
	if err != nil {
		return "null"
	}
	switch v := v.(type) {
	case int64:
		if text := strconv.FormatInt(v, 10); typ != "number" {
			return text // a float64 cannot represent all of them
		}
		return double(float64(v))
	case float64:
		if typ == "number" {
			return double(v)
		}
		return number(v)
	}
	return compact(v)
}

func typeOf(s *props) string {
	switch {
	case s.XIntOrString:
		return "int-or-string"
	case s.XEmbeddedResource:
		return "embedded resource"
	case s.Type != "":
		return s.Type
	case preserves(s):
		return "anything"
	}
	return ""
}

func (f *facet) shown(s *props) string {
	text := f.text(s)
	switch {
	case text == "":
		return ""
	case f.subject == "enum" && s.Format == password:
		return hidden
	case f.subject == "bound":
		return f.key + ": " + text
	}
	return text
}

// Values with the format password are replaced by hidden in reports.
const (
	password = "password"
	hidden   = "(hidden)"
)

func (w *walker) facets(at schemaPath, o, n *props) {
	for i := range facets {
		f := &facets[i]
		old, new := f.text(o), f.text(n)
		if old == new {
			continue
		}
		ch := w.add(at, "."+f.key, f.subject, f.shown(o), f.shown(n), w.conditionOf(at, f, n, o), w.conditionOf(at, f, o, n))
		ch.merged = f.key == listType || f.key == mapType
		ch.altered = f.key == "format" || ch.merged
	}
}

func (f *facet) letters(s *props) int64 {
	n, _ := strconv.ParseInt(f.text(s), 10, 64) // 0 if it is not an integer
	return max(n, 1)
}

func (w *walker) conditionOf(at schemaPath, f *facet, by, of *props) *goal {
	if f.text(by) == "" || typeOf(by) != typeOf(of) && typeOf(of) == "" {
		return nil
	}
	g := &goal{at: at, of: of, within: at, rule: f.rule(by, by.Type, "self"), ofSelf: by.Type != "object" && f.key != listType}
	if f.key == listType {
		g.within = at.any(".items") // the rejection is at an equal item
	}
	if len(at.steps) > 0 && at.steps[0].Name == "metadata" {
		g.at, g.rule = schemaPath{}, f.rule(by, "string", "self.metadata."+at.last())
	}
	if texts := formatted(of.Format, f.letters(by)); texts != nil && of.Type == "string" && g.rule != "" {
		g.rule, g.values = "false", append(texts, samples(of)...)
	}
	if g.rule == "" {
		g.rule, g.values = "false", samples(of)
		if f.key == "multipleOf" {
			g.values = append(g.values, *by.MultipleOf/2, *by.MultipleOf+1)
		}
	}
	return g
}
