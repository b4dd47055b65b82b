package remote

import (
	"fmt"
	"strings"
)

// answer is what celadon says of a write.
type answer struct {
	Verdict string         `json:"verdict"`
	Status  status         `json:"status"`
	Causes  []cause        `json:"causes"`
	Object  map[string]any `json:"object"`
	Problem string         `json:"problem"`
}

type status struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type cause struct {
	Reason  string `json:"reason"`
	Field   string `json:"field"`
	Message string `json:"message"`
	Rule    string `json:"rule"`
	Values  []struct {
		Expr  string `json:"expr"`
		Value string `json:"value"`
	} `json:"values"`
}

func (c cause) String() string { return strings.TrimPrefix(c.Field+": "+c.Message, ": ") }

// unchecked is what the server adds where rules did not run because of other causes.
const unchecked = "some validation rules were not checked because the object was invalid"

// said are the causes of a refusal; one without any is a cause of its own.
func (a *answer) said() []cause {
	if len(a.Causes) == 0 {
		return []cause{{Reason: a.Status.Reason, Message: a.Status.Message}}
	}
	return a.Causes
}

// mismatch is what is wrong about a refusal.
func (a *answer) mismatch(want []Cause) string {
	if len(want) == 0 {
		return ""
	}
	var b strings.Builder
	matched := make([]bool, len(a.said()))
	for _, w := range want {
		found := false
		for i, got := range a.said() {
			if w.matches(got) {
				found, matched[i] = true, true
			}
		}
		if !found {
			fmt.Fprintf(&b, "\n  not for: %s", line(w))
		}
	}
	for i, got := range a.said() {
		if !matched[i] && (got.Rule != "" || !strings.Contains(got.Message, unchecked)) {
			fmt.Fprintf(&b, "\n  and also for: %s", line(got))
		}
	}
	return b.String()
}

// wanted is a list of causes below a line.
func wanted(causes []Cause) string {
	var b strings.Builder
	for _, c := range causes {
		fmt.Fprintf(&b, "\n  for: %s", line(c))
	}
	return b.String()
}

// maxShown is how many causes a failure shows.
const maxShown = 20

// why shows the causes, each with its rule and the values in it.
func (a *answer) why() string {
	var b strings.Builder
	for i, c := range a.said() {
		if i == maxShown {
			fmt.Fprintf(&b, "\n  and %d more", len(a.said())-maxShown)
			break
		}
		fmt.Fprintf(&b, "\n  %s", line(c))
		if c.Rule != "" {
			fmt.Fprintf(&b, "\n    rule: %s", strings.ReplaceAll(strings.TrimSpace(c.Rule), "\n", "\n          "))
		}
		for _, v := range c.Values {
			fmt.Fprintf(&b, "\n      %s: %s", line(v.Expr), v.Value)
		}
	}
	return b.String()
}

// line keeps a text of others within its line.
func line(v any) string {
	quoted := fmt.Sprintf("%q", fmt.Sprint(v))
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
