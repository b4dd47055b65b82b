package fuzz

import (
	"strings"

	"github.com/celadon-cel/celadon/types"
)

// overKeys holds expressions that use MAP, mostly by iterating over its keys. Fields of an object
// that are not in its schema have no key. In the expressions, TEXT is replaced by a string and BOOL
// by a condition that can use k, and also v in macros with two variables.
var overKeys = []string{
	"MAP.all(k, BOOL)", "MAP.exists(k, BOOL)", "MAP.exists_one(k, BOOL)", "MAP.filter(k, BOOL).size() > 1", "MAP.map(k, k).size() > 1",
	"MAP.map(k, BOOL, k) == [TEXT]", "MAP.map(k, MAP[k]).size() > 0", "MAP.filter(k, k in MAP).size() == MAP.size()",
	"MAP.all(k, v, BOOL)", "MAP.exists(k, v, BOOL)", "MAP.existsOne(k, v, BOOL)", "MAP.exists(k, v, v == TEXT || BOOL)",
	"MAP.transformList(k, v, k).size() > 1", "MAP.transformList(k, v, BOOL, v).size() > 0",
	"MAP.transformMap(k, v, BOOL).size() > 1", "MAP.transformMap(k, v, BOOL, 1).size() > 1",
	"MAP.transformMapEntry(k, v, {k: 1}).size() > 1", "MAP.transformMapEntry(k, v, BOOL, {k: v}).size() > 0",
	"[TEXT].transformMapEntry(i, k, MAP).size() > 0", "'%s'.format([MAP]) == TEXT", "MAP.size() > 1", "TEXT in MAP", "MAP == MAP",
	"MAP == dyn({TEXT: 1})", "dyn({TEXT: 1}) == MAP", "[MAP].exists(m, m.exists(k, BOOL))", "MAP[?TEXT].hasValue()", "MAP[TEXT] == TEXT", "has(MAP.a)",
}

var ofKeys = []string{"k == TEXT", "k != TEXT", "k == null", "k != null", "k.size() > 1", "k < TEXT", "k.startsWith(TEXT)", "type(k) == string", "k in [TEXT, 'b']", "!has(k.a)"}

func (w *writer) iterateAsDyn() string {
	p := pick(w.choice, w.paths)
	for _, i := range w.Perm(len(w.paths)) {
		if k := w.paths[i].decl.Kind; k == types.Object || k == types.Map {
			p = w.paths[i]
			break
		}
	}
	over := pick(w.choice, overKeys)
	over = strings.ReplaceAll(over, "MAP", "dyn("+w.use(p)+")")
	over = strings.ReplaceAll(over, "BOOL", pick(w.choice, ofKeys))
	for strings.Contains(over, "TEXT") {
		over = strings.Replace(over, "TEXT", "'"+pick(w.choice, []string{"a", "b", "name", "kind"})+"'", 1)
	}
	return over
}
