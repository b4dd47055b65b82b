package conformance

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

// These tests run celadon with --cluster against the real API server.

var clusterUpgrades = []struct{ before, after string }{
	{`{properties: {size: {type: integer}, a: {type: string}}}`, `{properties: {size: {type: integer}, a: {type: string}}, x-kubernetes-validations: [{rule: self.size <= 3}]}`},
	{`{properties: {size: {type: integer}, a: {type: string}}}`, `{properties: {size: {type: integer}, a: {type: string, maxLength: 2}}}`},
	{`{properties: {size: {type: integer}, a: {type: string}}}`, `{properties: {size: {type: integer}, a: {type: string, enum: [x, xxx]}}}`},
	{`{properties: {size: {type: integer}, a: {type: string}, b: {type: string}}}`, `{required: [b], properties: {size: {type: integer}, a: {type: string}, b: {type: string}}}`},
	{`{properties: {size: {type: integer}, a: {type: string}}}`, `{properties: {size: {type: integer}, a: {type: string, pattern: "^x{2,4}$"}}}`},
	{`{properties: {size: {type: integer}, a: {type: string}, b: {type: string}}}`, `{properties: {size: {type: integer}, a: {type: string}, b: {type: string}}, x-kubernetes-validations: [{rule: "self.size < 3 || self.b == 'y'"}]}`},
	{`{properties: {size: {type: integer}, a: {type: string}}}`, `{properties: {size: {type: integer, x-kubernetes-validations: [{rule: self >= oldSelf, message: size may not shrink}, {rule: self != 4}]}, a: {type: string}}}`},
	{`{properties: {size: {type: integer}, l: {type: array, items: {type: string}}}}`, `{properties: {size: {type: integer}, l: {type: array, x-kubernetes-list-type: set, items: {type: string}}}}`},
	{`{properties: {size: {type: integer}, a: {type: string}, b: {type: string}}}`, `{properties: {size: {type: integer, default: 7}, b: {type: string, default: new}}}`},
	{`{properties: {size: {type: integer}, l: {type: array, items: {type: string}}}}`, `{properties: {size: {type: integer, maximum: 4}, l: {type: array, maxItems: 9, items: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: "self != 'x'", messageExpression: "'no ' + self"}]}}}}`},
}

func clusterCRD(t *testing.T, i int, spec string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text := fmt.Sprintf(`{metadata: {name: kind%[1]ds.fleet.io}, spec: {group: fleet.io, scope: Namespaced, names: {plural: kind%[1]ds, singular: kind%[1]d, kind: Kind%[1]d, listKind: Kind%[1]dList},
versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}}]}}`, i)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	var props apiextensionsv1.JSONSchemaProps
	if err := yaml.UnmarshalStrict([]byte(spec), &props); err != nil {
		t.Fatal(err)
	}
	props.Type = "object"
	schema.Properties["spec"] = props
	return crd
}

func clusterObject(i, j int) map[string]any {
	x := strings.Repeat("x", j)
	return map[string]any{
		"apiVersion": "fleet.io/v1", "kind": fmt.Sprintf("Kind%d", i),
		"metadata": map[string]any{"name": fmt.Sprintf("o%d", j), "namespace": "fleet"},
		"spec":     map[string]any{"size": j, "a": x, "l": []any{x, "y", strings.Repeat("x", 5-j)}},
	}
}

func buildCeladon(t *testing.T) string {
	t.Helper()
	command := filepath.Join(t.TempDir(), "celadon")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", command, "./cmd/celadon")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return command
}

// The kubeconfig has the credentials of the server's own client.
func (s *Server) kubeconfig(t *testing.T, host string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "kubeconfig")
	cluster := map[string]any{"server": host}
	if host == s.host {
		cluster["certificate-authority-data"] = s.config.CAData
		cluster["tls-server-name"] = s.config.ServerName
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "test",
		"clusters": []any{map[string]any{"name": "c", "cluster": cluster}},
		"users":    []any{map[string]any{"name": "u", "user": map[string]any{"token": s.config.BearerToken}}},
		"contexts": []any{map[string]any{"name": "test", "context": map[string]any{"cluster": "c", "user": "u"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func celadon(t *testing.T, command, kubeconfig, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// kubectlGet returns the output of kubectl get -A -o json for the objects at the given API paths.
func (s *Server) kubectlGet(t *testing.T, paths ...string) string {
	t.Helper()
	items := []any{}
	for _, path := range paths {
		answer, err := s.do(t.Context(), http.MethodGet, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		var list struct{ Items []map[string]any }
		if err := json.Unmarshal(answer.body, &list); err != nil {
			t.Fatal(err)
		}
		for _, item := range list.Items {
			if item["kind"] == nil {
				item["kind"], item["apiVersion"] = "CustomResourceDefinition", "apiextensions.k8s.io/v1"
			}
			delete(item["metadata"].(map[string]any), "managedFields")
			items = append(items, item)
		}
	}
	text, err := json.MarshalIndent(map[string]any{"apiVersion": "v1", "kind": "List", "items": items, "metadata": map[string]any{"resourceVersion": ""}}, "", "    ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// clusterPlaces matches locations in a report, which differ between objects from a file and from a
// cluster.
var clusterPlaces = regexp.MustCompile(`,?\s*"(file|document|item|line|column)": ("[^"]*"|\d+),?`)

func TestCluster(t *testing.T) {
	s := startServer(t)
	command := buildCeladon(t)
	ctx := t.Context()
	var resources []*Resource
	var paths []string
	for i, u := range clusterUpgrades {
		r, err := s.Serve(ctx, clusterCRD(t, i, u.before))
		if err != nil {
			t.Fatal(err)
		}
		resources = append(resources, r)
		paths = append(paths, "/apis/fleet.io/v1/"+r.crd.Spec.Names.Plural)
		for j := 1; j <= 5; j++ {
			clusterStore(t, r, clusterObject(i, j))
		}
	}
	t.Run("report", func(t *testing.T) { s.clusterReport(t, command, paths) })
	t.Run("upgrade", func(t *testing.T) { s.clusterUpgrade(t, command, resources) })
	t.Run("report after", func(t *testing.T) { s.clusterReport(t, command, paths) })
	t.Run("expired", func(t *testing.T) { s.clusterExpired(t, command, resources[0]) })
}

func clusterStore(t *testing.T, r *Resource, obj map[string]any) {
	t.Helper()
	body, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := r.do(t.Context(), call{method: http.MethodPost, version: "v1", namespace: "fleet", body: body})
	if err != nil || answer.code != http.StatusCreated {
		t.Fatalf("not stored: %v %s", err, answer.body)
	}
}

func (s *Server) clusterReport(t *testing.T, command string, paths []string) {
	crds := filepath.Join(t.TempDir(), "crds.json")
	if err := os.WriteFile(crds, []byte(s.kubectlGet(t, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")), 0o600); err != nil {
		t.Fatal(err)
	}
	config := s.kubeconfig(t, s.host)
	live, told, code := celadon(t, command, config, "", "check", "--cluster", "-A", "-o", "json")
	if !strings.Contains(told, "10 kinds in the storage version: kind0s.fleet.io v1, kind1s.fleet.io v1") {
		t.Error(told)
	}
	version := regexp.MustCompile(`"kubeVersion": "([0-9.]+)"`).FindStringSubmatch(live)
	if version == nil {
		t.Fatalf("%s\n%s", told, live)
	}
	want, _, wantCode := celadon(t, command, config, s.kubectlGet(t, paths...), "check", "--crd", crds, "-o", "json", "--kube-version", version[1], "-")
	if code != wantCode || code == 2 || !strings.Contains(want, `"checked": 50`) {
		t.Errorf("exit codes %d and %d\n%s", code, wantCode, told)
	}
	if diff := cmp.Diff(clusterPlaces.ReplaceAllString(want, ""), clusterPlaces.ReplaceAllString(live, "")); diff != "" {
		t.Errorf("-kubectl +cluster\n%s", diff)
	}
}

type foretold struct {
	Kind, Name string
	Causes     []struct{ Reason, Field, Message string }
	Status     struct{ Message string }
	Upgrade    struct {
		Before, Now, Unchanged string
		Changes                []any
	}
}

func (s *Server) clusterUpgrade(t *testing.T, command string, resources []*Resource) {
	file := filepath.Join(t.TempDir(), "new.json")
	var text bytes.Buffer
	for i, u := range clusterUpgrades {
		crd := clusterCRD(t, i, u.after)
		crd.APIVersion, crd.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
		if err := json.NewEncoder(&text).Encode(crd); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, told, code := celadon(t, command, s.kubeconfig(t, s.host), "", "check", "--cluster", "-A", "--crd", file, "-o", "json")
	var rep struct{ Objects []foretold }
	if err := json.Unmarshal([]byte(out), &rep); err != nil || code != 1 || len(rep.Objects) != 50 {
		t.Fatalf("exit code %d, %v, %d objects\n%s", code, err, len(rep.Objects), told)
	}
	for i, u := range clusterUpgrades {
		if err := s.replace(t.Context(), resources[i], clusterCRD(t, i, u.after)); err != nil {
			t.Fatalf("%s: %v", resources[i].crd.Name, err)
		}
	}
	rejected := map[string]int{}
	deadline := time.Now().Add(settle)
	for _, o := range rep.Objects {
		i := slices.IndexFunc(resources, func(r *Resource) bool { return r.crd.Spec.Names.Kind == o.Kind })
		c := clusterClaim{resources[i], &o}
		err := c.hold(t)
		for err != nil && time.Now().Before(deadline) { // the server does not use the new schema immediately
			time.Sleep(10 * pollEvery)
			err = c.hold(t)
		}
		if err != nil {
			t.Errorf("%s %s: %v", o.Kind, o.Name, err)
		}
		rejected["now "+o.Upgrade.Now]++
		rejected["unchanged "+o.Upgrade.Unchanged]++
		if len(o.Upgrade.Changes) > 0 {
			rejected["changed"]++
		}
	}
	t.Logf("%v", rejected)
	if rejected["now valid"] < 10 || rejected["now invalid"] < 10 || rejected["unchanged invalid"] < 2 || rejected["changed"] == 0 {
		t.Errorf("%v: the kinds show too little", rejected)
	}
}

type clusterClaim struct {
	resource *Resource
	*foretold
}

// hold compares a prediction with the server's responses to a create and several updates.
func (c clusterClaim) hold(t *testing.T) error {
	stored, err := c.resource.get(t.Context(), "v1", "fleet", c.Name)
	if err != nil {
		return err
	}
	fresh := func(name string) map[string]any {
		return map[string]any{"apiVersion": stored["apiVersion"], "kind": stored["kind"], "metadata": map[string]any{"name": name, "namespace": "fleet"}, "spec": stored["spec"]}
	}
	labelled := maps.Clone(stored)
	metadata := maps.Clone(metadataOf(stored))
	metadata["labels"] = map[string]any{"a": "b"}
	labelled["metadata"] = metadata
	for _, w := range []struct {
		what, method, name, want string
		object                   map[string]any
	}{
		{"create", http.MethodPost, "", c.Upgrade.Now, fresh("new")},
		{"unchanged update", http.MethodPut, c.Name, c.Upgrade.Unchanged, stored},
		{"update of a label", http.MethodPut, c.Name, c.Upgrade.Unchanged, labelled},
	} {
		body, err := json.Marshal(w.object)
		if err != nil {
			return err
		}
		answer, err := c.resource.server.do(t.Context(), w.method, c.resource.path(call{version: "v1", namespace: "fleet", name: w.name})+"?dryRun=All", body)
		if err != nil {
			return err
		}
		if got := answer.code < 300; got != (w.want == "valid") {
			return fmt.Errorf("%s: predicted %s, but got %d %s", w.what, w.want, answer.code, answer.body)
		}
		if w.what == "unchanged update" && answer.code < 300 {
			now, err := engine.Decode(answer.body)
			if err != nil {
				return err
			}
			if same := cmp.Equal(now["spec"], stored["spec"]); !same && len(c.Upgrade.Changes) == 0 {
				return fmt.Errorf("%s: predicted no change: %s", w.what, cmp.Diff(stored["spec"], now["spec"]))
			}
		}
		// The report has the causes of the update without changes if that is rejected, otherwise
		// those of the create.
		if told := c.Upgrade.Unchanged == "invalid" == (w.method == http.MethodPut); answer.code == http.StatusUnprocessableEntity && told {
			if err := c.causes(answer.body); err != nil {
				return fmt.Errorf("%s: %w", w.what, err)
			}
		}
	}
	return c.changed(t, fresh)
}

// changed updates another object to this object's content, so that most values differ from the old
// ones.
func (c clusterClaim) changed(t *testing.T, fresh func(string) map[string]any) error {
	other := fmt.Sprintf("o%d", 1+c.Name[1]%5)
	was, err := c.resource.get(t.Context(), "v1", "fleet", other)
	if err != nil {
		return err
	}
	obj := fresh(other)
	obj["metadata"].(map[string]any)["resourceVersion"] = metadataOf(was)["resourceVersion"]
	body, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	answer, err := c.resource.server.do(t.Context(), http.MethodPut, c.resource.path(call{version: "v1", namespace: "fleet", name: other})+"?dryRun=All", body)
	if err != nil {
		return err
	}
	if bytes.Contains(answer.body, []byte("size may not shrink")) {
		return nil // a transition rule, which only this update evaluates
	}
	if got := answer.code < 300; got != (c.Upgrade.Now == "valid") {
		return fmt.Errorf("update from %s: predicted %s, but got %d %s", other, c.Upgrade.Now, answer.code, answer.body)
	}
	return nil
}

func (c clusterClaim) causes(body []byte) error {
	var status struct {
		Details struct {
			Causes []struct{ Reason, Field, Message string }
		}
	}
	if err := json.Unmarshal(body, &status); err != nil {
		return err
	}
	words := func(causes []struct{ Reason, Field, Message string }) (all []string) {
		for _, cause := range causes {
			all = append(all, fmt.Sprintf("%s %s: %s", cause.Reason, cause.Field, cause.Message))
		}
		slices.Sort(all)
		return all
	}
	if diff := cmp.Diff(words(status.Details.Causes), words(c.Causes)); diff != "" {
		return fmt.Errorf("-server +celadon\n%s", diff)
	}
	return nil
}

// clusterExpired compacts etcd after the first page of a list was read, so that the list cannot be
// continued at the same revision.
func (s *Server) clusterExpired(t *testing.T, command string, r *Resource) {
	const objects = 1200
	for j := range objects {
		obj := clusterObject(0, 1)
		metadataOf(obj)["name"] = fmt.Sprintf("many%04d", j)
		clusterStore(t, r, obj)
	}
	target, err := url.Parse(s.host)
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	gone := 0
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(p *httputil.ProxyRequest) { p.SetURL(target) },
		Transport: s.client.Transport,
		ModifyResponse: func(res *http.Response) error {
			if res.StatusCode == http.StatusGone {
				gone++
			}
			return nil
		},
	}
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if token := req.URL.Query().Get("continue"); token != "" {
			once.Do(func() {
				s.compact(t)
				query := req.URL.Query()
				query.Set("continue", outdated(t, token))
				req.URL.RawQuery = query.Encode()
			})
		}
		proxy.ServeHTTP(w, req)
	}))
	defer between.Close()
	out, told, code := celadon(t, command, s.kubeconfig(t, between.URL), "", "check", "--cluster", "-A", "-o", "json", "--summary")
	if want := fmt.Sprintf(`"checked": %d`, objects+50); code == 2 || !strings.Contains(out, want) {
		t.Errorf("exit code %d, want %s: %.500s\n%s", code, want, out, told)
	}
	if t.Logf("%d lists expired", gone); gone != 1 || gone != strings.Count(told, "the list expired after 500 objects: the rest is newer") {
		t.Errorf("%d lists expired, reported:\n%s", gone, told)
	}
}

// outdated changes the revision in a continue token to that of the server's start. etcd has
// compacted it, whereas the watch cache could still serve the token's own revision.
func outdated(t *testing.T, token string) string {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Error(err)
	}
	text = regexp.MustCompile(`"rv":\d+`).ReplaceAll(text, []byte(`"rv":2`))
	return base64.RawURLEncoding.EncodeToString(text)
}

func (s *Server) compact(t *testing.T) {
	t.Helper()
	put, err := s.store.Put(t.Context(), etcdPrefix+"-compacted", "1")
	if err == nil {
		_, err = s.store.Compact(t.Context(), put.Header.Revision)
	}
	if err != nil {
		t.Error(err)
	}
}
