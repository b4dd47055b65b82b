package compare_test

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/x/analysis/compare"
)

// The simplest objects often break all changes. Witnesses that cannot be isolated name the other changes.
func TestIsolate(t *testing.T) {
	t.Parallel()
	const before = `{type: object, required: [name, mode, replicas], properties: {
  name: {type: string, maxLength: 20}, mode: {type: string, enum: [a, b, c]}, replicas: {type: integer, minimum: 0, maximum: 100}, tags: {type: array, items: {type: string}}}}`
	for name, c := range map[string]struct {
		before, after string
		breaks        int
		also          []string // per change that a witness also breaks
		// broken returns the number of new requirements that a spec violates. It may be nil.
		broken func(name, mode string, replicas int64) (n int)
	}{
		"bounds": {before, `{type: object, required: [name, mode, replicas], properties: {
  name: {type: string, minLength: 5, maxLength: 20}, mode: {type: string, enum: [b, c]}, replicas: {type: integer, minimum: 10, maximum: 100}, tags: {type: array, items: {type: string}}}}`, 3, nil, func(name, mode string, replicas int64) int {
			return count(len(name) < 5, mode == "a", replicas < 10)
		}},
		"a bound and rules": {before, `{type: object, required: [name, mode, replicas], x-kubernetes-validations: [
  {rule: "self.mode != 'a' || self.replicas == 7"}, {rule: "self.name.startsWith('x')"}], properties: {
  name: {type: string, maxLength: 20}, mode: {type: string, enum: [a, b, c]}, replicas: {type: integer, minimum: 5, maximum: 100}, tags: {type: array, items: {type: string}}}}`, 3, nil, func(name, mode string, replicas int64) int {
			return count(mode == "a" && replicas != 7, !strings.HasPrefix(name, "x"), replicas < 5)
		}},
		"a type and a field": {
			`{type: object, required: [a, b, c], properties: {a: {type: string}, b: {type: string, maxLength: 30}, c: {type: integer}}}`,
			`{type: object, required: [a, b, c], properties: {a: {type: integer}, b: {type: string, minLength: 3, maxLength: 30}, c: {type: integer, minimum: 1}}}`, 3,
			[]string{"spec.b bound: spec.a type", "spec.c bound: spec.a type"}, nil,
		},
		"a rule that implies another": {
			`{type: object, required: [a], properties: {a: {type: string, maxLength: 20}}}`,
			`{type: object, required: [a], x-kubernetes-validations: [{rule: "size(self.a) <= 10"}, {rule: "size(self.a) <= 12"}], properties: {a: {type: string, maxLength: 20}}}`, 2,
			[]string{"spec rule: spec rule"}, nil,
		},
		"transition rules": {
			`{type: object, required: [a, b], properties: {a: {type: string, maxLength: 20}, b: {type: integer, minimum: 0, maximum: 9}}}`,
			`{type: object, required: [a, b], properties: {a: {type: string, maxLength: 20, x-kubernetes-validations: [{rule: "self == oldSelf"}]},
  b: {type: integer, minimum: 0, maximum: 9, x-kubernetes-validations: [{rule: "self == oldSelf"}, {rule: "self > 3"}]}}}`, 3, nil, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, now := crdOf(t, c.before), crdOf(t, c.after)
			r, err := compare.CRDs(t.Context(), old, now, compare.Config{})
			if err != nil {
				t.Fatal(err)
			}
			var also []string
			breaks := 0
			for _, ch := range r.Changes {
				if ch.Effect.Breaks() {
					breaks++
				}
				if ch.Rejected == nil {
					continue
				}
				for _, other := range ch.Rejected.AlsoBreaks {
					also = append(also, ch.Path+" "+ch.Subject+": "+other.Path+" "+other.Subject)
				}
				held(t, old, now, ch.Rejected)
				if spec, ok := ch.Rejected.Object["spec"].(map[string]any); ok && c.broken != nil {
					name, _ := spec["name"].(string)
					mode, _ := spec["mode"].(string)
					replicas, _ := spec["replicas"].(int64)
					if n := c.broken(name, mode, replicas); n != 1 {
						t.Errorf("%s %s: the witness breaks %d changes: %v", ch.Path, ch.Subject, n, spec)
					}
				}
			}
			if breaks != c.breaks {
				t.Errorf("%d changes break, want %d", breaks, c.breaks)
			}
			if got, want := strings.Join(also, "\n"), strings.Join(c.also, "\n"); got != want {
				t.Errorf("also breaks:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func count(conditions ...bool) (n int) {
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}
