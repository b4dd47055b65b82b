package assist_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/assist"
)

// answers collects the results at an offset of a CRD's text: completion and call information in a
// rule, the path and node elsewhere.
type answers struct {
	e      *engine.Engine
	crd    *apiextensionsv1.CustomResourceDefinition
	places map[string]*assist.Context
}

func (a *answers) at(d *position.Document, offset int) (answer [3]any) {
	s := d.At(offset)
	answer[0] = fmt.Sprint(s.Path, s.Key)
	p := a.place(s.Path)
	words, ok := d.Text(s.Node)
	if p == nil || !ok || s.Key {
		return answer
	}
	answer[1] = p.CompleteAt(s.Node.Value, words.Point(offset))
	answer[2] = p.Call(s.Node.Value, words.Point(offset))
	return answer
}

func (a *answers) place(path position.Path) *assist.Context {
	name := fmt.Sprint(path)
	if p, ok := a.places[name]; ok {
		return p
	}
	at, steps := schemaPlace(path)
	if at < 0 || at >= len(a.crd.Spec.Versions) {
		return nil
	}
	v := &a.crd.Spec.Versions[at]
	p, err := assist.NewContext(a.e, v.Schema.OpenAPIV3Schema, v.Name, engine.FormatPath(steps))
	if err != nil {
		p = nil
	}
	a.places[name] = p
	return p
}

// schemaPlace parses a path to a rule and returns the index of the version and the steps to the
// rule's schema node. The version is -1 for any other path.
func schemaPlace(path position.Path) (version int, steps []engine.Step) {
	word := func(i int) string {
		if i < len(path) {
			return path[i].String()
		}
		return ""
	}
	if len(path) < 7 || word(0) != "spec" || word(1) != "versions" || word(4) != "openAPIV3Schema" || word(len(path)-1) != "rule" {
		return -1, nil
	}
	_, err := fmt.Sscanf(word(2), "[%d]", &version)
	if err != nil {
		return -1, nil
	}
	for i := 5; i < len(path)-3; i++ {
		switch word(i) {
		case "properties":
			i++
			steps = append(steps, engine.Step{Name: word(i)})
		case "items", "additionalProperties":
			steps = append(steps, engine.Step{Any: true})
		default:
			return -1, nil
		}
	}
	return version, steps
}

// TestTruncatedAnswers truncates files at random offsets and checks that at least 95 % of the
// answers before the cut stay the same.
func TestTruncatedAnswers(t *testing.T) {
	t.Parallel()
	rounds := 40
	if level.Long() {
		rounds = 1000
	}
	files := corpus.CRDFiles(t)
	random := rand.New(rand.NewPCG(22, 5))
	same, all, sameInRules, inRules := 0, 0, 0, 0
	for range rounds {
		data, err := os.ReadFile(files[random.IntN(len(files))])
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(data, crd); err != nil {
			continue
		}
		e, err := engine.Compile(crd, engine.Config{})
		whole, bad := position.Parse(data)
		if err != nil || bad != nil {
			continue
		}
		a := &answers{e: e, crd: crd, places: map[string]*assist.Context{}}
		cut := random.IntN(len(data))
		part := position.ParseTolerant(data[:cut])
		offsets := ruleOffsets(random, whole.Root, cut)
		for range 10 {
			offsets = append(offsets, random.IntN(cut+1))
		}
		for _, at := range offsets {
			was, is := a.at(whole, at), a.at(part, at)
			equal := reflect.DeepEqual(was, is)
			if all++; equal {
				same++
			}
			if was[1] == nil {
				continue
			}
			if inRules++; equal {
				sameInRules++
			}
		}
	}
	t.Logf("%d of %d answers are what they were, in rules %d of %d", same, all, sameInRules, inRules)
	if same*100 < all*95 || sameInRules*100 < inRules*95 || inRules == 0 {
		t.Errorf("%d of %d answers are what they were, in rules %d of %d, want 95 %%", same, all, sameInRules, inRules)
	}
}

func ruleOffsets(random *rand.Rand, n *position.Node, cut int) (offsets []int) {
	for i, item := range n.Items {
		if i < len(n.Keys) && n.Keys[i].Value == "rule" && item.Start < cut && item.End > item.Start {
			offsets = append(offsets, item.Start+random.IntN(min(item.End, cut)-item.Start+1))
		}
		offsets = append(offsets, ruleOffsets(random, item, cut)...)
	}
	return offsets[:min(len(offsets), 20)]
}
