package prove

import (
	"fmt"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/smtlib"
)

func formulaOf(t *testing.T, p *Prover, ref engine.RuleRef, what Outcome) (proved bool, script string, assumed []string) {
	t.Helper()
	recorded := *p
	r := &recording{}
	recorded.recorder = r
	w := newFormula(&recorded)
	q, err := w.question(&recorded, ref)
	if err != nil {
		t.Fatal(err)
	}
	w.target = &q.rule.ref
	v := q.truth(q.rule)
	w.clause(v.t.Not())
	if what == Failed {
		w.clause(v.f.Not())
	}
	w.clause(w.runs(q.rule))
	w.settle()
	script = w.script(r)
	all := w.assumptions()
	for _, l := range all {
		assumed = append(assumed, literalName(l))
	}
	return w.impossible(all), script, assumed
}

func TestSolvers(t *testing.T) {
	t.Parallel()
	solvers := smtlib.Installed()
	if len(solvers) == 0 {
		t.Skip("neither z3 nor cvc5 is installed")
	}
	for rule, want := range map[string]smtlib.Answer{
		"!has(self.num) || self.num + 1 > self.num":                                 smtlib.AnswerUnsatisfiable,
		"!has(self.num) || self.num * 2 >= 2":                                       smtlib.AnswerUnsatisfiable,
		"!has(self.num) || !has(self.m) || self.num + self.m > self.m":              smtlib.AnswerSatisfiable, // the sum may be too large
		"!has(self.m) || self.m + 1 > self.m":                                       smtlib.AnswerSatisfiable,
		"!has(self.s) || !has(self.t) || self.s != self.t || size(self.t) <= 5":     smtlib.AnswerUnsatisfiable,
		"!has(self.s) || self.s.size() * 2 < 11":                                    smtlib.AnswerUnsatisfiable,
		"!has(self.s) || self.s.size() * 2 < 10":                                    smtlib.AnswerSatisfiable,
		"!has(self.d) || self.d > 0.25 || self.d == 0.0":                            smtlib.AnswerUnsatisfiable,
		"!has(self.d) || self.d > 0.25":                                             smtlib.AnswerSatisfiable,
		"!has(self.m) || !has(self.num) || self.m != self.num || self.m in [1,2,3]": smtlib.AnswerSatisfiable,
	} {
		p, err := New(version(t, spec(fields, rule)), Config{})
		if err != nil {
			t.Fatal(err)
		}
		_, script, assumed := formulaOf(t, p, engine.RuleRef{Path: "spec"}, Rejected)
		for _, s := range solvers {
			if got, err := s.Check(t.Context(), script, assumed); err != nil || got != want {
				t.Errorf("%s, %s: got %v, %v, want %v", s.Name, rule, got, err, want)
			}
		}
	}
}

func TestSolversAgree(t *testing.T) {
	solvers := smtlib.Installed()
	switch {
	case !long():
		t.Skip("CELADON_LEVEL=long runs it")
	case len(solvers) == 0:
		t.Skip("NOT MEASURED: neither z3 nor cvc5 is installed (apt-get install z3 cvc5)")
	}
	words := map[smtlib.Answer]string{smtlib.AnswerUnknown: "does not know", smtlib.AnswerSatisfiable: "finds none", smtlib.AnswerUnsatisfiable: "proves it"}
	rules := corpusRules(t)
	count, n := map[string]int{}, 0
	for i := 0; i < len(rules); i += 5 {
		r := rules[i]
		for _, what := range []Outcome{Rejected, Failed} {
			proved, script, assumed := formulaOf(t, r.prover, r.ref, what)
			line := fmt.Sprintf("proved by ours %v", proved)
			for _, s := range solvers {
				answer, err := s.Check(t.Context(), script, assumed)
				if err != nil {
					t.Errorf("%v: %v", r, err)
				}
				if proved && answer == smtlib.AnswerSatisfiable {
					t.Errorf("%v: Celadon proves %v, %s has a counterexample", r, what, s.Name)
				}
				line += ", " + s.Name + " " + words[answer]
			}
			count[line]++
			if n++; n%50 == 0 {
				t.Logf("%d questions", n)
			}
		}
	}
	for _, line := range sortedKeys(count) {
		t.Logf("%d questions: %s", count[line], line)
	}
}
