package roundtrip

import (
	"fmt"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/preview"
)

// A Kind is the kind of a finding.
type Kind string

// The kinds of findings. Their values are part of the JSON of celadon convert test.
const (
	Dropped  Kind = "dropped"  // a value is lost
	Changed  Kind = "changed"  // a value has changed
	Added    Kind = "added"    // there is a new value
	Order    Kind = "order"    // the items of a list have another order
	Second   Kind = "second"   // the first conversion there and back is fine, the second is not
	Stale    Kind = "stale"    // a change made in the other version is undone
	Invalid  Kind = "invalid"  // the other version does not admit the converted object
	Failed   Kind = "failed"   // the converter reports a failure
	Wrong    Kind = "wrong"    // the API server would reject the converter's result
	Panicked Kind = "panicked" // the converter panicked
	NoAnswer Kind = "noAnswer" // there was no response, or it was unreadable
	Slow     Kind = "slow"     // there was no response in time
)

// A Report is the result of a test.
type Report struct {
	Seed uint64
	// Pairs are the tested ordered pairs of versions.
	Pairs    []Pair
	Findings []*Finding
	// More is set if there were more findings than are included.
	More bool
}

// A Pair is a conversion from one version to another and back. The JSON forms of Pair, Finding, and
// Change are a published contract of celadon convert.
type Pair struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Role describes the versions in the terms of Kubernetes: "hub-spoke-hub" if From is the
	// storage version, "spoke-hub-spoke" if To is, else "spoke-spoke".
	Role string `json:"role"`
	// Objects is the number of objects that were converted, and Changed is how many of them were also
	// converted with a change in between.
	Objects int `json:"trips"`
	Changed int `json:"changed"`
}

// A Finding is an error of a converter, with an object that demonstrates it.
type Finding struct {
	Kind Kind   `json:"kind"`
	From string `json:"from"`
	To   string `json:"to"`
	// Path is the path in version From, or in To if Kind is Stale or Invalid. It is "" if the
	// finding does not concern a path.
	Path string `json:"path"`
	// Text describes the finding on one line.
	Text string `json:"text"`
	// Times is how often the finding occurred. An object counts once for each affected item of a list.
	Times int `json:"times"`
	// Object is the object in version From.
	Object map[string]any `json:"object"`
	// Change is the change made in To in between, or nil if nothing was changed.
	Change *Change `json:"change,omitempty"`
	// Converted and Back are the object in To and after its return. They are nil if the conversion
	// did not get that far.
	Converted map[string]any `json:"converted,omitempty"`
	Back      map[string]any `json:"back,omitempty"`
}

// A Change is a change of a converted object.
type Change struct {
	Path string `json:"path"`
	// Value is the new value. Removed is set if the value is removed.
	Value   any  `json:"value,omitempty"`
	Removed bool `json:"removed,omitempty"`
	// Patch is the change as a merge patch (RFC 7386).
	Patch map[string]any `json:"patch"`

	steps []engine.Step
}

func (c *Change) String() string {
	switch {
	case c.Path == "":
		return "the change " + shown(c.Patch)
	case c.Removed:
		return c.Path + " removed"
	}
	return c.Path + " set to " + shown(c.Value)
}

func shown(v any) string { return preview.JSON(v, 80) }

func (f *Finding) String() string {
	return fmt.Sprintf("%s, %s to %s: %s", f.Kind, f.From, f.To, f.Text)
}

// Objects returns the sum of Pair.Objects.
func (r *Report) Objects() (n int) {
	for _, p := range r.Pairs {
		n += p.Objects
	}
	return n
}
