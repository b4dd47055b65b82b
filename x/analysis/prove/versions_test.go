package prove

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

// pair generates two random versions of a small CRD. Their fields can differ in defaults, bounds,
// nullable, and required, or exist in only one version.
type pair struct{ *rand.Rand }

func (r pair) pick(all ...string) string { return all[r.IntN(len(all))] }

func (r pair) field(kind string) string {
	parts := []string{}
	add := func(text string, chance int) {
		if r.IntN(chance) == 0 {
			parts = append(parts, text)
		}
	}
	add("nullable: true", 5)
	switch kind {
	case "s":
		parts = append(parts, "type: string")
		add("default: "+r.pick("a", "b", "''"), 3)
		add("enum: [a, b, '']", 3)
		add("maxLength: 1", 4)
	case "i":
		parts = append(parts, "type: integer")
		add("default: "+r.pick("0", "1", "2"), 3)
		add("minimum: 1", 4)
	case "f":
		parts = append(parts, "type: boolean")
		add("default: "+r.pick("true", "false"), 3)
	case "o":
		parts = append(parts, fmt.Sprintf("type: object, properties: {x: {%s}, y: {%s}}", r.field("s"), r.field("i")))
		add("default: "+r.pick("{}", "{x: a}", "{y: 1}"), 3)
		add("required: [x]", 4)
	case "l":
		parts = append(parts, fmt.Sprintf("type: array, items: {type: object, properties: {x: {%s}, y: {%s}}}", r.field("s"), r.field("i")))
		add("default: "+r.pick("[]", "[{}]", "[{x: a}]"), 3)
	case "m":
		parts = append(parts, fmt.Sprintf("type: object, additionalProperties: {%s}", r.pick(r.field("s"), "type: string", "type: string, nullable: true")))
		add("default: "+r.pick("{}", "{a: b}"), 3)
	}
	return strings.Join(parts, ", ")
}

func (r pair) versions() (first, next map[string]string) {
	first, next = map[string]string{}, map[string]string{}
	for _, kind := range []string{"s", "i", "f", "o", "l", "m"} {
		for _, name := range []string{kind, kind + "2"} {
			first[name] = r.field(kind)
			next[name] = first[name]
			if r.IntN(3) == 0 {
				next[name] = r.field(kind)
			}
			if r.IntN(8) == 0 {
				delete([]map[string]string{first, next}[r.IntN(2)], name)
			}
		}
	}
	return first, next
}

func (r pair) rule(fields map[string]string, depth int) string {
	if depth > 0 {
		switch r.IntN(4) {
		case 0:
			return "(" + r.rule(fields, depth-1) + " && " + r.rule(fields, depth-1) + ")"
		case 1, 2:
			return "(" + r.rule(fields, depth-1) + " || " + r.rule(fields, depth-1) + ")"
		}
		return "!" + r.rule(fields, depth-1)
	}
	names := sortedKeys(fields)
	name := names[r.IntN(len(names))]
	f := "self." + name
	if r.IntN(3) == 0 {
		return "has(" + f + ")"
	}
	text, number := r.pick("'a'", "'b'", "'c'"), r.pick("0", "1", "2")
	body := r.pick("x.x == "+text, "has(x.x)", "x.y < "+number, "has(x.y)", "x.x in ['a', 'b']")
	switch name[0] {
	case 's':
		return "(" + r.pick(f+" == "+text, f+".size() < "+number, f+" in ['a', 'b']", f+".matches('^[ab]*$')") + ")"
	case 'i':
		return "(" + r.pick(f+" == "+number, f+" < "+number, f+" >= "+number) + ")"
	case 'f':
		return f
	case 'o':
		return "(" + r.pick(f+".x == "+text, "has("+f+".x)", f+".y < "+number, "has("+f+".y)", f+" == "+f) + ")"
	case 'l':
		return "(" + r.pick(f+".all(x, "+body+")", f+".exists(x, "+body+")", f+".size() < "+number, f+"[0].x == "+text) + ")"
	}
	return "(" + r.pick(f+".all(k, k == "+text+")", f+".exists(k, "+f+"[k] == "+text+")", "'a' in "+f, f+"['a'] == 'b'", f+".size() < "+number) + ")"
}

func compiled(t *testing.T, fields map[string]string, rules ...string) (*engine.Engine, *Prover) {
	t.Helper()
	var b strings.Builder
	for _, name := range sortedKeys(fields) {
		fmt.Fprintf(&b, "%s: {%s}\n", name, fields[name])
	}
	schema := spec(b.String(), rules...)
	return engineOf(t, version(t, schema)), prover(t, schema)
}

func TestPassesByChance(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	pairs, objects := 800, 60
	if long() {
		pairs, objects = 20_000, 200
	}
	var proofs, tried int
	header := map[string]any{"apiVersion": "example.com/v1", "kind": "A", "metadata": map[string]any{"name": "a"}}
	for seed := range uint64(pairs) {
		r := pair{rand.New(rand.NewPCG(seed, 6))}
		first, next := r.versions()
		of, ofNext := first, next
		if seed%4 == 0 && first["m"] != "" && next["m"] != "" { // focus on maps, in which versions seldom differ
			of, ofNext = map[string]string{"m": first["m"]}, map[string]string{"m": next["m"]}
		}
		rules := []string{r.rule(of, 1), r.rule(of, 2)}
		target := rules[r.IntN(2)]
		if r.IntN(3) > 0 || strings.Contains(target, "2") && !slices.Equal(sortedKeys(first), sortedKeys(next)) {
			target = r.rule(ofNext, 2)
		}
		old, p := compiled(t, first, rules...)
		e, q := compiled(t, next, target)
		proof, err := p.Passes(q, engine.RuleRef{Path: "spec"})
		if err != nil || proof == nil {
			continue
		}
		proofs++
		c := newChance(seed, append(rules, target))
		c.aim = []engine.Step{{Name: "spec"}}
		c.words = append(c.words, "a", "b", "c")
		for range objects {
			obj := c.object(p.schema, header)
			res, err := old.Validate(t.Context(), engine.Request{Object: obj})
			if err != nil {
				t.Fatal(err)
			}
			if !res.Allowed {
				continue
			}
			for _, read := range []map[string]any{obj, res.Object} {
				after, err := e.Validate(t.Context(), engine.Request{Object: read})
				if err != nil {
					t.Fatal(err)
				}
				tried++
				if b := brokenOf(after); !b.other && b.rules[place2{"spec", 0}] {
					t.Fatalf("seed %d: old rules %q\nold fields %v\nnew rule %s\nnew fields %v\nproof %v\nobject %v", seed, rules, first, target, next, proof, read)
				}
			}
		}
	}
	t.Logf("%d proofs for %d pairs, %d objects", proofs, pairs, tried)
	if proofs < pairs/20 || tried < proofs {
		t.Error("too few proofs or objects")
	}
}
