package roundtrip

import (
	"fmt"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/preview"
)

// Kind is what a finding is about.
type Kind string

// The kinds.
const (
	Dropped  Kind = "dropped"  // a value does not come back
	Changed  Kind = "changed"  // another value comes back
	Added    Kind = "added"    // a value comes back that was not there
	Order    Kind = "order"    // a list comes back in another order
	Second   Kind = "second"   // the first trip is fine, the second is not
	Stale    Kind = "stale"    // a change made in the other version is undone
	Invalid  Kind = "invalid"  // the other version does not admit what was made
	Failed   Kind = "failed"   // the converter says that it cannot
	Wrong    Kind = "wrong"    // the server would refuse what was made
	Panicked Kind = "panicked" // the converter panicked
	NoAnswer Kind = "noAnswer" // nobody answered, or none can read it
	Slow     Kind = "slow"     // there was no answer in time
)

// Report is what came of a test. The same seed and converter give the same.
type Report struct {
	Seed uint64
	// Pairs are the ordered pairs of versions.
	Pairs    []Pair
	Findings []*Finding
	// More says that there were more findings than are told.
	More bool
}

// Pair is a way there and back.
type Pair struct {
	From, To string
	// Role is that of To as Kubernetes developers say it: "hub-spoke-hub" where
	// From is the storage version, "spoke-hub-spoke" where To is, else
	// "spoke-spoke".
	Role string
	// Objects went this way; Changed of them with a change in between.
	Objects, Changed int
}

// Finding is one thing that a converter does wrong, with an object that shows it.
type Finding struct {
	Kind     Kind
	From, To string
	// Path is where, in version From, or in To where Kind is Stale or Invalid; ""
	// where it is no place of the object.
	Path string
	// Text says what, in one line.
	Text string
	// Object is one that From admits.
	Object map[string]any
	// Change is what was changed in To in between; nil: nothing.
	Change *Change
	// Converted and Back are the object in To and on its return; nil where it did
	// not come so far.
	Converted, Back map[string]any
	// Times is how many objects showed it.
	Times int
}

// Change is one change of an object.
type Change struct {
	Path string
	// Value is the new value; Removed says that there is none.
	Value   any
	Removed bool
	// Patch is the change as a merge patch (RFC 7386).
	Patch map[string]any

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

// shown is a value in a text.
func shown(v any) string { return preview.JSON(v, 80) }

func (f *Finding) String() string {
	return fmt.Sprintf("%s, %s to %s: %s", f.Kind, f.From, f.To, f.Text)
}

// Objects is how many went some way.
func (r *Report) Objects() (n int) {
	for _, p := range r.Pairs {
		n += p.Objects
	}
	return n
}
