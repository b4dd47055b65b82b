package markervet

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/analysis/lint"
	"github.com/celadon-cel/celadon/x/markers"
)

// writer writes a rule in marker syntax and records the column of each of its characters.
type writer struct {
	text    strings.Builder
	line    int
	columns []int // of each character of the rule, and of its end
}

func (w *writer) put(source string, located bool) {
	if located {
		w.columns = append(w.columns, len([]rune(w.text.String()))+1)
	}
	w.text.WriteString(source)
}

// quotings holds ways to write a rule. Each returns false for a rule that it cannot write.
var quotings = map[string]func(w *writer, rule string) bool{
	"quoted": func(w *writer, rule string) bool {
		w.put(`"`, false)
		for i, r := range []rune(rule) {
			switch {
			case r == '"', r == '\\':
				w.put(`\`+string(r), true)
			case r == '\n':
				w.put(`\n`, true)
			case r > 0xffff:
				w.put(fmt.Sprintf(`\U%08x`, r), true)
			case r > 127 && i%2 == 0:
				w.put(fmt.Sprintf(`\u%04x`, r), true)
			case r == 'a' && i%5 == 0:
				w.put(`\x61`, true)
			case r == 'e' && i%7 == 0:
				w.put(`\145`, true)
			default:
				w.put(string(r), true)
			}
		}
		w.put("", true)
		w.put(`"`, false)
		return true
	},
	"backticks": func(w *writer, rule string) bool {
		w.put("`", false)
		for _, r := range rule {
			w.put(string(r), true)
		}
		w.put("", true)
		w.put("`", false)
		return !strings.ContainsAny(rule, "`\n")
	},
	"bare": func(w *writer, rule string) bool {
		for _, r := range rule {
			w.put(string(r), true)
		}
		w.put("", true)
		return !strings.ContainsAny(rule, "`\",;}\n") && strings.TrimSpace(rule) == rule
	},
}

func injected() (rules []string) {
	bases := []string{
		`self.count + 1 > self.most - 2 || self.name == 'é😀'`,
		`self.name.startsWith('é') && (self.count >= 3 || self.name != 'a')`,
		`has(self.name) ? self.name.size() < 9 : self.count < self.most * 2`,
		`'😀é' in self.list && self.list.exists(x, x.contains("\\") || x == "\"q\"")`,
		"self.list.all(x, x.size() > 1) &&\n  self.name != 'é' &&\n  self.count < 4",
		`!self.list.exists_one(x, x == self.name) && -self.count < 0`,
	}
	for _, base := range bases {
		for _, at := range regexp.MustCompile(`\w+|[^\w\s]`).FindAllStringIndex(base, -1) {
			before, token, after := base[:at[0]], base[at[0]:at[1]], base[at[1]:]
			for _, mistake := range []string{"", token + "z", token + " #", token + " " + token, "null"} {
				rules = append(rules, before+mistake+after)
			}
		}
		rules = append(rules, base+" &&", base+")", base+" == 3", "("+base)
	}
	return rules
}

// mistakes writes rules as markers of one type in the given quoting. It also returns the CRD that a
// generator would make of it.
func mistakes(t *testing.T, write func(*writer, string) bool, rules []string) (source string, crd *apiextensionsv1.CustomResourceDefinition, written map[string]*writer) {
	t.Helper()
	const marker = "// +kubebuilder:validation:XValidation:message=\"é\",rule="
	var b strings.Builder
	b.WriteString("package v1\n\n// T has rules.\n")
	written = map[string]*writer{}
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Required: []string{"name", "count", "most", "list"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"name": {Type: "string"}, "count": {Type: "integer"}, "most": {Type: "integer"},
		"list": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}},
	}}
	for _, rule := range rules {
		w := &writer{line: strings.Count(b.String(), "\n") + 1}
		w.put(marker, false)
		if _, twice := written[rule]; twice || strings.TrimSpace(rule) == "" || !write(w, rule) {
			continue
		}
		b.WriteString(w.text.String() + "\n")
		written[rule] = w
		spec.XValidations = append(spec.XValidations, apiextensionsv1.ValidationRule{Rule: rule, Message: "é"})
	}
	b.WriteString("type T struct{\n\tTypeMeta `json:\",inline\"`\n}\n")
	crd = &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "ts.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: "Namespaced", Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "ts", Kind: "T"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &spec}}},
		},
	}
	return b.String(), crd, written
}

var place = regexp.MustCompile(`<input>:([0-9]+):([0-9]+):`)

// TestInjectedMistakes checks that compile errors are reported at the right character of the marker. The expected
// position comes from how the marker was written, not from how it is parsed.
func TestInjectedMistakes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	rules, total := injected(), 0
	for name, write := range quotings {
		source, crd, written := mistakes(t, write, rules)
		src := markers.Parse([]markers.File{{Name: "t.go", Package: "example.com/v1", Text: []byte(source)}}, markers.Config{})
		report, err := vet.VetCRD(context.Background(), crd, vet.Config{})
		if err != nil || len(src.Problems()) > 0 {
			t.Fatal(err, src.Problems())
		}
		found := map[string]markers.Position{}
		for _, f := range Find(src, []*CRD{New(src, crd, report, lint.Of(report), nil)}, nil) {
			if strings.Contains(f.Message, "does not compile") {
				found[f.Rule] = f.Position
			}
		}
		checked := 0
		for _, cause := range report.Causes {
			match := place.FindStringSubmatch(cause.Detail)
			if match == nil {
				continue
			}
			rule := cause.Rule.Rule
			var row, column int
			fmt.Sscan(match[1]+" "+match[2], &row, &column)
			at := 0 // the character of the rule
			for ; row > 1; row-- {
				at += len([]rune(strings.SplitAfter(string([]rune(rule)[at:]), "\n")[0]))
			}
			w := written[rule]
			want := markers.Position{File: "t.go", Line: w.line, Column: w.columns[min(at+column-1, len(w.columns)-1)]}
			if got := found[rule]; got != want {
				t.Errorf("%s: %q: %s: got %v, want %v", name, rule, match[0], got, want)
			}
			checked++
		}
		t.Logf("%s: %d mistakes", name, checked)
		if checked < 60 {
			t.Errorf("%s: %d mistakes: want 60", name, checked)
		}
		total += checked
	}
	if total < 200 {
		t.Errorf("%d mistakes: want 200", total)
	}
}
