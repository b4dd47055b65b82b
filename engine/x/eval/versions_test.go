package eval

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"sigs.k8s.io/yaml"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

var recorded = []int{28, 31, 32, 36, 37}

// A versionCase is a rule and its outcomes. An outcome holds for the minor versions from its own
// until the next outcome's.
type versionCase struct {
	Rule string
	Self any
	// Outcomes holds "COST true", "COST false", or "COST error: TEXT" by first minor version of recorded.
	Outcomes map[int]string
}

// versionCases reads testdata/versions.yaml, which has the outcomes of the API server's libraries.
func versionCases(t *testing.T) (schemaText string, cases []versionCase) {
	t.Helper()
	var file struct {
		Schema string
		Cases  []struct {
			Rule     string
			Self     string
			Outcomes map[string]string
		}
	}
	if err := yaml.UnmarshalStrict([]byte(read(t, "testdata/versions.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		outcomes := map[int]string{}
		for minor, want := range c.Outcomes {
			n, err := strconv.Atoi(minor)
			if err != nil {
				t.Fatal(err)
			}
			outcomes[n] = want
		}
		cases = append(cases, versionCase{c.Rule, decode(t, c.Self), outcomes})
	}
	return file.Schema, cases
}

func declareFor(t testing.TB, text string, minor int) *types.Decl {
	t.Helper()
	var props apiextensionsv1.JSONSchemaProps
	if err := yaml.UnmarshalStrict([]byte(text), &props); err != nil {
		t.Fatal(err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil); err != nil {
		t.Fatal(err)
	}
	s, err := schema.NewStructural(&internal)
	if err != nil {
		t.Fatal(err)
	}
	interner := types.NewInterner()
	interner.Version = types.Version{Minor: minor}
	return interner.FromSchema(s, types.Subtree)
}

func environmentFor(t *testing.T, d *types.Decl, minor int) *cel.Env {
	t.Helper()
	env, err := celenv.StoredRules(types.Version{Minor: minor}).For(d, false)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func outcomeText(o Outcome) string {
	if o.Err != nil && strings.HasPrefix(o.Err.Error(), "no such overload") {
		return fmt.Sprintf("%d error: no such overload", o.Cost) // the server replaces the rest
	}
	if o.Err != nil {
		return fmt.Sprintf("%d error: %s", o.Cost, goTypes.Replace(o.Err.Error()))
	}
	return fmt.Sprintf("%d %v", o.Cost, o.Value)
}

func TestVersions(t *testing.T) {
	t.Parallel()
	text, cases := versionCases(t)
	for _, minor := range recorded {
		decl := declareFor(t, text, minor)
		env := environmentFor(t, decl, minor)
		for _, c := range cases {
			want := ""
			for since := 28; since <= minor; since++ {
				if o, ok := c.Outcomes[since]; ok {
					want = o
				}
			}
			if want == "" {
				continue // not accepted yet
			}
			s, err := newSubject(env, decl, c.Rule)
			if err != nil {
				t.Errorf("1.%d: %s: %v", minor, c.Rule, err)
				continue
			}
			if got := outcomeText(s.ours.Eval(context.Background(), Bind(decl, c.Self))); got != want {
				t.Errorf("1.%d: %s\ngot  %s\nwant %s", minor, c.Rule, got, want)
			}
		}
	}
}
