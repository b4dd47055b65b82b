package repl

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// largeCRD is the size in bytes above which TestCorpusSessions edits only every 20th CRD instead of
// every fourth, because each edit compiles all rules again.
const largeCRD = 60_000

// TestCorpusSessions makes random edits at random paths. A failed edit must change nothing, and undoing all edits must
// restore the text.
func TestCorpusSessions(t *testing.T) {
	t.Parallel()
	sessions, edits, rejected := 0, 0, 0
	for n, file := range corpusCRDs(t) {
		if leftOutOfShort(n) {
			continue
		}
		for _, doc := range readDocuments(t, file) {
			if n%4 != 0 || len(doc.Text) > largeCRD && n%20 != 0 {
				continue
			}
			h := fnv.New64()
			h.Write([]byte(file))
			random := rand.New(rand.NewPCG(h.Sum64(), 7))
			s, err := NewSession(Config{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.LoadCRD(doc); err != nil {
				t.Logf("%s: %v", file, err)
				continue
			}
			s.past = nil
			sessions++
			outside := withoutRules(t, doc.Text)
			for range 6 {
				line := randomEdit(s, random)
				before := s.state
				reply := s.Do(context.Background(), line)
				if edits++; reply.Failed {
					rejected++
					if s.state != before {
						t.Errorf("%s: %s failed and changed the session", file, line)
					}
				}
				if strings.Contains(reply.Text, "by hand") || strings.Contains(reply.Text, "internal error") {
					t.Errorf("%s: at %s: %s: %s", file, s.state.location.path(), line, reply.Text)
				}
			}
			if withoutRules(t, s.state.crd.doc.Text) != outside {
				t.Errorf("%s: more than rules has changed:\n%s", file, must(t, s, ":diff"))
			}
			for len(s.past) > 0 {
				must(t, s, ":undo")
			}
			if string(s.state.crd.doc.Text) != string(doc.Text) {
				t.Errorf("%s: the text differs after :undo of all", file)
			}
		}
	}
	t.Logf("%d CRDs, %d edits, of which %d were refused", sessions, edits, rejected)
	if rejected > edits/2 {
		t.Error("most edits were refused: nothing was tried")
	}
}

func randomEdit(s *Session, random *rand.Rand) string {
	c := s.state.crd
	version := random.IntN(len(c.def.Spec.Versions))
	places := rulePaths(c.def.Spec.Versions[version].Schema.OpenAPIV3Schema, nil)
	if len(places) == 0 || random.IntN(3) == 0 {
		places = editablePlaces(c, version, nil, nil)
	}
	place := places[random.IntN(len(places))]
	s.Do(context.Background(), ":use "+c.def.Spec.Versions[version].Name)
	s.Do(context.Background(), ":cd /"+engine.FormatPath(place))
	rules := len(s.rulesHere())
	add := fmt.Sprintf(":add self == self || %d > 0 // it's \"new\"", random.IntN(9))
	if rules == 0 {
		return add
	}
	n := random.IntN(rules)
	lines := []string{
		add, add + "\n || false",
		fmt.Sprintf(":edit %d true || self == self", n),
		fmt.Sprintf(":edit %d true ||\n  // why: \"not\"\n  self != self", n),
		fmt.Sprintf(":drop %d", n), fmt.Sprintf(":drop %d", n),
		fmt.Sprintf(":message %d it's: \"new\" # not a comment", n),
		fmt.Sprintf(":message %d -", n),
		fmt.Sprintf(":messageExpression %d 'a: ' + \"b\"", n),
		fmt.Sprintf(":messageExpression %d -", n),
		fmt.Sprintf(":reason %d FieldValueForbidden", n),
		fmt.Sprintf(":reason %d -", n),
		fmt.Sprintf(":fieldPath %d -", n),
	}
	for _, name := range s.state.location.decl().FieldNames() {
		lines = append(lines, fmt.Sprintf(":fieldPath %d .%s", n, name))
		break
	}
	return lines[random.IntN(len(lines))]
}

func withoutRules(t *testing.T, text []byte) string {
	t.Helper()
	doc, err := position.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var cuts []position.Change
	var walk func(n *position.Node, path position.Path)
	walk = func(n *position.Node, path position.Path) {
		for i, below := range n.Items {
			step := position.Item(i)
			if n.Kind == position.Mapping {
				step = position.Key(n.Keys[i].Value)
			}
			to := append(path[:len(path):len(path)], step)
			if step == position.Key("x-kubernetes-validations") {
				cuts = append(cuts, position.Remove(to))
				continue
			}
			walk(below, to)
		}
	}
	walk(doc.Root, nil)
	out, err := doc.Edit(cuts...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
