package policies

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/policy"
)

func mutatingDifference(u *MutatingUpstream, set *policy.Set, req *policy.Request) (text string, res *policy.MutationResult) {
	got, res := OwnMutate(set, req)
	got.normalize()
	if res != nil && len(res.Undecided) > 0 {
		return "", res
	}
	for range maxRepeats {
		want, crash := safely(u, req)
		want.normalize()
		if crash != "" {
			return "the server's code panics, but the result is not undecided: " + crash, res
		}
		if text = cmp.Diff(want, got, cmpopts.EquateEmpty()); text == "" {
			return "", res
		}
	}
	return text, res
}

// normalize removes random parts of the server's messages: the order of errors in an object, and which errors are
// found before an undeclared field.
func (a *MutatingAnswer) normalize() {
	if a.Failure == nil {
		return
	}
	a.Failure.Message = normal(a.Failure.Message)
	for i := range a.Failure.Details.Causes {
		c := &a.Failure.Details.Causes[i]
		c.Message = normal(c.Message)
	}
}

func normal(message string) string {
	const undeclared = ": field not declared in schema"
	first, more, several := strings.Cut(message, "errors:\n  ")
	switch {
	case strings.Contains(message, undeclared):
		return first[:strings.LastIndex(first, "object: ")] + undeclared
	case several:
		lines := strings.Split(more, "\n  ")
		slices.Sort(lines)
		return first + strings.Join(lines, "; ")
	}
	return message
}

func safely(u *MutatingUpstream, req *policy.Request) (answer MutatingAnswer, crash string) {
	defer func() {
		if p := recover(); p != nil {
			crash = fmt.Sprint(p)
		}
	}()
	return u.Mutate(req), ""
}

func TestGeneratedMutations(t *testing.T) {
	compareMutations(t, *scenarios, NewMutatingScenario)
}

func TestSelections(t *testing.T) {
	const expressions = 2_000
	if count := compareMutations(t, expressions, NewSelectionScenario); count.mutations < expressions-count.undecided || count.failed > expressions*2/3 {
		t.Errorf("the expressions are too few, or too few have a value: %+v", count)
	}
}

type mutationCount struct {
	policies, requests, evaluations, reinvoked, mutations, changed, failed, denied, undecided, differences int
}

func compareMutations(t *testing.T, number int, scenario func(seed uint64) *Scenario) (count mutationCount) {
	t.Helper()
	kind, err := WidgetKind()
	if err != nil {
		t.Fatal(err)
	}
	reasons, failures := map[string]int{}, map[string]int{}
	for seed := *first; seed < *first+uint64(number) && count.differences < 10; seed++ {
		s := scenario(seed)
		set, err := policy.Compile(s.Documents, s.Config)
		var invalid *policy.CompileErrors
		if err != nil && !errors.As(err, &invalid) {
			t.Fatal(err)
		}
		for _, e := range errorsOf(invalid) {
			if e.Dropped {
				t.Errorf("seed %d: %v", seed, e)
			}
		}
		count.policies += len(set.Policies())
		u := NewMutatingUpstream(s.Documents, s.Config, kind)
		for i := range s.Requests {
			req := &s.Requests[i]
			kind.prepare(req)
			count.requests++
			text, res := mutatingDifference(u, set, req)
			if text != "" {
				count.differences++
				data, _ := yaml.Marshal(s.Documents)
				t.Errorf("seed %d, request %d: %s %s\n%s\n%s", seed, i, req.Operation, fmt.Sprint(req.Object, req.OldObject), text, data)
			}
			if res == nil {
				continue
			}
			for _, reason := range res.Undecided {
				reasons[reason.Reason]++
			}
			count.undecided += len(res.Undecided)
			if res.Failure != nil {
				count.denied++
			}
			for _, e := range res.Evaluations {
				count.evaluations++
				if e.Reinvoked {
					count.reinvoked++
				}
				for _, m := range e.Mutations {
					count.mutations++
					if m.Changed {
						count.changed++
					}
					if m.Failure != "" {
						failures[kindOfFailure(m.Failure)]++
						count.failed++
					}
				}
			}
		}
	}
	t.Logf("generated: %+v", count)
	t.Logf("undecided: %v", reasons)
	t.Logf("failures: %v", failures)
	return count
}

var details = regexp.MustCompile(`[0-9]+|'[^']*'|"[^"]*"|:.*`)

func kindOfFailure(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	if i := strings.Index(first, "resulted in error: "); i >= 0 {
		first = first[i:]
	}
	return first[:min(len(first), 24)] + details.ReplaceAllString(first[min(len(first), 24):], "")
}
