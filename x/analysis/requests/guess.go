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
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// How it works: a bound such as quantity('50Gi') shows which values are interesting, but a search that does not
// support quantities does not exceed it. So the fields that a policy names get its literals, and values near them.
// Policies often read lists that variables compute, which no search for a rule can follow, so each of these fields is
// tried alone, and then two at once.

const (
	guessedObjects = 10  // of the pool
	maxGuesses     = 500 // for a form of requests
	maxKeys        = 10  // of maps
)

func (q *question) guessed(ctx context.Context, operation policy.Operation, yield func(*policy.Request) bool) {
	words := q.vocabulary()
	in, left := q.guesser(near(&words)), min(maxGuesses, q.cfg.Steps/6)
	if q.subresource == policyrequest.ScaleName {
		in.values = append(in.values, int64(0)) // a Scale lacks it
	}
	for _, obj := range q.objects[:min(guessedObjects, len(q.objects))] {
		for changed := range in.guesses(q.schema(), obj, false) {
			if left--; left < 0 || q.work.Empty() {
				return
			}
			if !q.try(ctx, operation, changed.(map[string]any), obj, yield) {
				return
			}
		}
	}
}

// paired tries two fields at once, with the strings of the policy, in the smallest object.
func (q *question) paired(ctx context.Context, operation policy.Operation, yield func(*policy.Request) bool) {
	var values []any
	words := q.vocabulary()
	for _, text := range words.texts {
		if !slices.Contains(fillers, text) {
			values = append(values, text)
		}
	}
	in, left := q.guesser(values), q.cfg.Steps/12
	for _, obj := range q.objects[:min(1, len(q.objects))] {
		for one := range in.guesses(q.schema(), obj, false) {
			for both := range in.guesses(q.schema(), one, false) {
				if left--; left < 0 || q.work.Empty() || !q.try(ctx, operation, both.(map[string]any), obj, yield) {
					return
				}
			}
		}
	}
}

func (q *question) guesser(values []any) *guesser {
	named := map[string]bool{}
	for _, expression := range q.document.expressions() {
		for _, name := range identifier.FindAllString(expression, -1) {
			named[name] = true
		}
	}
	return &guesser{named: named, keys: q.document.indexes(), values: values}
}

func (f *Finder) schema() *apiextensionsv1.JSONSchemaProps {
	if f.builtin != nil {
		return f.builtin.schema
	}
	if v := f.own(); v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
		return v.Schema.OpenAPIV3Schema
	}
	return &apiextensionsv1.JSONSchemaProps{}
}

// own returns the version of the CRD.
func (f *Finder) own() (v apiextensionsv1.CustomResourceDefinitionVersion) {
	for _, v := range f.crd.Spec.Versions {
		if v.Name == f.version {
			return v
		}
	}
	return v
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

// A guesser knows the fields and keys of maps that a policy names, and the values to try.
type guesser struct {
	named  map[string]bool
	keys   []string
	values []any
}

// index matches a constant key, as in m['cpu'] and 'cpu' in m.
var index = regexp.MustCompile(`\[\s*\??\s*['"]([^'"\\]+)['"]\s*\]|['"]([^'"\\]+)['"]\s+in\b`)

func (d *document) indexes() (keys []string) {
	for _, expression := range d.expressions() {
		for _, m := range index.FindAllStringSubmatch(expression, -1) {
			if key := m[1] + m[2]; !slices.Contains(keys, key) && len(keys) < maxKeys {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// guesses yields copies of v, which has the schema s, in which a field that the policy names has another value.
// isNamed is set if v is in such a field.
func (g *guesser) guesses(s *apiextensionsv1.JSONSchemaProps, v any, isNamed bool) iter.Seq[any] {
	return func(yield func(any) bool) {
		element := elementOf(s)
		switch {
		case s.Type == "boolean":
			_ = v == true && yield(false) || v != true && yield(true)
		case s.Type == "object" && len(s.Properties) > 0:
			fields, _ := v.(map[string]any)
			inside := false
			for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
				if !g.named[name] || !isNamed && (name == "apiVersion" || name == "kind" || name == "metadata") {
					continue
				}
				inside = true
				property := s.Properties[name]
				for changed := range g.guesses(&property, fields[name], true) {
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
			names := slices.Sorted(maps.Keys(fields))
			if isNamed {
				names = append(names, g.keys...)
			}
			if len(names) == 0 && isNamed {
				names = []string{requiredText}
			}
			for _, name := range names {
				for changed := range g.guesses(element, fields[name], true) {
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
			for changed := range g.guesses(element, items[0], true) {
				if !yield(append([]any{changed}, items[1:]...)) {
					return
				}
			}
			if items[0] == nil && element.Type == "object" {
				items = []any{map[string]any{}}
			}
			yield([]any{items[0], items[0]})
		case isNamed:
			for _, value := range g.values {
				_, isText := value.(string)
				fits := s.Type == "string" && isText || s.Type == "integer" && !isText || s.XIntOrString
				if fits && value != v && !yield(value) {
					return
				}
			}
		}
	}
}
