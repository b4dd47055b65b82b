package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/prove"
)

func TestProofs(t *testing.T) {
	report := NewReport("proofs")
	for _, g := range groups(readCorpora(t).Cases) {
		e, err := compile(g.CRD, "")
		if err != nil {
			continue // TestAnswers reports the error
		}
		provers := map[string]*prove.Prover{}
		done := map[string]bool{}
		for _, c := range g.Cases {
			ref, failed := shown(t, e, c)
			if ref == nil {
				continue
			}
			id := fmt.Sprintf("%s %s[%d] %v", ref.Version, ref.Path, ref.Index, failed)
			if done[id] {
				continue
			}
			done[id] = true
			if provers[ref.Version] == nil {
				provers[ref.Version] = proverOf(t, g.CRD, ref.Version)
			}
			report.Add(c.ID, contradicted(t, provers[ref.Version], ref, failed)...)
		}
	}
	finish(t, report)
}

// shown returns the rule that is the only cause of a case's rejection. It returns nil if there is another
// cause, or if the CRD might not accept the old object.
func shown(t *testing.T, e *engine.Engine, c *Case) (only *engine.RuleRef, failed bool) {
	t.Helper()
	if c.Ratcheting {
		return nil, false
	}
	res, err := e.Validate(t.Context(), engine.Request{Object: c.Object, OldObject: c.OldObject, Subresource: c.Subresource})
	if err != nil || res.Allowed {
		return nil, false
	}
	for _, cause := range res.Causes {
		if cause.Rule == nil || only != nil && (only.Path != cause.Rule.Path || only.Index != cause.Rule.Index) {
			return nil, false
		}
		only, failed = cause.Rule, failed || strings.Contains(cause.Message, "evaluating rule:")
	}
	return only, failed
}

func contradicted(t *testing.T, p *prove.Prover, ref *engine.RuleRef, failed bool) (out []Difference) {
	t.Helper()
	questions := []prove.Outcome{prove.Rejected}
	if failed {
		questions = append(questions, prove.Failed)
	}
	for _, what := range questions {
		proof, err := p.Never(*ref, what)
		if err != nil {
			t.Errorf("%s[%d]: %v", ref.Path, ref.Index, err)
		}
		if proof != nil {
			out = append(out, Difference{Reason: "a proof that the case contradicts", Detail: fmt.Sprintf("%s[%d]: %v", ref.Path, ref.Index, proof)})
		}
	}
	return out
}

func proverOf(t *testing.T, crd *CRD, version string) *prove.Prover {
	t.Helper()
	for i := range crd.Definition.Spec.Versions {
		if v := &crd.Definition.Spec.Versions[i]; v.Name == version {
			p, err := prove.New(v, prove.Config{})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	t.Fatalf("%s has no version %s", crd.Path, version)
	return nil
}
