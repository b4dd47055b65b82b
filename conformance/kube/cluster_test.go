package kube

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stocked returns a plane that stores CronTabs and Shirts. The next CRD of CronTabs rejects some of
// them.
func stocked(t *testing.T) *plane {
	t.Helper()
	p := start(t)
	p.define(examples+"/crontab/crd.yaml", "CronTab", cronTabs)
	p.define(examples+"/shirts/crd.yaml", "Shirt", "/apis/stable.example.com/v1/shirts")
	for i := range 12 {
		object := cron(fmt.Sprintf("good-%d", i), `"image":"a:1"`)
		if i%3 == 0 {
			object = cron(fmt.Sprintf("bad-%d", i), fmt.Sprintf(`"image":"a:latest","replicas":%d`, 6+i/3))
		}
		if got := p.do(http.MethodPost, cronTabs, object); got.Code != http.StatusCreated {
			t.Fatalf("%s: %d %s", object, got.Code, got.message())
		}
	}
	p.apply(examples + "/shirts/more.yaml")
	return p
}

// checkReport holds the parts of a CheckReport that are compared. It omits locations, which differ
// between objects from a cluster and objects from kubectl's output.
type checkReport struct {
	Summary map[string]any   `json:"summary"`
	Objects []map[string]any `json:"objects"`
}

func readReport(t *testing.T, text string) checkReport {
	t.Helper()
	var r checkReport
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&r); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, o := range r.Objects {
		withoutPlace(o)
	}
	slices.SortFunc(r.Objects, func(a, b map[string]any) int {
		return strings.Compare(fmt.Sprint(a["kind"], a["name"]), fmt.Sprint(b["kind"], b["name"]))
	})
	return r
}

func withoutPlace(o map[string]any) {
	for _, key := range []string{"file", "document", "item", "line", "column"} {
		delete(o, key)
	}
	causes, _ := o["causes"].([]any)
	for _, c := range causes {
		if c, ok := c.(map[string]any); ok {
			withoutPlace(c)
		}
	}
}

func TestPlugin(t *testing.T) {
	p := start(t)
	if err := os.Symlink(binary("celadon"), p.path("kubectl-celadon")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", p.dir+":"+os.Getenv("PATH"))
	if out, code := p.kubectl("", "plugin", "list"); code != 0 || !strings.Contains(out, p.path("kubectl-celadon")) {
		t.Errorf("kubectl plugin list ends with %d: %s", code, out)
	}
	for _, args := range [][]string{{"version"}, {"check", "--crd", absolute(t, examples+"/crontab/crd.yaml"), absolute(t, examples+"/crontab/objects")}} {
		want, wantCode := p.celadon("", args...)
		out, code := p.kubectl("", append([]string{"celadon"}, args...)...)
		if diff := cmp.Diff(want, strings.TrimSuffix(out, "error: exit status 1\n")); diff != "" || code != wantCode {
			t.Errorf("kubectl celadon %v ends with %d, want %d (-celadon +kubectl celadon):\n%s", args, code, wantCode, diff)
		}
	}
	p.config = p.write("nowhere", strings.ReplaceAll(readFile(t, p.config), p.server, "https://127.0.0.1:1"))
	if out, code := p.kubectl("", "celadon", "check", "--crd", absolute(t, examples+"/crontab/crd.yaml"), absolute(t, examples+"/crontab/objects/good.yaml")); code != 0 {
		t.Errorf("with a cluster that does not answer: %d: %s", code, out)
	}
}

func TestCheckCluster(t *testing.T) {
	p := stocked(t)
	for _, rejected := range []float64{0, 4} {
		if rejected > 0 {
			p.apply(p.write("next.yaml", next(t)))
			p.until("the stricter CRD is in force", configured, func() error {
				if got := p.do(http.MethodPost, cronTabs+"?dryRun=All", bad); got.Code != http.StatusUnprocessableEntity {
					return fmt.Errorf("%d", got.Code)
				}
				return nil
			})
		}
		crds, _ := p.kubectl("", "get", "crd", "-o", "json")
		objects, _ := p.kubectl("", "get", "crontabs,shirts", "-A", "-o", "json")
		want, wantCode := p.celadon(objects, "check", "--crd", p.write("crds.json", crds), "-o", "json", "-v", "-")
		got, code := p.celadon("", "check", "--cluster", "-A", "-o", "json", "-v")
		wanted := readReport(t, want)
		if diff := cmp.Diff(wanted, readReport(t, got)); diff != "" || code != wantCode {
			t.Errorf("ends with %d, want %d (-kubectl get | celadon check +celadon check --cluster):\n%s", code, wantCode, diff)
		}
		if wanted.Summary["checked"] != 13.0 || wanted.Summary["invalid"] != rejected {
			t.Errorf("summary %v: want 13 objects, %v refused", wanted.Summary, rejected)
		}
	}
}

// TestUpgradeCluster compares predictions for a new CRD with the API server that has it. Ratcheting allows an update
// without changes even if a rule is false, but not if its evaluation fails.
func TestUpgradeCluster(t *testing.T) {
	p := stocked(t)
	stricter := strings.Replace(next(t), "- rule: self.replicas <= self.maxReplicas\n",
		"- rule: self.replicas != 8 || self.env[5].name != ''\n            - rule: self.replicas <= self.maxReplicas\n", 1)
	out, code := p.celadon("", "check", "--cluster", "-A", "--crd", p.write("next.yaml", stricter), "-o", "json", "-v")
	if code != 1 {
		t.Fatalf("ends with %d: %s", code, out)
	}
	p.apply(p.path("next.yaml"))
	p.until("the stricter CRD is in force", configured, func() error {
		if got := p.do(http.MethodPost, cronTabs+"?dryRun=All", bad); got.Code != http.StatusUnprocessableEntity {
			return fmt.Errorf("%d", got.Code)
		}
		return nil
	})
	seen := map[string]int{}
	for _, o := range readReport(t, out).Objects {
		name := fmt.Sprint(o["name"])
		status, _ := o["upgrade"].(map[string]any)
		stored := p.do(http.MethodGet, cronTabs+"/"+name, "").Body
		unchanged := verdict(p.do(http.MethodPut, cronTabs+"/"+name+"?dryRun=All", text(t, stored)))
		stored["metadata"] = map[string]any{"name": name + "-anew"}
		now := verdict(p.do(http.MethodPost, cronTabs+"?dryRun=All", text(t, stored)))
		if status["now"] != now || status["unchanged"] != unchanged || status["before"] != "valid" {
			t.Errorf("%s: celadon reports %v, the API server %s, and unchanged %s", name, status, now, unchanged)
		}
		seen[now+" "+unchanged]++
	}
	if diff := cmp.Diff(map[string]int{"valid valid": 8, "invalid valid": 3, "invalid invalid": 1}, seen); diff != "" {
		t.Errorf("objects by verdict (-want +got):\n%s", diff)
	}
}

func verdict(a answer) string {
	switch a.Code {
	case http.StatusOK, http.StatusCreated:
		return "valid"
	case http.StatusUnprocessableEntity:
		return "invalid"
	}
	return fmt.Sprint(a.Code, " ", a.message())
}

func text(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestOneObject(t *testing.T) {
	p := stocked(t)
	out, code := p.celadon("", "eval", "--cluster", "--object", "crontab/bad-0", "self.spec.replicas + 1")
	if code != 0 || !strings.HasPrefix(out, "7\n") {
		t.Errorf("eval ends with %d: %s", code, out)
	}
	out, code = p.celadon("", "diff", "--cluster", "-A", p.write("next.yaml", next(t)))
	if code != 1 || !strings.Contains(out, "must have a tag, and not latest") {
		t.Errorf("diff ends with %d: %s", code, out)
	}
}

func TestForbiddenKind(t *testing.T) {
	p := stocked(t)
	p.apply(p.write("role.json", `{"apiVersion":"v1","kind":"List","items":[
		{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"viewer"},"rules":[
			{"apiGroups":["apiextensions.k8s.io"],"resources":["customresourcedefinitions"],"verbs":["list"]},
			{"apiGroups":["stable.example.com"],"resources":["crontabs"],"verbs":["list"]}]},
		{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"viewer"},
			"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"viewer"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"viewer"}]}]}`))
	p.config = p.write("viewer", strings.ReplaceAll(readFile(t, p.config), adminToken, viewerToken))
	out, code := p.celadon("", "check", "--cluster", "-A")
	if code != 2 || !strings.Contains(out, "shirts") || !strings.Contains(out, "12 objects checked: 12 valid, 0 invalid") {
		t.Errorf("ends with %d: %s", code, out)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
