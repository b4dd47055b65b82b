package prove

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

// Proof lists the assumptions of a proof other than the rule itself.
type Proof struct {
	// Schema is set if the proof depends on the schema.
	Schema bool
	// Siblings are the other rules that the proof depends on.
	Siblings []engine.RuleRef
}

// String formats a proof for users: "schema; rules 0 and 2 of spec.x".
func (p *Proof) String() string {
	var parts []string
	if p.Schema {
		parts = append(parts, "schema")
	}
	for rest := p.Siblings; len(rest) > 0; {
		var numbers []string
		path := rest[0].Path
		for ; len(rest) > 0 && rest[0].Path == path; rest = rest[1:] {
			numbers = append(numbers, fmt.Sprint(rest[0].Index))
		}
		noun, last := "rule ", len(numbers)-1
		if last > 0 {
			noun, numbers = "rules ", append(numbers[:last-1], numbers[last-1]+" and "+numbers[last])
		}
		parts = append(parts, noun+strings.Join(numbers, ", ")+" of "+phrase.Path(path))
	}
	return cmp.Or(strings.Join(parts, "; "), "the rule itself")
}

// maxRounds limits how often the SAT solver runs for a formula. If a run finds an example, automata
// check its strings.
const maxRounds = 500

// prove proves the question that encode adds to a formula. It returns nil without a proof. If the
// sibling rules are too large to model, it uses only the schema.
func (p *Prover) prove(encode func(*formula) error) (*Proof, error) {
	for _, withoutSiblings := range []bool{false, true} {
		w := newFormula(p)
		w.withoutSiblings = withoutSiblings
		if err := encode(w); err != nil {
			return nil, err
		}
		if proof := w.prove(); proof != nil || !w.tooLarge {
			return proof, nil
		}
	}
	return nil, nil
}

func (w *formula) prove() *Proof {
	// The question alone often suffices, and everything else takes much longer.
	if w.impossible(nil) {
		return w.proof(w.minimalCore())
	}
	w.settle()
	if !w.impossible(w.assumptions()) {
		return nil
	}
	return w.proof(w.minimalCore())
}

func (w *formula) assumptions() []sat.Lit {
	assumed := []sat.Lit{w.schema, w.next}
	for _, s := range w.siblings {
		assumed = append(assumed, s.lit)
	}
	return assumed
}

// minimalCore returns a subset of the assumptions in the solver's core for which the formula remains
// unsatisfiable. It is minimal as far as the limits allow.
func (w *formula) minimalCore() []sat.Lit {
	core := slices.Clone(w.sat.Core())
	for i := len(core) - 1; i >= 0; i-- {
		if fewer := slices.Delete(slices.Clone(core), i, i+1); w.impossible(fewer) {
			core = fewer
		}
	}
	return core
}

func (w *formula) proof(core []sat.Lit) *Proof {
	proof := &Proof{Schema: slices.Contains(core, w.schema) || slices.Contains(core, w.next)}
	for _, s := range w.siblings {
		if slices.Contains(core, s.lit) {
			proof.Siblings = append(proof.Siblings, s.ref)
		}
	}
	slices.SortFunc(proof.Siblings, compareRefs)
	return proof
}

func compareRefs(a, b engine.RuleRef) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Index, b.Index))
}

// impossible reports whether the formula is unsatisfiable under the assumptions. It excludes examples
// whose strings cannot exist, and returns false if a limit is reached.
func (w *formula) impossible(assumed []sat.Lit) bool {
	for w.rounds < maxRounds && !w.meter.Empty() {
		w.rounds++
		answer := w.sat.Solve(sat.DefaultSteps, assumed...)
		w.meter.Spend(w.sat.Spent())
		switch answer {
		case sat.Unsatisfiable:
			return true
		case sat.Unknown:
			return false
		}
		parts := w.contradiction()
		if parts == nil {
			return false
		}
		none := make([]sat.Lit, len(parts))
		for i, l := range parts {
			none[i] = l.Not()
		}
		w.sat.Add(none...)
	}
	return false
}
