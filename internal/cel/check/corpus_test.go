package check_test

import (
	"os"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/types"
)

type placed struct {
	decl     *types.Decl
	src      string
	optional bool
}

// placedRules returns the rules and message expressions of all corpora, without duplicates that
// also have equal declarations.
func placedRules(t testing.TB) (all []placed) {
	t.Helper()
	seen, interner := map[placed]bool{}, types.NewInterner()
	for _, file := range corpus.CRDFiles(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(data, &crd); err != nil {
			t.Fatalf("%s: %v", file, err)
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
				t.Fatalf("%s: %v", file, err)
			}
			below(s, interner.FromSchema(s, types.ResourceRoot), func(p placed) {
				if !seen[p] {
					seen[p] = true
					all = append(all, p)
				}
			})
		}
	}
	return all
}

func below(s *schema.Structural, d *types.Decl, add func(placed)) {
	if d == nil || d.Kind == types.Hidden {
		return
	}
	for _, rule := range s.XValidations {
		for _, src := range []string{rule.Rule, rule.MessageExpression} {
			if src != "" {
				add(placed{d, src, rule.OptionalOldSelf != nil && *rule.OptionalOldSelf})
			}
		}
	}
	for name, prop := range s.Properties {
		if f := d.Fields[name]; f != nil {
			below(&prop, f.Decl, add)
		}
	}
	if s.Items != nil {
		below(s.Items, d.Elem, add)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		below(s.AdditionalProperties.Structural, d.Elem, add)
	}
}

func (s *side) place(t testing.TB, p placed) *side {
	t.Helper()
	object := celenv.DeclType(p.decl, "selfType")
	provider, err := apiservercel.NewDeclTypeProvider(object).WithTypeProvider(s.env.CELTypeProvider())
	if err != nil {
		t.Fatal(err)
	}
	provider.SetRecognizeKeywordAsFieldName(true)
	old := object.CelType()
	if p.optional {
		old = cel.OptionalType(old)
	}
	return s.at(provider, decls.NewVariable("self", object.CelType()), decls.NewVariable("oldSelf", old))
}

func TestCorpusRules(t *testing.T) {
	t.Parallel()
	envs, err := versions()
	if err != nil {
		t.Fatal(err)
	}
	var sides []*side
	for _, env := range envs {
		sides = append(sides, newSide(t, "kubernetes", env))
	}
	newest := sides[len(sides)-1]
	var count, older tally
	for i, p := range placedRules(t) {
		newest.place(t, p).compare(t, p.src, &count)
		sides[i%len(sides)].place(t, p).compare(t, p.src, &older)
	}
	t.Logf("newest %+v, all in turns %+v", count, older)
	if count.ours != count.theirs || older.ours != older.theirs {
		t.Error("ours did not accept all that cel-go's did")
	}
}
