package service_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground/service"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

func ask(t *testing.T, req service.Request) map[string]any {
	t.Helper()
	return askIn(t, service.New(), req)
}

func askIn(t *testing.T, r *service.Service, req service.Request) map[string]any {
	t.Helper()
	value, _ := askAny(t, r, req).(map[string]any)
	return value
}

func askAny(t *testing.T, r *service.Service, req service.Request) any {
	t.Helper()
	text, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	var reply struct {
		Value any
		Error string
	}
	if err := json.Unmarshal(r.Answer(t.Context(), text), &reply); err != nil {
		t.Fatal(err)
	}
	if reply.Error != "" {
		t.Fatalf("%s: %s", req.Do, reply.Error)
	}
	return reply.Value
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../../../examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const rejected = `apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  image: a:1
  replicas: 3
  maxReplicas: 2
`

func TestCheck(t *testing.T) {
	t.Parallel()
	got := ask(t, service.Request{Do: "check", CRD: read(t, "crontab/crd.yaml"), Object: rejected})
	one := got["objects"].([]any)[0].(map[string]any)
	if words := one["kubectl"].(string); !strings.HasPrefix(words, `The CronTab "nightly" is invalid: `) {
		t.Errorf("kubectl: %s", words)
	}
	if len(one["rules"].([]any)) == 0 || one["allRuns"].(float64) == 0 {
		t.Errorf("no rule ran: %v", one)
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	r := service.New()
	req := service.Request{Do: "check", CRD: read(t, "crontab/crd.yaml"), Object: rejected}
	one := askIn(t, r, req)["objects"].([]any)[0].(map[string]any)
	req.Do = "trace"
	seen := map[string]bool{}
	for i, of := range one["runs"].([]any) {
		req.Run = i
		got := askIn(t, r, req)
		outcome := of.(map[string]any)["outcome"].(string)
		value := got["parts"].([]any)[0].(map[string]any)["value"].(string)
		if want := map[string]string{"passed": "true", "refused": "false"}[outcome]; value != want {
			t.Errorf("run %d %s: the whole is %s", i, outcome, value)
		}
		seen[outcome] = true
	}
	if !seen["passed"] || !seen["refused"] {
		t.Errorf("outcomes: %v", seen)
	}
}

func TestPoints(t *testing.T) {
	t.Parallel()
	got := ask(t, service.Request{Do: "vet", CRD: read(t, "costly/crd.yaml")})
	var points [][]string
	remarshal(t, got["points"], &points)
	lines := slices.DeleteFunc(slices.Clone(points[0]), func(point string) bool { return point == "" })
	if len(points[0]) < 2 || len(lines) != 1 || !strings.HasPrefix(lines[0], "estimated rule cost exceeds budget") {
		t.Errorf("got %q", points)
	}
}

func TestDroppedKeys(t *testing.T) {
	t.Parallel()
	const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.x.com}\nspec:\n  group: x.com\n  scope: Namespaced\n" +
		"  names: {plural: as, singular: a, kind: A, listKind: AList}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n" +
		"        type: object\n        properties:\n          l:\n            type: array\n            maxItems: 3\n            items:\n              type: string\n              maxLenght: 3\n"
	got := ask(t, service.Request{Do: "vet", CRD: crd})
	var report struct {
		CRDs []struct {
			Accepted bool
			Lints    []struct {
				Lint, Message string
				Line          int
			}
		}
	}
	remarshal(t, got["report"], &report)
	all, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if lints := report.CRDs[0].Lints; !report.CRDs[0].Accepted || len(lints) != 1 || lints[0].Line != 21 || !strings.Contains(lints[0].Message, "maxLength") || bytes.Count(all, []byte("maxLenght")) > 2 {
		t.Errorf("got %s", all)
	}
}

func TestFix(t *testing.T) {
	t.Parallel()
	crd := read(t, "costly/crd.yaml")
	all := ask(t, service.Request{Do: "fix", CRD: crd})["crd"].(string)
	got := ask(t, service.Request{Do: "vet", CRD: all})
	if words := got["kubectl"].([]any)[0]; words != "" {
		t.Errorf("with all bounds: %v", words)
	}
	var report struct {
		CRDs []struct {
			Versions []struct {
				Name   string
				Advice []struct{ Path, Set string }
			}
		}
	}
	remarshal(t, ask(t, service.Request{Do: "vet", CRD: crd})["report"], &report)
	v := report.CRDs[0].Versions[0]
	if len(v.Advice) == 0 {
		t.Fatal("no advice")
	}
	for _, a := range v.Advice {
		one := ask(t, service.Request{Do: "fix", CRD: crd, Of: "gateways.example.com", Version: v.Name, Path: a.Path, Set: a.Set})["crd"].(string)
		if strings.Count(one, "\n") != strings.Count(crd, "\n")+1 || !strings.Contains(one, a.Set) {
			t.Errorf("%s %s: %s", a.Path, a.Set, cmp.Diff(crd, one))
		}
	}
}

func remarshal(t *testing.T, v, into any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	r := service.New()
	crd := read(t, "crontab/crd.yaml")
	rules := askIn(t, r, service.Request{Do: "check", CRD: crd, Object: rejected})["objects"].([]any)[0].(map[string]any)["rules"].([]any)
	rule := rules[0].(map[string]any)
	got := askIn(t, r, service.Request{Do: "find", CRD: crd, Of: "crontabs.stable.example.com", Version: "v1", Path: rule["path"].(string), Index: int(rule["index"].(float64)), Want: "refused", Steps: 2000})
	object := text(got["object"])
	if object == "" {
		t.Fatalf("nothing found: %v", got)
	}
	report := askIn(t, r, service.Request{Do: "check", CRD: crd, Object: object, Old: text(got["old"])})
	if words := report["objects"].([]any)[0].(map[string]any)["kubectl"]; words == nil {
		t.Errorf("the object that was found is accepted: %s", object)
	}
}

const secretCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: logins.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Login, plural: logins, singular: login, listKind: LoginList}
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
              user: {type: string}
              token: {type: string, format: password}
            x-kubernetes-validations:
            - rule: self.user != self.token
`

func TestShare(t *testing.T) {
	t.Parallel()
	const plain = "apiVersion: example.com/v1\nkind: Login\nmetadata: {name: a} # mine\nspec:\n  user: me\n"
	const again = "apiVersion: example.com/v1\nkind: Login\nmetadata:\n  name: a\nspec:\n"
	for name, test := range map[string]struct{ object, old, want string }{
		"none":         {plain, "", plain},
		"password":     {plain + "  token: hunter2 # secret\n", "", again + "  token: (hidden)\n  user: me\n"},
		"comment":      {plain + "  token: hunter2 # hunter2\n", "", ""},
		"annotation":   {strings.Replace(plain, "{name: a}", `{name: a, annotations: {last: '{"token":"hunter2"}'}}`, 1) + "  token: hunter2\n", "", ""},
		"twice":        {plain + "  token: hunter2\n  token: other\n", "", ""},
		"in the old":   {plain, strings.Replace(plain, "user: me", "user: hunter2", 1) + "  token: hunter2\n", again + "  user: me\n"},
		"JSON":         {`{"apiVersion":"example.com/v1","kind":"Login","metadata":{"name":"a"},"spec":{"user":"me","token":"hunter2"}}`, "", ""},
		"List":         {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: example.com/v1\n  kind: Login\n  metadata: {name: a}\n  spec: {user: me, token: hunter2}\n", "", ""},
		"several":      {plain + "  token: hunter2\n---\n" + plain, "", again + "  token: (hidden)\n  user: me\n---\n" + again + "  user: me\n"},
		"anchored":     {plain + "  token: &t hunter2\nmore: *t\n", "", ""},
		"block scalar": {plain + "  token: |\n    hunter2\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, service.Request{Do: "share", CRD: secretCRD, Object: test.object, Old: test.old})
			if got["unknown"] != nil {
				t.Fatal(got["unknown"])
			}
			both := got["object"].(string) + got["old"].(string)
			if strings.Contains(both, "hunter2") {
				t.Errorf("shared: %s", both)
			}
			if test.want != "" && got["object"] != test.want {
				t.Error(cmp.Diff(test.want, got["object"]))
			}
			if n := got["passwords"].(float64); (n == 0) != (name == "none") {
				t.Errorf("%v passwords", n)
			}
		})
	}
	for name, object := range map[string]string{"broken": "a: [", "another kind": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"} {
		if got := ask(t, service.Request{Do: "share", CRD: secretCRD, Object: object}); got["unknown"] == nil || got["object"] != "" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestEval(t *testing.T) {
	t.Parallel()
	crd := read(t, "crontab/crd.yaml")
	for _, c := range []struct{ path, expr, want string }{
		{"", "self.spec.replicas", `3`},
		{"spec", "self.replicas > oldSelf.replicas", `false`},
		{"", "self.spec.replica", `undefined field 'replica'`},
		{"", "1 / 0", `division by zero`},
	} {
		got := ask(t, service.Request{Do: "eval", CRD: crd, Object: rejected, Old: rejected, Path: c.path, Expr: c.expr})
		if text := fmt.Sprint(got["value"], got["error"]); got["kind"] != "EvalReport" || !strings.Contains(text, c.want) {
			t.Errorf("%s: got %v, want %s", c.expr, got, c.want)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	crd := strings.Replace(read(t, "crontab/crd.yaml"), "self.replicas <= self.maxReplicas", "self.replicas <= self.maxReplicas && isIP('1.2.3.4')", 1)
	list := ask(t, service.Request{Do: "versions", CRD: crd, Object: rejected, KubeVersion: "1.33"})["versions"].([]any)
	if len(list) != types.Newest-types.Oldest+1 {
		t.Fatalf("got %d versions", len(list))
	}
	for _, one := range []struct {
		i                 int
		version           string
		accepted, broken  bool
		objects, messages int
	}{{0, "1.28", false, true, 1, 1}, {len(list) - 1, types.Version{Minor: types.Newest}.String(), true, false, 1, 1}} {
		got := list[one.i].(map[string]any)
		ofCRD, ofObject := got["crds"].([]any)[0].(map[string]any), got["objects"].([]any)
		if got["version"] != one.version || ofCRD["accepted"] != one.accepted || len(ofObject) != one.objects {
			t.Errorf("got %v", got)
		}
		broken := slices.ContainsFunc(ofCRD["rules"].([]any), func(r any) bool { return r.(map[string]any)["broken"] == true })
		if broken != one.broken {
			t.Errorf("%s: got rules %v", one.version, ofCRD["rules"])
		}
		if object := ofObject[0].(map[string]any); object["verdict"] != "invalid" || object["message"] == "" {
			t.Errorf("%s: got object %v", one.version, object)
		}
	}
}

func TestHiddenValues(t *testing.T) {
	t.Parallel()
	object := "apiVersion: example.com/v1\nkind: Login\nmetadata: {name: a}\nspec: {user: hunter2, token: hunter2}\n"
	for _, do := range []string{"check", "trace", "versions"} {
		got := ask(t, service.Request{Do: do, CRD: secretCRD, Object: object})
		text, err := json.Marshal(got)
		if err != nil || bytes.Contains(text, []byte("hunter2")) {
			t.Errorf("%s: %s", do, text)
		}
	}
}

func TestSubresources(t *testing.T) {
	t.Parallel()
	object := "apiVersion: example.com/v1\nkind: Login\nmetadata: {name: a}\nspec: {user: a, token: b}\n"
	for _, subresource := range policyrequest.Updated {
		got, err := json.Marshal(ask(t, service.Request{Do: "check", CRD: secretCRD, Object: object, Old: object, Subresource: subresource}))
		if want := "the CRD has no " + subresource + " subresource"; err != nil || !bytes.Contains(got, []byte(want)) {
			t.Errorf("%v: got %s, want %s", err, got, want)
		}
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	r := service.New()
	crd, _ := json.Marshal(secretCRD)
	for _, request := range []string{
		``, `null`, `[]`, `{}`, `{"do":"rm"}`, `{"do":"check","more":1}`, `{"do":"check","kubeVersion":"9.9"}`, `{"do":"check","subresource":"exec"}`,
		`{"do":"trace"}`, `{"do":"trace","item":-1}`, `{"do":"find"}`, `{"do":"find","want":"refused","steps":1}`,
		`{"do":"find","of":"logins.example.com","crd":` + string(crd) + `,"want":"refused"}`, `{"do":"find","of":"logins.example.com","crd":` + string(crd) + `,"want":"all","steps":1}`,
		`{"do":"find","of":"logins.example.com","crd":` + string(crd) + `,"want":"refused","steps":1,"version":"v2"}`, `{"do":"find","of":"logins.example.com","crd":` + string(crd) + `,"want":"refused","steps":1,"version":"v1","path":"x"}`,
		strings.Repeat(" ", service.MaxRequest+1),
	} {
		var reply map[string]any
		if err := json.Unmarshal(r.Answer(t.Context(), []byte(request)), &reply); err != nil || reply["error"] == nil || strings.Contains(reply["error"].(string), "internal error") {
			t.Errorf("%.60s: %v %v", request, reply, err)
		}
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
