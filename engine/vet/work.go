package vet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
)

// maxDefaults limits the time, in nanoseconds and estimated conservatively, that the server's functions may need to
// match a CRD's defaults with its patterns.
const maxDefaults = 1 << 32

// The server's functions have no work limit.
func overworked(crds ...*apiextensionsv1.CustomResourceDefinition) *engine.WorkLimitError {
	for _, crd := range crds {
		if crd == nil {
			continue
		}
		for i := range crd.Spec.Versions {
			v := &crd.Spec.Versions[i]
			if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
				continue
			}
			w := &patternWork{version: v.Name, states: map[string]float64{}}
			if w.node("", v.Schema.OpenAPIV3Schema); w.over != nil {
				return w.over
			}
		}
	}
	return nil
}

type patternWork struct {
	version  string
	defaults float64
	over     *engine.WorkLimitError
	states   map[string]float64 // of patterns
}

// node returns the time per byte of a value for all patterns at or below s, in nanoseconds.
func (w *patternWork) node(path string, s *apiextensionsv1.JSONSchemaProps) (perByte float64) {
	perByte = w.pattern(path, s)
	each := func(below string, sub *apiextensionsv1.JSONSchemaProps) {
		if sub != nil {
			perByte += w.node(path+below, sub)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		sub := s.Properties[name]
		each("."+name, &sub)
	}
	if s.Items != nil {
		each("[*]", s.Items.Schema)
		for i := range s.Items.JSONSchemas {
			each("[*]", &s.Items.JSONSchemas[i])
		}
	}
	for _, more := range []*apiextensionsv1.JSONSchemaPropsOrBool{s.AdditionalProperties, s.AdditionalItems} {
		if more != nil {
			each("[*]", more.Schema)
		}
	}
	// These apply to the whole value, or structural schemas cannot have them.
	for _, list := range [][]apiextensionsv1.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range list {
			each("", &list[i])
		}
	}
	each("", s.Not)
	for _, more := range []map[string]apiextensionsv1.JSONSchemaProps{s.PatternProperties, s.Definitions} {
		for _, name := range slices.Sorted(maps.Keys(more)) {
			sub := more[name]
			each("", &sub)
		}
	}
	if s.Default != nil {
		if w.defaults += float64(len(s.Default.Raw)) * perByte; w.defaults > maxDefaults {
			w.stop(path, "matching its default against patterns takes too long")
		}
	}
	return perByte
}

func (w *patternWork) pattern(path string, s *apiextensionsv1.JSONSchemaProps) float64 {
	n, known := w.states[s.Pattern]
	if !known && s.Pattern != "" {
		n, _ = regexcost.States(s.Pattern) // 0 for an invalid pattern
		w.states[s.Pattern] = n
	}
	if n > regexcost.MaxStates {
		w.stop(path, fmt.Sprintf("its pattern has more than %d states", regexcost.MaxStates))
	}
	return regexcost.PerState * n
}

func (w *patternWork) stop(path, why string) {
	if w.over == nil {
		w.over = &engine.WorkLimitError{Rule: engine.RuleRef{Version: w.version, Path: strings.TrimPrefix(path, ".")}, Part: "schema", Reason: why}
	}
}
