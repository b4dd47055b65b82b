package prove

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// odd generates random small CRDs with features that rules and schemas seldom handle correctly:
// fractional bounds, formats without a type, nullable items and entries, int-or-string, equality of
// objects and lists, and defaults of optionals.
type odd struct {
	pair
	some []string // the fields that rules are about
}

func (r odd) fields() string {
	text := func(more string) string { return "{type: string" + r.pick("", more) + "}" }
	bound := func() string {
		return r.pick("minimum: ", "maximum: ") + r.pick("0.5", "-0.5", "1", "1.5") + r.pick("", ", exclusiveMinimum: true", ", exclusiveMaximum: true")
	}
	null := r.pick("", ", nullable: true")
	object := "{type: object, properties: {x: " + text(", nullable: true") + ", z: " + text(", nullable: true") + "}" + null + "}"
	return strings.Join([]string{
		"a: " + text(", default: a"), "b: " + text(", maxLength: 1"),
		"num: {type: number, " + bound() + "}",
		"int: {type: integer, " + r.pick("allOf: [{"+bound()+"}]", "not: {"+bound()+"}", "not: {format: date}", "anyOf: [{"+bound()+"}, {"+bound()+"}]", "oneOf: [{format: date}, {"+bound()+"}]") + "}",
		"e: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}",
		"l: {type: array, items: {type: string" + r.pick("", ", nullable: true") + "}" + r.pick("", ", x-kubernetes-list-type: set") + "}",
		"lo: {type: array, items: " + object + "}",
		"o: " + object, "p: " + object,
		"m: {type: object, additionalProperties: {type: string" + r.pick("", ", nullable: true") + "}}",
	}, "\n")
}

func (r odd) rule(depth int) string {
	if depth > 0 {
		switch r.IntN(4) {
		case 0:
			return "(" + r.rule(depth-1) + " && " + r.rule(depth-1) + ")"
		case 1, 2:
			return "(" + r.rule(depth-1) + " || " + r.rule(depth-1) + ")"
		}
		return "!" + r.rule(depth-1)
	}
	field := r.pick(r.some...)
	f, text, number := "self."+field, r.pick("'a'", "'b'", "self.b"), r.pick("0", "1", "2")
	if r.IntN(5) == 0 {
		return r.pick("has("+f+")", "has(self.b)")
	}
	var body string
	switch field {
	case "a":
		body = r.pick("self.?a.orValue(self.b) != "+text, "self.?a.orValue(self.b) < 'z'", "self.?a.or(optional.of(self.b)).hasValue()", "self.a == "+text, "self.a < "+text)
	case "num":
		body = f + r.pick(" >= ", " <= ", " > ", " < ", " == ") + r.pick("0.5", "-0.5", "0.0", "1.0")
	case "int":
		body = f + r.pick(" >= ", " <= ", " > ", " < ", " == ") + number
	case "e":
		body = r.pick(f+" == "+number, f+" == "+text, "size("+f+") > "+number, "!"+f, f+" in self.m", f+" in self.lo", f+" in [1, 'a']", f+" == self.o")
	case "l":
		body = r.pick(f+".join(',') != "+text, f+"[0] == "+text, f+"[0].startsWith("+text+")", f+"[0] < "+text, f+".all(x, x.size() < 2)", f+".isSorted()", text+" in "+f,
			f+" == oldSelf.l", "oldSelf.l == "+f, f+" == ['a', 'b']", "['a', 'b'] == "+f, f+".size() < "+number)
	case "lo":
		body = r.pick(f+" == oldSelf.lo", f+" != oldSelf.lo", f+".exists(x, x == self.o)", "self.o in "+f, f+"[0] == self.o", f+".all(x, has(x.x))", f+".size() < "+number)
	case "m":
		body = r.pick("'a' in "+f, f+"['a'] == "+text, f+"['a'] < "+text, f+".all(k, "+f+"[k] != "+text+")", f+".size() < "+number)
	default:
		body = r.pick("dyn(self.o) == self.p", "dyn(self.p) == self.o", "dyn(self.o) != self.p", f+".x == "+text, f+" == oldSelf."+field, f+" == self.e", f+".?x.orValue("+f+".z) == "+text)
	}
	if r.IntN(2) == 0 {
		return "(!has(" + f + ") || " + body + ")"
	}
	return "(" + body + ")"
}

func TestSoundByChance(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	crds := 200
	if long() {
		crds = 10_000
	}
	var sum soundness
	for seed := range uint64(crds) {
		r := odd{pair: pair{rand.New(rand.NewPCG(seed, 8))}}
		for range 3 {
			r.some = append(r.some, r.pick("a", "num", "int", "e", "l", "lo", "o", "p", "m"))
		}
		crd := crdOf(version(t, spec(r.fields(), r.rule(0), r.rule(1), r.rule(1), r.rule(2))))
		crd.Name = fmt.Sprintf("as%d.example.com", seed)
		sum.hold(t, crd, 100, 400)
	}
	t.Logf("%+v", sum)
	if sum.claims < 2*crds || sum.equals < crds/2 || sum.decided < 100*crds {
		t.Errorf("want claims, and objects that decide them, for %d CRDs", crds)
	}
}
