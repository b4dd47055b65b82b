package vet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/internal/testing/brokencrd"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

func estimates(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) (rules, messages int) {
	t.Helper()
	a, failure, err := admit(context.Background(), crd, Config{})
	if errors.Is(err, errPanics) {
		return 0, 0
	}
	if err != nil || failure != nil {
		t.Fatal(err, failure)
	}
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	for _, u := range a.units {
		byNode := map[*branch][]*rule{}
		for _, r := range u.rules {
			byNode[r.at] = append(byNode[r.at], r)
		}
		for b, rs := range byNode {
			s, err := b.typed(a.compiler.decls)
			if err != nil || s.decl == nil {
				continue
			}
			decl := model.SchemaDeclType(s.node, b.parent == nil || b.props.XEmbeddedResource)
			want, err := upstreamcel.Compile(s.node, decl, celconfig.PerCallLimit, env, upstreamcel.NewExpressionsEnvLoader())
			if err != nil {
				t.Fatalf("%s %s: %v", crd.Name, b.objectPath(), err)
			}
			for i, r := range rs {
				rules++
				if r.expr.estimate() != want[i].MaxCost || want[i].Error == nil && cost.Occurrences(s.decl.MinSize) != want[i].MaxCardinality {
					t.Errorf("%s %s %q: cost %d, cardinality %d; upstream %d, %d", crd.Name, b.objectPath(), r.spec.Rule, r.expr.estimate(), cost.Occurrences(s.decl.MinSize), want[i].MaxCost, want[i].MaxCardinality)
				}
				if r.spec.MessageExpression != "" {
					messages++
				}
				if r.message.estimate() != want[i].MessageExpressionMaxCost {
					t.Errorf("%s %s %q: cost %d; upstream %d", crd.Name, b.objectPath(), r.spec.MessageExpression, r.message.estimate(), want[i].MessageExpressionMaxCost)
				}
			}
		}
	}
	return rules, messages
}

func TestCorpusEstimates(t *testing.T) {
	t.Parallel()
	rules, messages, files := 0, 0, sample(corpus.CRDFiles(t))
	for i, path := range files {
		crd := corpus.ReadCRD(t, path)
		if i%4 == 0 { // no CRD of the corpus has one: make one from each rule
			brokencrd.EachSchema(crd, func(s *schemaProps) {
				for i := range s.XValidations {
					s.XValidations[i].MessageExpression = "(" + s.XValidations[i].Rule + ") ? 'yes' : 'no'"
				}
			})
		}
		r, m := estimates(t, crd)
		rules, messages = rules+r, messages+m
	}
	t.Logf("%d CRDs: %d estimates of rules and %d of messageExpressions equal upstream's", len(files), rules, messages)
}

// Upstream's unit tests call every function.
func TestUnitEstimates(t *testing.T) {
	t.Parallel()
	rules, messages, verdicts := 0, 0, 0
	for _, root := range corpus.Folders(t) {
		file, err := os.Open(filepath.Join(root, "extra", "apiextensions-cel-unit.jsonl"))
		if err != nil {
			continue
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var call struct {
				Schema apiextensionsv1.JSONSchemaProps `json:"schema"`
			}
			if err := json.Unmarshal(lines.Bytes(), &call); err != nil {
				t.Fatal(err)
			}
			crd := unitCRD(call.Schema)
			r, m := estimates(t, crd)
			rules, messages, verdicts = rules+r, messages+m, verdicts+1
			if d := compare(ours(t, crd, nil), upstream(t, crd, nil)); d != "" {
				t.Errorf("%.300s:%s", lines.Text(), d)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d schemas: %d estimates of rules and %d of messageExpressions, and all verdicts, equal upstream's", verdicts, rules, messages)
}

func unitCRD(spec apiextensionsv1.JSONSchemaProps) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "things.example.com"
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Kind: "Thing"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Storage: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schemaProps{
				Type: "object", Required: []string{"spec"}, Properties: map[string]schemaProps{"spec": spec},
			}},
		}},
	}
	return crd
}
