package prove

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
)

func numbered(n int, format, between string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, between)
}

func repeated(n int, first string, rules ...string) []string {
	out := []string{first}
	for i := range n {
		out = append(out, rules[i%len(rules)])
	}
	return out
}

func nested(depth int) string {
	var b strings.Builder
	b.WriteString("!has(self.l) || self.l.all(a0, ")
	for i := range depth {
		fmt.Fprintf(&b, "self.l.all(a%d, [%s].size() > 0 && ", i+1, strings.Repeat(fmt.Sprintf("a%d, ", i), 9)+fmt.Sprintf("a%d", i))
	}
	return b.String() + "true" + strings.Repeat(")", depth+1)
}

// disjoint returns a rule that no string violates: that a string does not match two of n patterns.
// Automata need some steps to determine that for each pair.
func disjoint(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "(self.s.matches('^x{%d}$') ? !(false", 10+i)
		for j := i + 1; j < n; j++ {
			fmt.Fprintf(&b, " || self.s.matches('^x{%d}$')", 10+j)
		}
		b.WriteString(") : ")
	}
	return b.String() + "true" + strings.Repeat(")", n)
}

func (w *formula) bytes() (longest, sum int) {
	for _, names := range [][]string{sortedKeys(w.names), sortedKeys(w.terms), sortedKeys(w.loops)} {
		for _, name := range names {
			longest, sum = max(longest, len(name)), sum+len(name)
		}
	}
	for _, p := range w.places {
		longest, sum = max(longest, len(p.key)), sum+len(p.key)
	}
	return longest, sum
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	enum := "e: {type: string, enum: [" + numbered(5000, "v%d", ", ") + "]}"
	for name, c := range map[string]struct {
		fields string
		rules  []string
		want   string // the proof; "?" means any proof, or none
	}{
		"10,000 rules":                    {fields, repeated(10_000, "!has(self.num) || self.num > 1", "self.kind == 'A' || has(self.o)", "!has(self.l) || self.l.all(x, x.a != 'b')", "!has(self.t) || self.t.matches('^[a-z]+$')"), "?"},
		"10,000 rules, one decides":       {fields, repeated(10_000, "self.kind == 'A' || has(self.o)", "self.kind == 'A'"), "?"},
		"10,000 rules, none needed":       {fields, repeated(10_000, "has(self.num) || !has(self.num)", "self.kind == 'A' || has(self.o)"), "the rule itself"},
		"an enum of 5,000":                {enum, []string{"!has(self.e) || self.e.startsWith('v')"}, "schema"},
		"an enum of 5,000, not all":       {enum, []string{"!has(self.e) || self.e != 'v4999'"}, ""},
		"lists of 5,000":                  {enum, repeated(50, "!has(self.e) || self.e in ['"+numbered(5000, "v%d", "', '")+"']", "self.e in ['"+numbered(2000, "v%d", "', '")+"']"), "?"},
		"a pattern of 10 kB":              {"s: {type: string, pattern: '^(" + numbered(1500, "w%d", "|") + ")$'}", []string{"!has(self.s) || self.s.matches('^(" + numbered(1500, "w%d", "|") + ")$')"}, "schema"},
		"two patterns of 10 kB":           {"s: {type: string, pattern: '^(" + numbered(1500, "w%d", "|") + ")$'}", []string{"!has(self.s) || self.s.matches('^(" + numbered(1500, "v%d", "|") + ")$')"}, ""},
		"a pattern of millions of states": {"s: {type: string, pattern: '^(a{1000}){1000}$'}", []string{"!has(self.s) || self.s.matches('^(a|b|ab)*(a|b|ba)*c{200}')"}, ""},
		"a bad pattern":                   {"s: {type: string, pattern: '('}", []string{"!has(self.s) || self.s.matches('(')"}, "not analyzed"},
		"minLength over maxLength":        {"s: {type: string, minLength: 5, maxLength: 3}", []string{"!has(self.s)"}, "schema"},
		"minimum over maximum":            {"i: {type: integer, minimum: 5, maximum: 3}", []string{"!has(self.i)"}, "schema"},
		"no items at all":                 {"l: {type: array, maxItems: 0, minItems: 1, items: {type: string}}", []string{"!has(self.l)"}, "schema"},
		"huge bounds":                     {"i: {type: integer, minimum: -1e300, maximum: 1e300}\ns: {type: string, maxLength: 9223372036854775807}", []string{"!has(self.i) || self.i <= 9223372036854775807", "!has(self.s) || size(self.s) >= 0"}, "?"},
		"negative sizes":                  {"s: {type: string, minLength: -1, maxLength: -5}", []string{"!has(self.s)"}, "schema"},
		"deep":                            {enum, []string{strings.Repeat("!(", 200) + "has(self.e)" + strings.Repeat(")", 200)}, "?"},
		"wide":                            {enum, []string{strings.Repeat("has(self.e) || ", 5000) + "true"}, "?"},
		"macros in macros":                {fields, []string{"!has(self.l) || " + strings.Repeat("self.l.all(x, ", 10) + "x.a == 'a'" + strings.Repeat(")", 10)}, "?"},
		"many macros over one list":       {fields, []string{"!has(self.l) || (" + numbered(60, "self.l.exists(x%[1]d, x%[1]d.a != 'v%[1]d' && self.l.all(y, y.a != 'w%[1]d'))", " && ") + ")"}, "?"},
		"many choices":                    {fields, []string{"size([" + numbered(40, "(has(self.num) ? 1 : %d)", ", ") + "]) > 0 && " + numbered(40, "(has(self.num) ? 1 : %d)", " + ") + " > 0"}, "?"},
		"mutually exclusive patterns":     {"s: {type: string}", []string{"!has(self.s) || " + disjoint(24)}, ""},
		"macros that name elements often": {fields, []string{nested(10)}, "?"},
		"a long list in lists":            {fields, []string{"[" + strings.Repeat("1, ", 19_999) + "1] in [" + strings.Repeat("[], ", 4999) + "[]]"}, "?"},
		"broken siblings":                 {fields, []string{"!has(self.num) || self.num > 0", "self.", "has(", "self.nosuch == 1", "self.num", "1"}, "schema"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := prover(t, spec(c.fields, c.rules...))
			w := newFormula(p)
			q, err := w.question(p, engine.RuleRef{Path: "spec"})
			if err != nil {
				if c.want != "not analyzed" || !errors.Is(err, ErrNotAnalyzed) {
					t.Error(err)
				}
				return
			}
			w.target = &q.rule.ref
			w.clause(q.rejects(q.rule))
			if got := proofText(t, w.prove(), nil); c.want != "?" && got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if w.work > 2*maxWork || w.rounds > maxRounds || len(w.places) > maxPlaces {
				t.Errorf("%d expressions, %d rounds, %d places: want %d, %d, %d at most", w.work, w.rounds, len(w.places), 2*maxWork, maxRounds, maxPlaces)
			}
			if w.steps > maxSteps+2*maxSearch {
				t.Errorf("%d steps of automata, want %d at most", w.steps, maxSteps)
			}
			if longest, sum := w.bytes(); longest > maxWork*16 || sum > maxWork*64 {
				t.Errorf("names have %d bytes, the longest %d: want %d, %d at most", sum, longest, maxWork*64, maxWork*16)
			}
			if _, err := p.Equal(engine.RuleRef{Path: "spec"}, apiextensionsv1.ValidationRule{Rule: c.rules[0] + " || has(self.none)"}); err == nil {
				t.Error("a rule that does not compile is compared")
			}
		})
	}
}
