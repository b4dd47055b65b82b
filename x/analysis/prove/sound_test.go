package prove

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/reword"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// claim is the statement of a proof about objects that violate only rules, and none of the siblings:
// rule is not a cause, or does not fail if failed is set. If instead is set, rule is a cause if and
// only if instead is.
type claim struct {
	rule     place2
	instead  *place2
	failed   bool
	siblings []engine.RuleRef
	text     string
}

type place2 struct {
	path  string
	index int
}

func named(ref engine.RuleRef) place2 { return place2{ref.Path, ref.Index} }

type broken struct {
	rules, failed map[place2]bool
	other         bool // violations other than of rules
}

func brokenOf(res *engine.Result) *broken {
	b := &broken{rules: map[place2]bool{}, failed: map[place2]bool{}, other: res.Undecided != nil || res.Failure != nil && len(res.Causes) == 0}
	for _, c := range res.Causes {
		if c.Rule == nil {
			b.other = true
			continue
		}
		b.rules[named(*c.Rule)] = true
		if strings.Contains(c.Message, "evaluating rule:") || strings.Contains(c.Message, "call arguments did not match") {
			b.failed[named(*c.Rule)] = true
		}
	}
	return b
}

func (b *broken) contradicts(c *claim) bool {
	if b.other || slices.ContainsFunc(c.siblings, func(s engine.RuleRef) bool { return b.rules[named(s)] }) {
		return false
	}
	switch {
	case c.instead != nil:
		return b.rules[c.rule] != b.rules[*c.instead]
	case c.failed:
		return b.failed[c.rule]
	}
	return b.rules[c.rule]
}

type soundness struct{ crds, claims, equals, objects, admitted, ran, decided int }

func TestSoundCorpus(t *testing.T) {
	crds, want, most := 6, 400, 20_000
	if long() {
		crds, want, most = 50, 100_000, 2_000_000
	}
	files := corpus.CRDFiles(t)
	var sum soundness
	for i := range files {
		// Files with close indexes belong to the same project.
		file := files[(i*97)%len(files)]
		if sum.crds == crds {
			break
		}
		crd := corpus.ReadCRD(t, file)
		sum.hold(t, crd, want, most)
	}
	t.Logf("%+v", sum)
	if long() && sum.ran < crds*want*9/10 {
		t.Errorf("want %d admitted objects a CRD on which a rule ran", want)
	}
	if sum.crds < crds || sum.claims < 5*crds || sum.equals < crds || sum.admitted < sum.crds*want/3 {
		t.Errorf("want %d CRDs, with claims and admitted objects", crds)
	}
}

func (sum *soundness) hold(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, want, most int) {
	t.Helper()
	i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage && v.Served })
	if i < 0 {
		return
	}
	v := &crd.Spec.Versions[i]
	v.Subresources = nil // so that a create can set the status
	p, err := New(v, Config{})
	if err != nil {
		return
	}
	var refs []engine.RuleRef
	eachRule(p.schema, nil, func(ref engine.RuleRef) { refs = append(refs, ref) })
	if len(refs) == 0 {
		return
	}
	claims := claimsOf(t, p, v, refs)
	crd.Spec.Versions = crd.Spec.Versions[i : i+1]
	var engines [2]*engine.Engine
	for i := range engines {
		if engines[i], err = engine.Compile(crd, engine.Config{NoRatcheting: i == 0}); engines[i] == nil {
			t.Fatalf("%s: %v", crd.Name, err)
		}
	}
	sum.crds++
	sum.claims += len(claims)
	for _, c := range claims {
		if c.instead != nil {
			sum.equals++
		}
	}
	before := *sum
	sum.try(t, &trial{crd: crd, engines: engines, schema: p.schema, claims: claims, refs: refs}, want, most)
	t.Logf("%s: %d claims, %d objects, a rule ran on %d admitted ones", crd.Name, len(claims), sum.objects-before.objects, sum.ran-before.ran)
}

// claimsOf returns the claims that can be proved. Variants of rules that are proved equal are added
// to the version as rules.
func claimsOf(t *testing.T, p *Prover, v *apiextensionsv1.CustomResourceDefinitionVersion, refs []engine.RuleRef) (claims []*claim) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 5))
	for _, ref := range refs {
		for _, what := range []Outcome{Rejected, Failed} {
			if proof, err := p.Never(ref, what); err == nil && proof != nil {
				claims = append(claims, &claim{rule: named(ref), failed: what == Failed, siblings: proof.Siblings, text: ref.Rule})
			}
		}
		for i := range 7 {
			other := spoilt(r, ref.Rule)
			if i == 0 {
				other, _, _ = reword.Rule(r, ref.Rule)
			}
			proof, err := p.Equal(ref, apiextensionsv1.ValidationRule{Rule: other, OptionalOldSelf: &ref.OptionalOldSelf})
			if err != nil || proof == nil {
				continue
			}
			steps, err := engine.ParsePath(ref.Path)
			if err != nil {
				t.Fatal(err)
			}
			v.Schema.OpenAPIV3Schema, _ = crdcopy.Schema(v.Schema.OpenAPIV3Schema, steps, func(s *apiextensionsv1.JSONSchemaProps) {
				added := s.XValidations[ref.Index]
				added.Rule = other
				claims = append(claims, &claim{rule: named(ref), instead: &place2{ref.Path, len(s.XValidations)}, siblings: proof.Siblings, text: ref.Rule + "\n" + other})
				s.XValidations = append(slices.Clip(s.XValidations), added)
			})
		}
	}
	return claims
}

// spoils are replacements that often turn a rule into another valid rule.
var spoils = [][2]string{{"&&", "||"}, {"||", "&&"}, {"==", "!="}, {"!=", "=="}, {"<=", "<"}, {">=", ">"}, {" < ", " <= "}, {" > ", " >= "}, {"all(", "exists("}, {"exists(", "all("}, {"!has", "has"}, {"has(", "!has("}, {"1", "2"}, {"0", "1"}, {"'", "'x"}, {"true", "false"}, {"!", ""}, {"?", "||"}, {"^", ""}, {"$", ""}}

func spoilt(r *rand.Rand, text string) string {
	for range 20 {
		s := spoils[r.IntN(len(spoils))]
		n := strings.Count(text, s[0])
		if n == 0 {
			continue
		}
		parts := strings.SplitN(text, s[0], 1+r.IntN(n)+1)
		last := len(parts) - 1
		return strings.Join(parts[:last], s[0]) + s[1] + parts[last]
	}
	return text + " && true"
}

type trial struct {
	crd     *apiextensionsv1.CustomResourceDefinition
	engines [2]*engine.Engine // the second engine ratchets
	schema  *schema.Structural
	claims  []*claim
	refs    []engine.RuleRef
}

func (sum *soundness) try(t *testing.T, tr *trial, want, most int) {
	t.Helper()
	header := map[string]any{
		"apiVersion": tr.crd.Spec.Group + "/" + tr.crd.Spec.Versions[0].Name, "kind": tr.crd.Spec.Names.Kind,
		"metadata": map[string]any{"name": "a", "namespace": "b"},
	}
	if tr.crd.Spec.Scope == apiextensionsv1.ClusterScoped {
		delete(header["metadata"].(map[string]any), "namespace")
	}
	var texts []string
	for _, ref := range tr.refs {
		texts = append(texts, ref.Rule)
	}
	all := newChance(7, texts)
	by := map[string]*chance{}
	var near, silent nearest // silent holds accepted objects for which no rule ran
	admitted := 0
	for n := 0; admitted < want && n < most; n++ {
		ref := tr.refs[n%len(tr.refs)]
		c := by[ref.Path]
		if c == nil {
			c = newChance(uint64(n), texts)
			c.aim, _ = engine.ParsePath(ref.Path)
			by[ref.Path] = c
		}
		req := engine.Request{Trace: true}
		if len(near.pool) > 0 && all.IntN(5) > 0 {
			pool, stored := near.pool, near.far == 0
			if near.far > 0 && len(silent.pool) > 0 && all.IntN(2) == 0 {
				pool, stored = silent.pool, true
			}
			base := pool[all.IntN(len(pool))]
			req.Object = c.bend(tr.schema, base)
			if stored && all.IntN(2) == 0 {
				req.OldObject = base
			}
		} else {
			req.Object = c.object(tr.schema, header)
		}
		res, err := tr.engines[n/len(tr.refs)%2].Validate(t.Context(), req)
		if err != nil {
			continue // exceeds the work limit
		}
		sum.objects++
		far := len(res.Causes)
		if len(res.Rules) == 0 {
			far += 1000
		}
		near.add(all, req.Object, far)
		switch {
		case !res.Allowed:
		case far > 0:
			sum.admitted++
			silent.add(all, req.Object, 0)
		default:
			sum.admitted++
			sum.ran++
			admitted++
		}
		b := brokenOf(res)
		if !b.other {
			sum.decided++
		}
		for _, c := range tr.claims {
			if b.contradicts(c) {
				t.Errorf("%s %v: an object contradicts a proof (%v)\n%s\n%v\nold %v", tr.crd.Name, c.rule, c.siblings, c.text, fmt.Sprint(req.Object), req.OldObject)
				return
			}
		}
	}
}

// nearest holds the objects that are closest to an accepted object for which a rule runs. New
// objects are derived from them.
type nearest struct {
	pool []map[string]any
	far  int
}

func (near *nearest) add(r *chance, obj map[string]any, far int) {
	switch {
	case len(near.pool) == 0 || far < near.far:
		near.pool, near.far = []map[string]any{obj}, far
	case far > near.far:
	case len(near.pool) < 200:
		near.pool = append(near.pool, obj)
	default:
		near.pool[r.IntN(len(near.pool))] = obj
	}
}
