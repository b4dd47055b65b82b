package requests

import (
	"context"
	"iter"
	"maps"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/celadon-cel/celadon/engine/policy"
)

// How it works: a bound such as quantity('50Gi') says which values are interesting, but a search that knows nothing about
// quantities does not exceed it. So the fields that a policy names get its literals, and values near them.

const (
	guessedObjects = 10  // of the pool
	maxGuesses     = 500 // for an operation
)

// guessed yields requests in which a field that the policy names has a value near one of the policy's literals.
func (q *question) guessed(ctx context.Context, operation policy.Operation, yield func(*policy.Request) (stop bool, err error)) error {
	named := map[string]bool{}
	for _, expression := range q.document.expressions() {
		for _, name := range identifier.FindAllString(expression, -1) {
			named[name] = true
		}
	}
	words := vocabularyOf(q.document)
	values, left := near(words.texts), min(maxGuesses, q.cfg.Steps/6)
	for _, obj := range q.objects[:min(guessedObjects, len(q.objects))] {
		for changed := range guesses(obj, false, true, named, values) {
			if left--; left < 0 || q.work.Empty() {
				return nil
			}
			req, err := q.with(ctx, operation, changed.(map[string]any), obj)
			if err != nil {
				return err
			}
			if req == nil {
				continue
			}
			if stop, err := yield(req); stop || err != nil {
				return err
			}
		}
	}
	return nil
}

var identifier = regexp.MustCompile(`[A-Za-z_]\w*`)

// near returns values, and for each quantity and duration a smaller and a larger value.
func near(values []string) []string {
	all := map[string]bool{}
	for _, value := range values {
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
	delete(all, "")
	return slices.Sorted(maps.Keys(all))
}

// guesses yields copies of v in which one scalar of a named field has another value. isNamed is set if v is in such a field.
func guesses(v any, isNamed, root bool, named map[string]bool, values []string) iter.Seq[any] {
	return func(yield func(any) bool) {
		switch v := v.(type) {
		case string, int64:
			for _, value := range values {
				if isNamed && value != v && !yield(value) {
					return
				}
			}
		case []any:
			for i, item := range v {
				for changed := range guesses(item, isNamed, false, named, values) {
					with := slices.Clone(v)
					if with[i] = changed; !yield(with) {
						return
					}
				}
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if root && (name == "apiVersion" || name == "kind" || name == "metadata") {
					continue
				}
				for changed := range guesses(v[name], named[name], false, named, values) {
					with := maps.Clone(v)
					if with[name] = changed; !yield(with) {
						return
					}
				}
			}
		}
	}
}
