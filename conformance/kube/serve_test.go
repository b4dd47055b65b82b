package kube

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	examples   = "../../examples"
	cronTabs   = "/apis/stable.example.com/v1/namespaces/default/crontabs"
	configured = 30 * time.Second // until the API server calls a new webhook
	audited    = `"validate.celadon.example.com/verdict":"refused"`
)

// bad is accepted by the cluster's CRD, but violates two rules of the next CRD.
var bad = cron("bad", `"image":"a:latest","replicas":8`)

func cron(name, spec string) string {
	return fmt.Sprintf(`{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":%q},"spec":{"schedule":"0 3 * * *",%s}}`, name, spec)
}

// next returns the CRD that celadon serve uses before it is installed in the cluster, with an
// additional default.
func next(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(examples + "/admission/crds/crontab.yaml")
	if err != nil {
		t.Fatal(err)
	}
	more := strings.Replace(string(text), "suspended:\n                type: boolean\n", "suspended:\n                type: boolean\n                default: false\n", 1)
	if more == string(text) {
		t.Fatal("the example has no field suspended")
	}
	return more
}

func (p *plane) serving(mode string) {
	p.t.Helper()
	cert, key := certificate(p.t, p.host)
	if err := os.MkdirAll(p.path("crds"), 0o755); err != nil {
		p.t.Fatal(err)
	}
	p.write("crds/crontab.yaml", next(p.t))
	p.write("tls.crt", string(cert))
	p.write("tls.key", string(key))
	at := p.host + ":8443"
	p.run("celadon", "serve", "--crd", p.path("crds"), "--tls-cert", p.path("tls.crt"), "--tls-key", p.path("tls.key"), "--listen", at, "--mode", mode, "--drain", "0s")
	client := clientOf(cert)
	p.until("celadon serve is ready", startWithin, func() error {
		resp, err := client.Get("https://" + at + "/readyz")
		if err == nil {
			resp.Body.Close()
		}
		return err
	})
	for _, kind := range []string{"Mutating", "Validating"} {
		path := map[string]string{"Mutating": "mutate", "Validating": "validate"}[kind]
		p.apply(p.write(path+".json", fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"%sWebhookConfiguration","metadata":{"name":"celadon"},
			"webhooks":[{"name":"%s.celadon.example.com","clientConfig":{"url":"https://%s/%s","caBundle":%q},
				"rules":[{"apiGroups":["stable.example.com"],"apiVersions":["*"],"operations":["CREATE","UPDATE"],"resources":["crontabs","crontabs/status"]}],
				"failurePolicy":"Fail","sideEffects":"None","timeoutSeconds":10,"admissionReviewVersions":["v1"]}]}`,
			kind, path, at, path, base64.StdEncoding.EncodeToString(cert))))
	}
	p.until("the API server asks", configured, func() error {
		got := p.do(http.MethodPost, cronTabs+"?dryRun=All", bad)
		if !strings.Contains(p.auditLog(), audited) {
			return fmt.Errorf("%d, and nothing in the audit log", got.Code)
		}
		return nil
	})
}

// expected returns the causes that celadon check reports, in the form "reason field message".
func (p *plane) expected(object, old string) []string {
	p.t.Helper()
	args := []string{"check", "--crd", p.path("crds/crontab.yaml"), "-o", "json", "-"}
	if old != "" {
		args = append([]string{"check", "--old", p.write("old.json", old)}, args[1:]...)
	}
	out, _ := p.celadon(object, args...)
	var report struct {
		Objects []struct {
			Causes []struct{ Reason, Field, Message string }
		}
	}
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&report); err != nil || len(report.Objects) != 1 {
		p.t.Fatalf("%v: %s", err, out)
	}
	var all []string
	for _, c := range report.Objects[0].Causes {
		all = append(all, c.Reason+" "+c.Field+" "+c.Message)
	}
	return all
}

func (p *plane) stored(name string) bool {
	p.t.Helper()
	return p.do(http.MethodGet, cronTabs+"/"+name, "").Code == http.StatusOK
}

func (p *plane) rejected(what string, got answer, want []string) {
	p.t.Helper()
	causes := got.causes()
	slices.Sort(causes)
	slices.Sort(want)
	if diff := cmp.Diff(want, causes); diff != "" || len(want) == 0 || got.Code != http.StatusUnprocessableEntity ||
		!strings.Contains(got.message(), `admission webhook "validate.celadon.example.com" denied the request: CronTab.stable.example.com "`) {
		p.t.Errorf("%s: %d %q (-check +server):\n%s", what, got.Code, got.message(), diff)
	}
}

func (p *plane) accepted(what string, got answer) {
	p.t.Helper()
	if got.Code != http.StatusOK && got.Code != http.StatusCreated {
		p.t.Errorf("%s: %d %s", what, got.Code, got.message())
	}
}

func TestServeEnforces(t *testing.T) {
	p := start(t)
	p.define(examples+"/crontab/crd.yaml", "CronTab", cronTabs)
	// These objects were stored before the webhook was registered. The next CRD rejects them.
	many, latest := cron("many", `"image":"a:1","replicas":8`), cron("latest", `"image":"a:latest"`)
	for _, object := range []string{many, latest} {
		p.accepted("before", p.do(http.MethodPost, cronTabs, object))
	}
	p.serving("enforce")
	good := cron("good", `"image":"a:1"`)
	p.until("defaults are filled in", configured, func() error {
		spec, _ := p.do(http.MethodPost, cronTabs+"?dryRun=All", good).Body["spec"].(map[string]any)
		if spec["suspended"] != false {
			return fmt.Errorf("got %v", spec)
		}
		return nil
	})
	for _, query := range []string{"", "?dryRun=All", "?fieldValidation=Strict"} {
		p.rejected("create"+query, p.do(http.MethodPost, cronTabs+query, bad), p.expected(bad, ""))
	}
	p.accepted("dry run", p.do(http.MethodPost, cronTabs+"?dryRun=All", good))
	if p.stored("good") || p.stored("bad") {
		t.Error("a dry run or a refused object was stored")
	}
	p.accepted("create", p.do(http.MethodPost, cronTabs, good))
	if spec := p.do(http.MethodGet, cronTabs+"/good", "").Body["spec"].(map[string]any); spec["suspended"] != false || spec["replicas"] != 1.0 {
		t.Errorf("stored without defaults: %v", spec)
	}

	p.rejected("update", p.do(http.MethodPatch, cronTabs+"/good", `{"spec":{"replicas":7}}`), p.expected(cron("good", `"image":"a:1","replicas":7`), good))
	p.accepted("update", p.do(http.MethodPatch, cronTabs+"/good", `{"spec":{"replicas":2}}`))
	p.accepted("ratcheted", p.do(http.MethodPatch, cronTabs+"/many", `{"spec":{"maxReplicas":9}}`))
	p.rejected("still too many", p.do(http.MethodPatch, cronTabs+"/many", `{"spec":{"replicas":7}}`), p.expected(cron("many", `"image":"a:1","replicas":7`), many))
	p.accepted("ratcheted", p.do(http.MethodPatch, cronTabs+"/latest", `{"metadata":{"labels":{"a":"b"}}}`))
	p.accepted("status", p.do(http.MethodPatch, cronTabs+"/many/status", `{"status":{"phase":"Running"}}`))
	p.accepted("delete", p.do(http.MethodDelete, cronTabs+"/latest", ""))

	nightly := absolute(t, examples+"/admission/nightly.yaml")
	out, code := p.kubectl("", "apply", "-f", nightly)
	if output, _ := p.celadon("", "check", "--crd", p.path("crds/crontab.yaml"), nightly); code != 1 || !strings.HasPrefix(output, out) {
		t.Errorf("kubectl apply ends with %d and prints\n%scheck begins with\n%s", code, out, output)
	}
	if out, code := p.kubectl("", "apply", "-f", absolute(t, examples+"/crontab/objects/good.yaml")); code != 0 {
		t.Errorf("kubectl apply ends with %d: %s", code, out)
	}
}

func TestServeWarnsAndAudits(t *testing.T) {
	for _, mode := range []string{"warn", "audit"} {
		t.Run(mode, func(t *testing.T) {
			p := start(t)
			p.define(examples+"/crontab/crd.yaml", "CronTab", cronTabs)
			p.serving(mode)
			got := p.do(http.MethodPost, cronTabs, bad)
			p.accepted("create", got)
			want := 0
			if mode == "warn" {
				want = len(p.expected(bad, ""))
			}
			if len(got.Warnings) != want {
				t.Errorf("warnings %q: want %d", got.Warnings, want)
			}
			out, code := p.kubectl("", "apply", "-f", absolute(t, examples+"/admission/nightly.yaml"))
			if code != 0 || strings.Contains(out, "Warning: ") != (mode == "warn") {
				t.Errorf("kubectl apply ends with %d: %s", code, out)
			}
		})
	}
}

func (p *plane) auditLog() string {
	p.t.Helper()
	text, err := os.ReadFile(p.path("audit.log"))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}
