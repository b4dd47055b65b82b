package remote

import (
	"fmt"
	"strings"
)

// An answer is the response of celadon to a write.
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
	Kind    string `json:"kind"`
	Rule    string `json:"rule"`
	Values  []struct {
		Expr  string `json:"expr"`
		Value string `json:"value"`
	} `json:"values"`
}

func (c cause) String() string { return strings.TrimPrefix(c.Field+": "+c.Message, ": ") }

// rejectionCauses returns the causes of a rejection. A rejection without causes is returned as a single cause.
func (a *answer) rejectionCauses() []cause {
	if len(a.Causes) == 0 {
		return []cause{{Reason: a.Status.Reason, Message: a.Status.Message}}
	}
	return a.Causes
}

// mismatch returns the difference between the wanted and the actual causes, or "" if they match.
func (a *answer) mismatch(want []Cause) string {
	if len(want) == 0 {
		return ""
	}
	var b strings.Builder
	matched := make([]bool, len(a.rejectionCauses()))
	for _, w := range want {
		found := false
		for i, got := range a.rejectionCauses() {
			if w.matches(got) {
				found, matched[i] = true, true
			}
		}
		if !found {
			fmt.Fprintf(&b, "\n  not for: %s", line(w))
		}
	}
	for i, got := range a.rejectionCauses() {
		if !matched[i] && got.Kind != "rulesSkipped" {
			fmt.Fprintf(&b, "\n  and also for: %s", line(got))
		}
	}
	return b.String()
}

// wanted formats causes as a list that follows a line.
func wanted(causes []Cause) string {
	var b strings.Builder
	for _, c := range causes {
		fmt.Fprintf(&b, "\n  for: %s", line(c))
	}
	return b.String()
}

// maxShown limits the number of causes that a failure shows.
const maxShown = 20

// why formats the causes, each with its rule and the values in it.
func (a *answer) why() string {
	var b strings.Builder
	for i, c := range a.rejectionCauses() {
		if i == maxShown {
			fmt.Fprintf(&b, "\n  and %d more", len(a.rejectionCauses())-maxShown)
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

// line escapes untrusted text so that it stays on one line.
func line(v any) string {
	quoted := fmt.Sprintf("%q", fmt.Sprint(v))
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
