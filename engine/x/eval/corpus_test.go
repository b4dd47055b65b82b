package eval

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"sigs.k8s.io/yaml"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/newest"
	"github.com/celadon-cel/celadon/types"
)

func crdDecls(t testing.TB, file string) []*types.Decl {
	t.Helper()
	var decls []*types.Decl
	eachVersion(t, file, func(_ string, d *types.Decl) { decls = append(decls, d) })
	return decls
}

func crdVersions(t testing.TB, file string) map[string]*types.Decl {
	t.Helper()
	decls := map[string]*types.Decl{}
	eachVersion(t, file, func(name string, d *types.Decl) { decls[name] = d })
	return decls
}

func eachVersion(t testing.TB, file string, each func(name string, d *types.Decl)) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range bytes.Split(data, []byte("\n---\n")) {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(doc, &crd); err != nil {
			t.Fatal(err)
		}
		for _, v := range crd.Spec.Versions {
			if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
				continue
			}
			var internal apiextensions.JSONSchemaProps
			if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &internal, nil); err != nil {
				t.Fatal(err)
			}
			s, err := schema.NewStructural(&internal)
			if err != nil {
				t.Fatal(err)
			}
			each(v.Name, (&types.Interner{Version: types.Version{Minor: newest.Minor}}).FromSchema(s, types.ResourceRoot))
		}
	}
}

// Equal rules on nodes with equal paths are compared once.
type corpusRun struct {
	seen                     map[string]bool
	rules, left, comparisons int
	differences              int
}

func TestCorpus(t *testing.T) {
	run := &corpusRun{seen: map[string]bool{}}
	for _, file := range corpus.CRDFiles(t) {
		for _, d := range crdDecls(t, file) {
			run.node(t, strings.SplitN(filepath.Base(file), "--", 2)[0], d)
		}
	}
	t.Logf("%d rules, %d left to cel-go, %d comparisons, %d differences", run.rules, run.left, run.comparisons, run.differences)
	if run.comparisons == 0 {
		t.Error("no rule was compared")
	}
	if run.left > 0 {
		t.Errorf("%d rules are left to cel-go", run.left)
	}
}

func (r *corpusRun) node(t *testing.T, path string, d *types.Decl) {
	envs := map[bool]*cel.Env{}
	for _, rule := range d.Schema.XValidations {
		optional := rule.OptionalOldSelf != nil && *rule.OptionalOldSelf
		for _, src := range []string{rule.Rule, rule.MessageExpression} {
			key := path + "\n" + src
			if src == "" || r.seen[key] {
				continue
			}
			r.seen[key] = true
			if envs[optional] == nil {
				env, err := celenv.StoredRules(types.Version{Minor: newest.Minor}).For(d, optional)
				if err != nil {
					t.Errorf("%s: %v", path, err)
					return
				}
				envs[optional] = env
			}
			r.rule(t, path, src, d, envs[optional], optional)
		}
	}
	for _, name := range d.FieldNames() {
		r.node(t, path+"."+name, d.Fields[name].Decl)
	}
	if d.Elem != nil {
		r.node(t, path+"[]", d.Elem)
	}
}

func (r *corpusRun) rule(t *testing.T, path, src string, d *types.Decl, env *cel.Env, optional bool) {
	s := compiles(t, env, d, src)
	if s == nil {
		return // not a rule for this environment
	}
	r.rules++
	if !s.usesOurs() {
		r.left++
		t.Logf("left to cel-go: %s: %s", path, src)
	}
	theirs, err := celProgram(env, s.ast, d, noLimit)
	if err != nil {
		t.Errorf("%s: %s: %v", path, src, err)
		return
	}
	recorded := s.recorded(t, optional)
	hash := fnv.New64()
	fmt.Fprint(hash, path, src)
	for i := range 24 {
		wrong := 0.0
		if i%4 == 3 {
			wrong = 0.02
		}
		g := newGenerator(hash.Sum64()+uint64(i), src, wrong)
		self := g.some(d, 0)
		old := g.changed(self, d)
		bind := func() *Activation {
			a := BindOld(d, self, old)
			a.SetOptional(optional)
			return a
		}
		r.compare(t, s, theirs, bind, path, src, noLimit)
		if diff := s.otherRecorded(recorded, bind, noLimit); diff != "" {
			t.Errorf("%s: %s\n%s", path, src, diff)
		}
	}
}

func (r *corpusRun) compare(t *testing.T, s *subject, theirs *reference, bind func() *Activation, path, src string, limit int64) {
	r.comparisons++
	diff, want := s.against(theirs, bind, limit)
	if diff != "" {
		r.differences++
		t.Errorf("%s: %s\n%s", path, src, diff)
		return
	}
	if want.Cost > 2 && r.comparisons%10 == 0 {
		limit := int64(uint64(r.comparisons) % want.Cost)
		if diff, _ := s.difference(bind, limit); diff != "" {
			r.differences++
			t.Errorf("%s: %s\nlimit %d\n%s", path, src, limit, diff)
		}
	}
}
