package repl

import (
	"bytes"
	"context"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/crdedit"
)

func corpusCRDs(t testing.TB) []string {
	t.Helper()
	if len(corpus.Named(t)) == 0 {
		return []string{"../examples/crontab/crd.yaml"}
	}
	return corpus.CRDFiles(t)
}

func leftOutOfShort(n int) bool { return testing.Short() && n%8 != 0 }

// TestCorpusEdits adds a rule at a random path of each CRD and removes it again. Document.edited checks that the parsed
// CRDs are equal except for the edit.
func TestCorpusEdits(t *testing.T) {
	t.Parallel()
	done := 0
	for n, file := range corpusCRDs(t) {
		if leftOutOfShort(n) {
			continue
		}
		for _, doc := range readDocuments(t, file) {
			c, err := newCRD(doc, engine.Config{})
			if err != nil {
				t.Logf("%s: %v", file, err)
				continue
			}
			h := fnv.New64()
			h.Write([]byte(file))
			random := rand.New(rand.NewPCG(h.Sum64(), 5))
			version := random.IntN(len(c.def.Spec.Versions))
			places := editablePlaces(c, version, nil, nil)
			if len(places) == 0 {
				continue
			}
			place := places[random.IntN(len(places))]
			addAndDrop(t, c, version, place)
			changeOne(t, c, version, random)
			if done%25 == 0 || len(corpusCRDs(t)) == 1 {
				editAndUndo(t, c, version, place)
			}
			if t.Failed() {
				t.Fatalf("%s: at %s of version %d", file, engine.FormatPath(place), version)
			}
			done++
		}
	}
	t.Logf("%d CRDs edited", done)
}

func addAndDrop(t *testing.T, c *crd, version int, place []engine.Step) {
	t.Helper()
	at, index := crdedit.SchemaNode{Version: version, Steps: place}, 0
	if node := assist.SchemaAt(c.def.Spec.Versions[version].Schema.OpenAPIV3Schema, place); node != nil {
		index = len(node.XValidations)
	}
	added, err := c.doc.edited(func(source *crdedit.CRD) ([]byte, error) {
		return source.AddRule(at, "self == self # \"not\" a 'comment'")
	})
	if err != nil {
		t.Error(err)
		return
	}
	onlyAdded(t, c.doc.Text, added.Text)
	dropped, err := added.edited(func(source *crdedit.CRD) ([]byte, error) { return source.DropRule(at, index) })
	if err != nil {
		t.Error(err)
	}
	if !bytes.Equal(dropped.Text, c.doc.Text) {
		t.Error("the text differs after the rule was dropped")
	}
}

func changeOne(t *testing.T, c *crd, version int, random *rand.Rand) {
	t.Helper()
	schema := c.def.Spec.Versions[version].Schema.OpenAPIV3Schema
	places := rulePaths(schema, nil)
	if len(places) == 0 {
		return
	}
	place := places[random.IntN(len(places))]
	rules := assist.SchemaAt(schema, place).XValidations
	i := random.IntN(len(rules))
	type edit struct {
		field string // "" for the whole rule
		value any    // nil to remove it
	}
	edits := []edit{
		{"rule", "true"}, {"rule", "true &&\n  false"}, {"message", "it's: \"new\""}, {"fieldPath", ".x"}, {"optionalOldSelf", true},
		{"message", nil}, {"", nil},
	}
	random.Shuffle(len(edits), func(i, j int) { edits[i], edits[j] = edits[j], edits[i] })
	for _, e := range edits[:2] {
		if e == (edit{"message", nil}) && rules[i].Message == "" {
			continue
		}
		_, err := c.doc.edited(func(source *crdedit.CRD) ([]byte, error) {
			switch at := (crdedit.SchemaNode{Version: version, Steps: place}); {
			case e.field == "":
				return source.DropRule(at, i)
			case e.value == nil:
				return source.DropPart(at, i, e.field)
			default:
				return source.SetPart(at, i, e.field, e.value)
			}
		})
		if err != nil {
			t.Errorf("%s[%d]: %+v: %v", engine.FormatPath(place), i, e, err)
		}
	}
}

func must(t testing.TB, s *Session, line string) string {
	t.Helper()
	reply := s.Do(context.Background(), line)
	if reply.Failed {
		t.Fatalf("%s: %s: %s", s.state.crd.doc.File, line, reply.Text)
	}
	return reply.Text
}

func editablePlaces(c *crd, version int, at []engine.Step, d *types.Decl) [][]engine.Step {
	v := &c.def.Spec.Versions[version]
	if d == nil {
		root, err := c.engine.At(v.Name, "")
		if err != nil {
			return nil
		}
		d = root.Decl
	}
	var out [][]engine.Step
	if d.Kind != types.Hidden && assist.SchemaAt(v.Schema.OpenAPIV3Schema, at) != nil {
		out = append(out, slices.Clone(at))
	}
	for _, name := range d.FieldNames() {
		if len(at) == 0 && name == "metadata" || !d.Fields[name].Visible() {
			continue
		}
		out = append(out, editablePlaces(c, version, append(slices.Clone(at), engine.Step{Name: name}), d.Fields[name].Decl)...)
	}
	if d.Elem != nil && d.Elem.Kind != types.Hidden {
		out = append(out, editablePlaces(c, version, append(slices.Clone(at), engine.Step{Any: true}), d.Elem)...)
	}
	return out
}

func editAndUndo(t *testing.T, c *crd, version int, place []engine.Step) {
	t.Helper()
	doc := c.doc
	s, err := NewSession(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.LoadCRD(doc); err != nil {
		t.Fatal(err)
	}
	must(t, s, ":use "+c.def.Spec.Versions[version].Name)
	must(t, s, ":cd /"+engine.FormatPath(place))
	before := len(s.rulesHere())
	must(t, s, ":add self == self")
	onlyAdded(t, doc.Text, s.state.crd.doc.Text)
	must(t, s, ":message it's: \"quoted\" # not a comment")
	must(t, s, ":reason FieldValueRequired")
	onlyAdded(t, doc.Text, s.state.crd.doc.Text)
	must(t, s, ":edit "+strconv.Itoa(before)+" self == self &&\n  true")
	onlyAdded(t, doc.Text, s.state.crd.doc.Text)
	must(t, s, ":reason -")
	must(t, s, ":message -")
	must(t, s, ":drop "+strconv.Itoa(before))
	if !bytes.Equal(s.state.crd.doc.Text, doc.Text) {
		t.Errorf("the text differs after the rule was dropped:\n%s", must(t, s, ":diff"))
	}
	for range 7 {
		must(t, s, ":undo")
	}
	if !bytes.Equal(s.state.crd.doc.Text, doc.Text) {
		t.Error("the text differs after :undo")
	}
}

func onlyAdded(t *testing.T, was, now []byte) {
	t.Helper()
	front := 0
	for front < len(was) && was[front] == now[front] {
		front++
	}
	if !bytes.HasSuffix(now[front:], was[front:]) {
		// The insertion may begin with the same text that follows it.
		back := 0
		for back < len(was)-front && was[len(was)-1-back] == now[len(now)-1-back] {
			back++
		}
		if front+back < len(was) {
			t.Errorf("more than an insertion: %q", now[front:min(len(now), front+200)])
		}
	}
	var parsed any
	if err := yaml.Unmarshal(now, &parsed); err != nil {
		t.Error(err)
	}
}
