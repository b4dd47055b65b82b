package prove

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/prove/smtlib"
)

// TestOutside: an external solver is asked what is open, and only that; its core
// becomes the proof's.
func TestOutside(t *testing.T) {
	t.Parallel()
	text := spec(fields, "!has(self.num) || self.num + 1 > self.num || self.s.matches('^a')", "has(self.m)")
	asked := 0
	var script string
	of := func(answer []string, unsat bool, err error) (*Proof, error) {
		p, errNew := New(version(t, text), Config{Outside: func(s string, assumed []string) ([]string, bool, error) {
			asked++
			script = s
			if slices.Contains(answer, "first") {
				answer = assumed[:1]
			}
			return answer, unsat, err
		}})
		if errNew != nil {
			t.Fatal(errNew)
		}
		return p.Never(engine.RuleRef{Path: "spec"}, Refused)
	}
	proof, err := of([]string{"first"}, true, nil)
	if got := told(t, proof, err); got != "schema" {
		t.Errorf("got %q", got)
	}
	if !strings.Contains(script, "(+ n") || !strings.Contains(script, "(str.in_re s") {
		t.Errorf("the script has no sum or no pattern:\n%.3000s", script)
	}
	if proof, err = of(nil, false, nil); proof != nil || err != nil {
		t.Errorf("not unsatisfiable: %v, %v", proof, err)
	}
	if _, err = of(nil, false, errors.New("broken")); err == nil {
		t.Error("an error is lost")
	}
	text = spec(fields, "!has(self.num) || self.num > 0")
	before := asked
	if proof, err = of(nil, false, nil); told(t, proof, err) != "schema" || asked != before {
		t.Errorf("asked although we know: %v", proof)
	}
}

// installed are the solvers on this machine.
func installed(t *testing.T) (all []*smtlib.Solver) {
	t.Helper()
	for _, name := range []string{"z3", "cvc5"} {
		if _, err := exec.LookPath(name); err != nil {
			continue
		}
		s, err := smtlib.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// TestSolvers asks the solvers that are installed of what only they know, and of
// what nobody can prove.
func TestSolvers(t *testing.T) {
	t.Parallel()
	solvers := installed(t)
	if len(solvers) == 0 {
		t.Skip("neither z3 nor cvc5 is installed: nothing is asked of them")
	}
	for rule, want := range map[string]string{
		"!has(self.num) || self.num + 1 > self.num":                                 "schema",
		"!has(self.num) || self.num * 2 >= 2":                                       "schema",
		"!has(self.num) || !has(self.m) || self.num + self.m > self.m":              "", // the sum may be too large
		"!has(self.m) || self.m + 1 > self.m":                                       "",
		"!has(self.s) || !has(self.t) || self.s != self.t || size(self.t) <= 5":     "schema",
		"!has(self.s) || self.s.size() * 2 < 11":                                    "schema",
		"!has(self.s) || self.s.size() * 2 < 10":                                    "",
		"!has(self.d) || self.d > 0.25 || self.d == 0.0":                            "schema",
		"!has(self.d) || self.d > 0.25":                                             "",
		"!has(self.m) || !has(self.num) || self.m != self.num || self.m in [1,2,3]": "",
	} {
		for _, s := range solvers {
			p, err := New(version(t, spec(fields, rule)), Config{Outside: func(script string, assumed []string) ([]string, bool, error) {
				answer, core, err := s.Ask(t.Context(), script, assumed)
				return core, answer == smtlib.Unsatisfiable, err
			}})
			if err != nil {
				t.Fatal(err)
			}
			proof, err := p.Never(engine.RuleRef{Path: "spec"}, Refused)
			if got := told(t, proof, err); got != want {
				t.Errorf("%s, %s: got %q, want %q", s.Name, rule, got, want)
			}
		}
	}
}

// TestSolversAgree: of the corpus's rules, what a solver knows is what we know,
// where both do. It is asked the same, without our answer.
func TestSolversAgree(t *testing.T) {
	solvers := installed(t)
	switch {
	case !long():
		t.Skip("CELADON_PROVE is not long")
	case len(solvers) == 0:
		t.Skip("NOT MEASURED: neither z3 nor cvc5 is installed (apt-get install z3 cvc5)")
	}
	words := map[smtlib.Answer]string{smtlib.Unknown: "does not know", smtlib.Satisfiable: "finds none", smtlib.Unsatisfiable: "proves it"}
	rules := corpusRules(t)
	count, n := map[string]int{}, 0
	for i := 0; i < len(rules); i += 5 {
		r := rules[i]
		for _, what := range []Outcome{Refused, Failed} {
			proved, script, assumed := r.formula(t, what)
			line := fmt.Sprintf("proved by ours %v", proved)
			for _, s := range solvers {
				answer, _, err := s.Ask(t.Context(), script, assumed)
				if err != nil {
					t.Errorf("%v: %v", r, err)
				}
				if proved && answer == smtlib.Satisfiable {
					t.Errorf("%v: ours proves %v, %s has an example", r, what, s.Name)
				}
				line += ", " + s.Name + " " + words[answer]
			}
			count[line]++
			if n++; n%50 == 0 {
				t.Logf("%d asked", n)
			}
		}
	}
	for _, line := range sortedKeys(count) {
		t.Logf("%d questions: %s", count[line], line)
	}
}

// formula is what a solver is asked of a rule, and our answer.
func (r *corpusRule) formula(t *testing.T, what Outcome) (proved bool, script string, assumed []string) {
	t.Helper()
	p := *r.prover
	p.outside = func(s string, names []string) ([]string, bool, error) {
		script, assumed = s, names
		return nil, false, nil
	}
	w := newFormula(&p)
	q, err := w.question(&p, r.ref)
	if err != nil {
		t.Fatal(err)
	}
	w.asked = &q.rule.ref
	v := q.truth(q.rule)
	w.clause(v.t.Not())
	if what == Failed {
		w.clause(v.f.Not())
	}
	w.clause(w.runs(q.rule))
	w.settle()
	all := w.assumptions()
	if _, _, err := w.askOutside(all); err != nil {
		t.Fatal(err)
	}
	return w.impossible(all), script, assumed
}
