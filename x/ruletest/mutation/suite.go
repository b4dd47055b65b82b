package mutation

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

// Suite is the cases that are run on one engine.
type Suite struct {
	// CRD is what the engine was compiled from.
	CRD    *apiextensionsv1.CustomResourceDefinition
	Engine *engine.Engine
	Cases  []Case
}

// Case is one test.
type Case struct {
	Name string
	// Writes are in order; the old object of each is what the engine persisted.
	Writes []Write
}

// Write is one write of a case.
type Write struct {
	Request engine.Request
	// Passes is the case's own judgement of an answer. It is asked by several
	// goroutines.
	Passes func(*engine.Result, error) bool
}

// Config is how much is done. The same suites and the same configuration always
// give the same report.
type Config struct {
	// Steps is how many writes are tried for each survivor to find a test that
	// would kill it; 0 is DefaultSteps, below 0 none is looked for.
	Steps int
	// RulesOnly leaves the bounds of schemas alone.
	RulesOnly bool
	// Workers is how many mutants are tried at once; 0 is one a processor.
	Workers int
	// Progress is told of mutants that are done; it may be nil.
	Progress func(done, of int)
}

// DefaultSteps finds most of the tests that there are.
const DefaultSteps = 100

// Status is what became of a mutant.
type Status string

const (
	// Killed: a case fails.
	Killed Status = "killed"
	// Survived: no case fails.
	Survived Status = "survived"
	// NotCovered: the rule runs in no case, and the bound's place is in none.
	NotCovered Status = "notCovered"
	// Equivalent: it is proved that no write tells the mutant from the original.
	Equivalent Status = "equivalent"
	// TimedOut: the mutant asks for more work than is done for one object.
	TimedOut Status = "timedOut"
	// NotViable: the changed rule or schema does not compile.
	NotViable Status = "notViable"
)

// Mutant is one change of a CRD.
type Mutant struct {
	CRD string `json:"crd"`
	// Version is the first that has the rule, of those with equal schemas.
	Version string `json:"version"`
	Path    string `json:"path"`
	// Index is the rule's; -1 for a change of the schema.
	Index int `json:"index"`
	// Rule is the original: a rule, or a bound such as "maxItems: 3". Changed is
	// what stands there instead, "" where nothing does.
	Rule    string `json:"rule"`
	Changed string `json:"mutant"`
	// Original is the rule that the mutant is one of; "" for a change of the schema.
	Original string `json:"-"`
	// Start and End are where in the rule something was replaced, in code points;
	// both 0 where the rule as a whole, or its fieldPath, was.
	Start int `json:"start"`
	End   int `json:"end"`
	// Operator names the kind of change.
	Operator string `json:"operator"`
	Status   Status `json:"status"`
	// KilledBy is the case that fails.
	KilledBy string `json:"killedBy,omitempty"`
	// Reason says why a mutant is equivalent, timed out or not viable.
	Reason string `json:"reason,omitempty"`
	// Test is a write that the original and the mutant answer differently; nil
	// where none was found.
	Test *Test `json:"test,omitempty"`

	change change
}

// Test is a write that would kill a survivor.
type Test struct {
	Operation search.Operation `json:"operation"`
	Object    map[string]any   `json:"object"`
	Old       map[string]any   `json:"old,omitempty"`
	// Allowed is the original's verdict; the mutant's is the other.
	Allowed bool `json:"allowed"`
}

// Report is what became of all mutants.
type Report struct {
	// Total is how many mutants there are, and then how many of each status.
	Total      int `json:"mutants"`
	Killed     int `json:"killed"`
	Survived   int `json:"survived"`
	NotCovered int `json:"notCovered"`
	Equivalent int `json:"equivalent"`
	TimedOut   int `json:"timedOut"`
	NotViable  int `json:"notViable"`
	// Score is killed / (killed + survived + notCovered), 1 where that is nothing.
	Score float64 `json:"score"`
	// Mutants are in the order of their CRDs and rules.
	Mutants []*Mutant `json:"-"`
	// Survivors are those of them that survived.
	Survivors []*Mutant `json:"survivors"`
	// Failing are cases that fail without any mutant, and so can tell nothing.
	Failing []string `json:"failing,omitempty"`
	// Cut are rules and schemas that have more mutants than were tried.
	Cut int `json:"cut,omitempty"`
}

func (r *Report) count() {
	for _, m := range r.Mutants {
		r.Total++
		switch m.Status {
		case Killed:
			r.Killed++
		case Survived:
			r.Survived++
			r.Survivors = append(r.Survivors, m)
		case NotCovered:
			r.NotCovered++
		case Equivalent:
			r.Equivalent++
		case TimedOut:
			r.TimedOut++
		case NotViable:
			r.NotViable++
		}
	}
	r.Score = 1
	if of := r.Killed + r.Survived + r.NotCovered; of > 0 {
		r.Score = float64(r.Killed) / float64(of)
	}
}
