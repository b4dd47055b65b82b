package policies

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/testing/cputime"
)

const document = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %s}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [things]}]
  validations:
  - expression: %s
`

const binding = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`

func read(t *testing.T, documents ...string) (*Policies, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.yaml"), []byte(strings.Join(documents, "---\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return Read(context.Background(), nil, []string{dir}, input.Selection{}, policy.Config{})
}

func policyOf(name, expression string) string { return fmt.Sprintf(document, name, expression) }

func bindingOf(name string) string { return fmt.Sprintf(binding, name) }

func TestRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		documents []string
		location  string // of the only problem; empty if there is none
		want      string
	}{
		{"valid", []string{policyOf("p", "'true'"), bindingOf("p")}, "", ""},
		{"no binding", []string{policyOf("p", "'true'")}, "p.yaml:1", "no binding"},
		{"broken expression", []string{policyOf("p", "'1 +'"), bindingOf("p")}, "p.yaml:8", "Syntax error"},
		{"file of another tool", []string{policyOf("p", "'true'"), bindingOf("p"), "apiVersion: v2\nname: chart\n"}, "", ""},
		{"unreadable", []string{policyOf("p", "'true'"), bindingOf("p"), "a: [\n"}, "p.yaml:", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, err := read(t, test.documents...)
			if err != nil {
				t.Fatal(err)
			}
			if test.location == "" {
				if len(p.Problems) > 0 {
					t.Fatalf("problems: %v", p.Problems)
				}
				return
			}
			problems := slices.Concat(p.Problems, p.Unbound)
			if len(problems) != 1 {
				t.Fatalf("got %v, want one problem", problems)
			}
			if got := problems[0]; !strings.Contains(got.Error(), test.location) || !strings.Contains(got.Error(), test.want) {
				t.Errorf("got %v, want %s: %s", got, test.location, test.want)
			}
		})
	}
}

func TestReadNone(t *testing.T) {
	t.Parallel()
	if _, err := read(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"); !errors.Is(err, ErrNoPolicy) {
		t.Errorf("got %v, want %v", err, ErrNoPolicy)
	}
}

func TestReadHostile(t *testing.T) {
	t.Parallel()
	many := make([]string, 0, 2000)
	for i := range 1000 {
		name := fmt.Sprintf("p%d", i)
		many = append(many, policyOf(name, "'object.spec.a == 1'"), bindingOf(name))
	}
	huge := []string{policyOf("p", "'"+strings.Repeat("1 + ", 1<<20)+"1 > 0'"), bindingOf("p")}
	for name, documents := range map[string][]string{"many": many, "huge": huge} {
		var p *Policies
		var err error
		used := cputime.Call(func() { p, err = read(t, documents...) })
		if err != nil {
			t.Fatal(name, err)
		}
		if problems := len(p.Problems) > 0; problems != (name == "huge") {
			t.Errorf("%s: %d problems", name, len(p.Problems))
		}
		if used > 20*time.Second {
			t.Errorf("%s: %s of processor time", name, used)
		}
	}
}

func TestCutExpression(t *testing.T) {
	t.Parallel()
	p, err := read(t, policyOf("p", ">-\n      object.spec.size > (1 // one\n      + 2)"), bindingOf("p"))
	if err != nil || len(p.Problems) != 1 || !strings.HasSuffix(p.Problems[0].Error(), "write | in its place") {
		t.Errorf("got %v, %v", p, err)
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"requst.operation == 'CREATE'":    "did you mean request?",
		"object.metadata.name.Size() > 1": "did you mean size?",
		"object.spec.replicas = 1":        "use == to compare; = is not a CEL operator",
		"self.spec.replicas > 1":          "self is a variable of rules in CRDs; in policies it is object",
		"1 > '1'":                         "",
		"object.spec.paused":              "must evaluate to bool but got dyn",
	} {
		p, err := read(t, policyOf("p", `"`+expression+`"`), bindingOf("p"))
		if err != nil || len(p.Problems) != 1 {
			t.Fatalf("%s: got %v, %v, want one problem", expression, p, err)
		}
		if got := p.Problems[0].Error(); !strings.HasSuffix(got, want) {
			t.Errorf("%s: got %s, want %s", expression, got, want)
		}
	}
}
