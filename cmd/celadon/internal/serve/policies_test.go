package serve

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

const examplePolicies = "../../../../examples/policies/policies"

func policyReview(operation, replicas, user string) string {
	text := cronTab(`{"schedule":"0 3 * * *","image":"a","replicas":` + replicas + `}`)
	text = strings.NewReplacer(`"namespace":"ns"`, `"namespace":"default"`, `"CREATE"`, `"`+operation+`"`, `"jane"`, `"`+user+`"`,
		`"userInfo"`, `"resource":{"group":"stable.example.com","version":"v1","resource":"crontabs"},"userInfo"`, `"username"`, `"groups":["devs"],"username"`).Replace(text)
	if operation == "DELETE" {
		text = strings.Replace(text, `"object"`, `"oldObject"`, 1)
	}
	return text
}

func TestServePolicies(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(examplePolicies)); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, "--crd", exampleD, "--policy", folder, "--remove-after", "0s")
	r := s.review("/validate", policyReview("CREATE", "5", "jane"))
	if r.Allowed || r.Result.Code != 403 || !strings.Contains(r.Result.Message, "at most 3 replicas are allowed here") {
		t.Errorf("denied: %+v", r)
	}
	if r := s.review("/validate", policyReview("CREATE", "2", "jane")); !r.Allowed {
		t.Errorf("accepted: %+v", r)
	}
	if r := s.review("/validate", policyReview("DELETE", "2", "jane")); !r.Allowed || len(r.Warnings) != 1 {
		t.Errorf("delete: %+v", r)
	}
	if rejected := s.log.records("refused"); len(rejected) != 1 || rejected[0]["policies"] != "replica-limit replica-limit spec.validations[0]" {
		t.Errorf("log: %v", rejected)
	}
	limits := filepath.Join(folder, "limits.yaml")
	replace(t, limits, strings.Replace(read(t, limits), `maxReplicas: "3"`, `maxReplicas: "9"`, 1))
	s.await("the change is seen", func() bool { return len(s.log.records("policies loaded")) == 2 })
	if r := s.review("/validate", policyReview("CREATE", "5", "jane")); !r.Allowed {
		t.Errorf("after the change: %+v", r)
	}
	replace(t, limits, strings.Replace(read(t, limits), "variables.limit\n", "variables.\n", 1))
	s.await("the error is logged", func() bool { return len(s.log.records("policies not changed")) > 0 })
	if r := s.review("/validate", policyReview("CREATE", "10", "jane")); r.Allowed {
		t.Errorf("an invalid change took effect: %+v", r)
	}
}

func TestServePoliciesKept(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(examplePolicies)); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, "--crd", exampleD, "--policy", folder, "--remove-after", "1h", "--plain-http")
	if err := os.Remove(filepath.Join(folder, "limits.yaml")); err != nil {
		t.Fatal(err)
	}
	protection := filepath.Join(folder, "protection.yaml")
	replace(t, protection, read(t, protection)+"# changed\n")
	if r := s.review("/validate", policyReview("CREATE", "5", "jane")); r.Allowed {
		t.Errorf("the policy is gone: %+v", r)
	}
}

func TestServeOnlyPolicies(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(examplePolicies)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "mutating.yaml"), mutatingPolicy)
	s := startServe(t, "--policy", folder)
	if r := s.review("/validate", policyReview("CREATE", "5", "jane")); r.Allowed || r.Result.Code != 403 {
		t.Errorf("denied: %+v", r)
	}
	other := strings.NewReplacer("crontabs", "others", "CronTab", "Other").Replace(policyReview("CREATE", "5", "jane"))
	if r := s.review("/validate", other); !r.Allowed || len(r.Warnings) > 0 {
		t.Errorf("a kind without policies: %+v", r)
	}
	warned := s.log.records("mutating policies are not evaluated: a webhook receives the object after the cluster's own")
	if len(warned) != 1 || fmt.Sprint(warned[0]["policies"]) != "[team]" {
		t.Errorf("log: %v", warned)
	}
}

const mutatingPolicy = `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: team}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [stable.example.com], apiVersions: [v1], operations: [CREATE], resources: [crontabs]}
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: '[JSONPatch{op: "add", path: "/spec/replicas", value: 1}]'}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: team}
spec: {policyName: team}
`

func TestServePoliciesInvalid(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "p.yaml"), strings.Replace(read(t, filepath.Join(examplePolicies, "limits.yaml")), "variables.limit\n", "variables.\n", 1))
	for _, tt := range []struct{ path, want string }{
		{folder, "p.yaml:18:51: ValidatingAdmissionPolicy replica-limit: spec.validations[0].expression"},
		{"-", "--policy -: want a file or a folder"},
		{exampleD, "no admission policy"},
		{filepath.Join(folder, "missing"), "missing"},
	} {
		var log bytes.Buffer
		args := []string{"serve", "--crd", exampleD, "--plain-http", "--listen", "127.0.0.1:0", "--policy", tt.path}
		if code := serveArgs(context.Background(), &log, args); code != command.Usage || !strings.Contains(log.String(), tt.want) {
			t.Errorf("%s: exit code %d, %s", tt.path, code, log.String())
		}
	}
}
