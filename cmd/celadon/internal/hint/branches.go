package hint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/schema"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/valuediff"
)

const maxBranches = 20

// branches returns which alternatives of oneOf or anyOf match, or which one nearly does.
func (m *mistake) branches() string {
	steps, err := engine.ParsePath(m.path)
	props := assist.SchemaAt(m.Schema, steps)
	value, _ := valuediff.At(m.Excerpts.Doc.Object, steps...)
	if err != nil || props == nil || value == nil {
		return ""
	}
	list := props.OneOf
	if strings.Contains(m.cause.Message, "(anyOf)") {
		list = props.AnyOf
	}
	var matching, required []string
	var nearest field.ErrorList
	number, all := 0, make([]field.ErrorList, len(list))
	for i := range list[:min(len(list), maxBranches)] {
		one, err := schema.Compile(&list[i], &structuralschema.Structural{}, m.Minor)
		if err != nil {
			return ""
		}
		errs, name := one.Validate(nil, value), strings.Join(list[i].Required, " and ")
		all[i] = errs
		if len(errs) == 0 {
			matching = append(matching, fmt.Sprintf("number %d (%s)", i+1, name))
		} else if number == 0 || distance(errs) < distance(nearest) {
			number, nearest = i+1, errs
		}
		if name != "" && len(list[i].Properties) == 0 {
			required = append(required, name)
		}
	}
	switch {
	case len(matching) > 1:
		return "the alternatives " + strings.Join(matching, " and ") + " match: keep what belongs to one of them"
	case len(matching) == 1 || number == 0 || len(list) > maxBranches: // the value has changed since, for example by a default
		return ""
	case len(required) == len(list):
		return "set one of " + strings.Join(required, ", ")
	}
	m.others(*props, value, all, number)
	first := nearest[0]
	what := strings.TrimPrefix(first.Field+": ", "<nil>: ") + cmp.Or(strings.TrimSpace(first.Detail), strings.ToLower(first.Type.String()))
	return fmt.Sprintf("of %d alternatives, number %d is the nearest; its first error is: %s", len(list), number, what)
}

// others corrects the hints of causes that are errors of another alternative than the nearest one, and of nothing else:
// the server chooses the alternative whose errors it reports in another way.
func (m *mistake) others(props apiextensionsv1.JSONSchemaProps, value any, all []field.ErrorList, nearest int) {
	if strings.Contains(m.cause.Message, "(anyOf)") {
		props.AnyOf = nil
	} else {
		props.OneOf = nil
	}
	rest, err := schema.Compile(&props, &structuralschema.Structural{}, m.Minor)
	if err != nil {
		return
	}
	needed := append(rest.Validate(nil, value), all[nearest-1]...)
	for i := range m.causes[:min(len(m.causes), excerpt.Shown)] {
		c := &m.causes[i]
		has := func(errs field.ErrorList) bool {
			return slices.ContainsFunc(errs, func(err *field.Error) bool {
				return c.Field == m.path+"."+err.Field && strings.HasPrefix(c.Message, err.Type.String())
			})
		}
		if c.Rule == "" && slices.ContainsFunc(all, has) && !has(needed) {
			c.Hint = fmt.Sprintf("alternative number %d does not need this", nearest)
		}
	}
}

// distance returns a score for the number of errors. A missing required field counts most.
func distance(errs field.ErrorList) (n int) {
	for _, err := range errs {
		if n++; err.Type == field.ErrorTypeRequired {
			n += len(errs)
		}
	}
	return n
}
