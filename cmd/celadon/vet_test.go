package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const costly = `# a comment
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, kind: Thing}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              hosts:
                type: array
                items: {type: string}
                x-kubernetes-validations:
                - rule: self.all(h, self.exists_one(k, k == h))
                  message: hosts must be unique
`

// runVet runs celadon vet over files by name.
func runVet(t *testing.T, files map[string]string, args ...string) (stdout string, code int) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, arg := range args {
		if files[arg] != "" {
			args[i] = filepath.Join(dir, arg)
		}
	}
	var out, errOut bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errOut}
	cmd := a.vetCommand()
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(context.Background())
	var exit *exitError
	switch {
	case errors.As(err, &exit):
		code = exit.code
	case err != nil:
		code = exitUsage
	}
	return strings.ReplaceAll(out.String(), dir+string(filepath.Separator), ""), code
}

func TestVetText(t *testing.T) {
	t.Parallel()
	out, code := runVet(t, map[string]string{"crd.yaml": costly}, "crd.yaml")
	want := `The CustomResourceDefinition "things.example.com" is invalid: 
* spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)
* spec.validation.openAPIV3Schema.properties[spec].properties[hosts].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema
* spec.validation.openAPIV3Schema.properties[spec].properties[hosts].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)
  --> crd.yaml:15:7: spec.validation.openAPIV3Schema
  --> crd.yaml:25:19: spec.validation.openAPIV3Schema.properties[spec].properties[hosts].x-kubernetes-validations[0].rule
  v1: 1 rule, estimated cost 345,880,409,621,712,077 of 100,000,000 (>100x)
                      TOTAL LIMIT   CRD                    ONCE TIMES  WHERE       RULE
    345,880,409,621,712,077 >100x >100x 345,880,409,621,712,077     1  spec.hosts  self.all(h, self.exists_one(k, k == h))
    why spec.hosts, rule 0, costs 345,880,409,621,712,077: self.all(h, self.exists_one(k, k == h))
      spec.hosts has no maxItems: 1,048,575 assumed
      spec.hosts[*] has no maxLength: 3,145,726 assumed
    set these bounds and all rules fit:
      spec.hosts: maxItems: 200
      spec.hosts[*]: maxLength: 512
1 CRD vetted: 0 accepted, 1 refused
`
	if diff := cmp.Diff(want, out); diff != "" || code != exitFindings {
		t.Errorf("exit code %d (-want +got):\n%s", code, diff)
	}
}

func TestVetJSON(t *testing.T) {
	t.Parallel()
	out, code := runVet(t, map[string]string{"crd.yaml": costly}, "crd.yaml", "-o", "json")
	var report struct {
		Kind, APIVersion, KubeVersion string
		Summary                       struct{ CRDs, Accepted, Refused int }
		CRDs                          []struct {
			File, Name string
			Line       int
			Accepted   bool
			Status     struct {
				Code   int
				Reason string
			}
			Causes   []struct{ Reason, Field, Message, Rule string }
			Versions []struct {
				Name  string
				Limit uint64
				Rules []struct {
					Path           string
					EstimatedTotal uint64
					Limit          uint64
					Advice         []struct {
						Path, Set string
						Value     int64
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if code != exitFindings || report.Kind != "VetReport" || report.APIVersion != "celadon/v1" || report.Summary.Refused != 1 || len(report.CRDs) != 1 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	crd := report.CRDs[0]
	if crd.Accepted || crd.Line != 2 || crd.Status.Code != 422 || crd.Status.Reason != "Invalid" || len(crd.Causes) != 3 {
		t.Errorf("got %+v", crd)
	}
	rule := crd.Versions[0].Rules[0]
	if rule.Path != "spec.hosts" || rule.Limit != 10_000_000 || crd.Versions[0].Limit != 100_000_000 || len(rule.Advice) != 2 || rule.Advice[0].Set != "maxItems" {
		t.Errorf("got %+v", rule)
	}
}

func TestVetExitCodes(t *testing.T) {
	t.Parallel()
	bounded := strings.Replace(costly, "items: {type: string}", "maxItems: 16\n                items: {type: string, maxLength: 64}", 1)
	twice := strings.Replace(bounded, "  group: example.com\n", "  group: example.com\n  group: example.com\n", 1)
	misspelt := strings.Replace(bounded, "x-kubernetes-validations", "x-kubernetes-validation", 1)
	old := strings.Replace(bounded, "maxLength: 64", "maxLength: 65", 1)
	cases := []struct {
		name  string
		files map[string]string
		args  []string
		code  int
		want  string
	}{
		{"accepted", map[string]string{"a.yaml": bounded}, []string{"a.yaml"}, exitOK, "1 CRD vetted: 1 accepted, 0 refused"},
		{"update", map[string]string{"a.yaml": bounded, "o.yaml": old}, []string{"--old", "o.yaml", "a.yaml"}, exitOK, "1 accepted"},
		{"no CRD", map[string]string{"a.yaml": "apiVersion: v1\nkind: Pod\n"}, []string{"a.yaml"}, exitUsage, ""},
		{"not YAML", map[string]string{"a.yaml": "a: [\n", "b.yaml": costly}, []string{"a.yaml", "b.yaml"}, exitUsage, "1 unreadable"},
		{"old API", map[string]string{"a.yaml": strings.Replace(bounded, "io/v1", "io/v1beta1", 1)}, []string{"a.yaml"}, exitUsage, "want apiextensions.k8s.io/v1"},
		{"duplicate key", map[string]string{"a.yaml": twice}, []string{"a.yaml"}, exitFindings, `Error from server (BadRequest): error when creating "a.yaml": CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: strict decoding error: yaml: unmarshal errors: line 8: key "group" already set in map`},
		{"misspelt field", map[string]string{"a.yaml": misspelt}, []string{"a.yaml"}, exitFindings, `strict decoding error: unknown field "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.hosts.x-kubernetes-validation"`},
		{"unknown lint", map[string]string{"a.yaml": bounded}, []string{"--no-lint", "x", "a.yaml"}, exitUsage, ""},
		{"unknown format", map[string]string{"a.yaml": bounded}, []string{"-o", "xml", "a.yaml"}, exitUsage, ""},
		{"unknown version", map[string]string{"a.yaml": bounded}, []string{"--kube-version", "1.2", "a.yaml"}, exitUsage, ""},
		{"no argument", nil, nil, exitUsage, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, code := runVet(t, c.files, c.args...)
			if code != c.code || !strings.Contains(out, c.want) {
				t.Errorf("exit code %d, want %d; want %q in:\n%s", code, c.code, c.want, out)
			}
		})
	}
}

func TestVetForMachines(t *testing.T) {
	t.Parallel()
	out, code := runVet(t, map[string]string{"crd.yaml": costly}, "crd.yaml", "-o", "github")
	if code != exitFindings || !strings.HasPrefix(out, "::error file=crd.yaml,line=15,col=7,title=FieldValueForbidden::spec.validation.openAPIV3Schema: Forbidden: ") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	out, _ = runVet(t, map[string]string{"crd.yaml": costly}, "crd.yaml", "-o", "sarif")
	var log sarifLog
	if err := json.Unmarshal([]byte(out), &log); err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 || len(log.Runs[0].Results) == 0 {
		t.Errorf("%v:\n%s", err, out)
	}
}
