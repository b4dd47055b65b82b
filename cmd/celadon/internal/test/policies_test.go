package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/x/ruletest"
)

const policyText = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "true"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: p}
spec: {policyName: p, validationActions: [Deny]}
`

func TestHostilePolicyFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write("tree/good.yaml", policyText)
	write("tree/folder/good.yaml", policyText)
	write("tree/many.yaml", policyText+strings.Repeat("---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n", maxPolicyDocuments))
	write("secret.yaml", policyText)
	write("secrets/secret.yaml", policyText)
	link("../secret.yaml", "tree/link.yaml")
	link("../secrets", "tree/links")
	link("../../secret.yaml", "tree/folder/link.yaml")
	link("good.yaml", "tree/inner.yaml")
	defs := newDefinitions([]string{filepath.Join(dir, "tree")}, nil)
	for name, want := range map[string]string{
		"good.yaml":          "",
		"folder":             "", // without the link
		"inner.yaml":         "",
		"../tree/good.yaml":  "",
		"link.yaml":          "a suite may only name files in the folders on the command line and their git work trees",
		"links":              "a suite may only name files in the folders on the command line and their git work trees",
		"../secret.yaml":     "a suite may only name files in the folders on the command line and their git work trees",
		"/etc/hosts":         "a suite may only name files in the folders on the command line and their git work trees",
		"many.yaml":          "too many documents",
		"missing.yaml":       "no such file",
		"folder/../missing":  "no such file",
		"-":                  "no such file",
		"good.yaml\x00.json": "a suite may only name files in the folders on the command line and their git work trees",
	} {
		suite := &ruletest.Suite{File: filepath.Join(dir, "tree", "suite.yaml"), PolicyPaths: []string{name}}
		p, errs := defs.policies(suite)
		text := ""
		for _, err := range errs {
			text += err.Error() + "\n"
		}
		if (p != nil) != (want == "") || !strings.Contains(text, want) || want == "" && text != "" {
			t.Errorf("%s: got %q, want %q", name, text, want)
		}
		if strings.Contains(name, "folder") && p != nil && len(p.Documents) != 2 {
			t.Errorf("%s: got %d documents, want 2", name, len(p.Documents))
		}
	}
	if _, errs := defs.policies(&ruletest.Suite{File: "-", PolicyPaths: []string{filepath.Join(dir, "tree", "good.yaml")}}); len(errs) == 0 {
		t.Error("a suite on standard input names a file")
	}
}
