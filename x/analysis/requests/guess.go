package requests

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/celadon-cel/celadon/engine/policy"
)

// How it works: a bound such as quantity('50Gi') shows which values are interesting, but a search that does not
// support quantities does not exceed it. So the fields that a policy names get its literals, and values near them.
// Policies often read lists that variables compute, which no search for a rule can follow, so each of these fields is
// tried alone.

const (
	guessedObjects = 10  // of the pool
	maxGuesses     = 500 // for a form of requests
)

func (q *question) guessed(ctx context.Context, operation policy.Operation, yield func(*policy.Request) bool) {
	named := map[string]bool{}
	for _, expression := range q.document.expressions() {
		for _, name := range identifier.FindAllString(expression, -1) {
			named[name] = true
		}
	}
	words := q.vocabulary()
	values, left := near(&words), min(maxGuesses, q.cfg.Steps/6)
	for _, obj := range q.objects[:min(guessedObjects, len(q.objects))] {
		for changed := range guesses(q.schema(), obj, false, named, values) {
			if left--; left < 0 || q.work.Empty() {
				return
			}
			if !q.try(ctx, operation, changed.(map[string]any), obj, yield) {
				return
			}
		}
	}
}

func (f *Finder) schema() *apiextensionsv1.JSONSchemaProps {
	if f.builtin != nil {
		return f.builtin.schema
	}
	for _, v := range f.crd.Spec.Versions {
		if v.Name == f.version && v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			return v.Schema.OpenAPIV3Schema
		}
	}
	return &apiextensionsv1.JSONSchemaProps{}
}

var identifier = regexp.MustCompile(`[A-Za-z_]\w*`)

func near(words *vocabulary) (values []any) {
	all := map[string]bool{}
	for _, value := range words.texts {
		all[value] = true
		if quantity, err := resource.ParseQuantity(value); err == nil {
			double := quantity.DeepCopy()
			double.Add(quantity)
			all[double.String()], all["1"] = true, true
		}
		if duration, err := time.ParseDuration(value); err == nil {
			all[(duration*2).String()], all[(duration/2).String()] = true, true
		}
	}
	if all["."] { // parts of a version
		for _, value := range words.texts {
			for _, n := range words.numbers {
				if prefix := strings.TrimSuffix(value, "v"); prefix != value || strings.HasSuffix(value, ":") {
					all[fmt.Sprintf("%s%d.0.0", value, n)] = true
				}
			}
		}
	}
	delete(all, "")
	for _, text := range slices.Sorted(maps.Keys(all)) {
		values = append(values, text)
	}
	for _, n := range words.numbers {
		values = append(values, n, n+1, n-1)
	}
	for _, text := range requiredTexts {
		values = append(values, text)
	}
	return values
}

// guesses yields copies of v, which has the schema s, in which a field that the policy names has another value.
// isNamed is set if v is in such a field.
func guesses(s *apiextensionsv1.JSONSchemaProps, v any, isNamed bool, named map[string]bool, values []any) iter.Seq[any] {
	return func(yield func(any) bool) {
		element := elementOf(s)
		switch {
		case s.Type == "boolean":
			_ = v == true && yield(false) || v != true && yield(true)
		case s.Type == "object" && len(s.Properties) > 0:
			fields, _ := v.(map[string]any)
			inside := false
			for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
				if !named[name] || !isNamed && (name == "apiVersion" || name == "kind" || name == "metadata") {
					continue
				}
				inside = true
				property := s.Properties[name]
				for changed := range guesses(&property, fields[name], true, named, values) {
					if !yield(with(fields, name, changed)) {
						return
					}
				}
			}
			if !inside && v == nil {
				yield(map[string]any{})
			}
		case s.Type == "object" && element != nil:
			fields, _ := v.(map[string]any)
			if len(fields) == 0 && isNamed {
				fields = map[string]any{requiredText: nil}
			}
			for _, name := range slices.Sorted(maps.Keys(fields)) {
				for changed := range guesses(element, fields[name], true, named, values) {
					if !yield(with(fields, name, changed)) {
						return
					}
				}
			}
		case element != nil:
			items, _ := v.([]any)
			if len(items) == 0 {
				items = []any{nil}
			}
			for changed := range guesses(element, items[0], true, named, values) {
				if !yield(append([]any{changed}, items[1:]...)) {
					return
				}
			}
			if items[0] == nil && element.Type == "object" {
				items = []any{map[string]any{}}
			}
			yield([]any{items[0], items[0]})
		case isNamed:
			for _, value := range values {
				_, isText := value.(string)
				fits := s.Type == "string" && isText || s.Type == "integer" && !isText || s.XIntOrString
				if fits && value != v && !yield(value) {
					return
				}
			}
		}
	}
}
