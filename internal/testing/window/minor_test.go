package window

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/level"
)

// The text of a row is added before the first line that begins with before.
type row struct{ file, before, text string }

// newMinor adds an artificial minor version, with one row for each table.
var newMinor = []row{
	{"internal/minors/minors.go", "	Last   = ", "	Last = 39"},
	{"engine/x/celenv/language.go", "	// cel-go 0.23.0 hides the accumulator", `	{runs: minors.Since(38), options: []cel.EnvOption{cel.Function("artificial", cel.Overload("artificial", nil, cel.IntType))}},`},
	{"internal/cel/estimate/library.go", "	// cel-go's ext/sets.go.", `	{in: minors.Since(39), functions: []string{"artificial"}, price: constant(390)},`},
	{"engine/vet/texts.go", "	{in: minors.Until(33)", `	{in: minors.Since(39), suffix: "].message", newest: "must be non-empty if specified", older: "artificial"},`},
}

// minorTest runs in the tree with the new version.
const minorTest = `package vet

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/types"
)

func TestNewMinor(t *testing.T) {
	all, err := types.ParseVersions("1.37-1.39")
	if err != nil || len(all) != 3 || !all[2].Preview() || types.Newest != 37 {
		t.Fatal(all, err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name, crd.Spec.Group, crd.Spec.Scope = "things.example.com", "example.com", "Namespaced"
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"}
	rules := apiextensionsv1.ValidationRules{{Rule: "artificial() == 1"}}
	props := &apiextensionsv1.JSONSchemaProps{Type: "object", XValidations: rules}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{
		{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props}},
	}
	for version, cost := range map[string]uint64{"1.37": 0, "1.38": 0, "1.39": 391} {
		r, err := VetCRD(t.Context(), crd, Config{KubeVersion: version})
		if err != nil || r.Accepted != (cost > 0) || r.Accepted && r.Versions[0].Rules[0].EstimatedCost != cost {
			t.Errorf("%s: %+v, %v", version, r, err)
		}
	}
	rules[0] = apiextensionsv1.ValidationRule{Rule: "true", Message: "\n"}
	for version, text := range map[string]string{"1.38": "must be non-empty if specified", "1.39": "artificial"} {
		r, err := VetCRD(t.Context(), crd, Config{KubeVersion: version})
		if err != nil || len(r.Causes) != 1 || r.Causes[0].Detail != text {
			t.Errorf("%s: %+v, %v", version, r, err)
		}
	}
}
`

func TestNewMinor(t *testing.T) {
	if !level.Long() {
		t.Skip("CELADON_LEVEL=long runs it")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), map[string]string{}
	write := func(file, text string) {
		to := filepath.Join(dir, strings.ReplaceAll(file, "/", "-"))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, file)] = to
	}
	for _, r := range newMinor {
		data, err := os.ReadFile(filepath.Join(root, r.file))
		if err != nil {
			t.Fatal(err)
		}
		above, below, ok := strings.Cut(string(data), "\n"+r.before)
		if !ok {
			t.Fatalf("%s: no line begins with %q", r.file, r.before)
		}
		if strings.HasPrefix(r.text, "	Last") { // the row of the newest version changes
			_, below, _ = strings.Cut(below, "\n")
			write(r.file, above+"\n"+r.text+"\n"+below)
			continue
		}
		write(r.file, above+"\n"+r.text+"\n"+r.before+below)
	}
	write("engine/vet/minor_test.go", minorTest)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-vet=off", "-count=1", "-overlay", file, "-run", "TestNewMinor", "-v", "./engine/vet")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestNewMinor") {
		t.Errorf("%v\n%s", err, out)
	}
}
