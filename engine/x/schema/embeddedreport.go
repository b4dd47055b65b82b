package schema

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine/internal/metadata"
)

// ValidateEmbedded validates the metadata of embedded resources. Errors are reported below path.
func (s *Schema) ValidateEmbedded(path *field.Path, obj map[string]any) field.ErrorList {
	r := embeddedReport{server: s.server, base: path}
	r.value(obj, s.root, nil)
	return r.errs
}

type embeddedReport struct {
	server server
	base   *field.Path
	errs   field.ErrorList
}

func (r *embeddedReport) value(v any, n *node, at *errorPath) {
	if n == nil || !n.embeds {
		return
	}
	here := errorPath{up: at}
	switch v := v.(type) {
	case map[string]any:
		if n.embedded {
			if len(r.errs) >= MaxErrors {
				return
			}
			r.resource(v, at.field(r.base))
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			here.name, here.step = name, property
			child, ok := n.properties[name]
			if !ok {
				child, here.step = n.additional, additional
			}
			r.value(v[name], child, &here)
		}
	case []any:
		here.step = item
		for i, item := range v {
			here.index = i
			r.value(item, n.items, &here)
		}
	}
}

// See k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta.Validate.
func (r *embeddedReport) resource(fields map[string]any, path *field.Path) {
	for _, name := range []string{"apiVersion", "kind"} {
		v, ok := fields[name]
		if !ok {
			r.errs = append(r.errs, field.Required(path.Child(name), missingType.For(int(r.server))))
		} else if problem := typeProblem(name, v); problem != "" {
			r.errs = append(r.errs, field.Invalid(path.Child(name), v, problem))
		}
	}
	if v, ok := fields["metadata"]; ok {
		r.metadata(v, path.Child("metadata"))
	}
}

func typeProblem(name string, v any) string {
	text, ok := v.(string)
	switch {
	case !ok:
		return "must be a string"
	case text == "":
		return "must not be empty"
	case name == "apiVersion":
		if _, err := runtimeschema.ParseGroupVersion(text); err != nil {
			return err.Error()
		}
		return ""
	}
	if problems := validation.IsDNS1035Label(strings.ToLower(text)); len(problems) > 0 {
		return "may have mixed case, but should otherwise match: " + strings.Join(problems, ",")
	}
	return ""
}

func (r *embeddedReport) metadata(v any, path *field.Path) {
	meta, _, err := metadata.Decoding{}.Decode(v, nil)
	if err != nil {
		r.errs = append(r.errs, field.Invalid(path, v, err.Error()))
		return
	}
	meta.Name = cmp.Or(meta.Name, "fakename") // embedded resources need no name
	check := metadata.For(int(r.server))
	r.errs = append(r.errs, check.Distinct(check.Create(meta, meta.Namespace != "", metadata.PathSegment, path))...)
}
