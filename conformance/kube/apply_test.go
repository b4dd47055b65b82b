package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/internal/testing/level"
)

// How it works: each sequence creates an object with kubectl, lets a controller change it, and writes a new
// manifest with kubectl apply, kubectl apply --server-side, or kubectl replace. A proxy records the answer of
// the server to that write. celadon check then validates the same writes, from the stored objects and the
// manifests.

const applyCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gears.apply.example.com}
spec:
  group: apply.example.com
  scope: Namespaced
  names: {kind: Gear, plural: gears, singular: gear, listKind: GearList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
          spec:
            type: object
            x-kubernetes-validations:
            - {rule: "!has(oldSelf.id) || has(self.id)", message: id cannot be removed}
            properties:
              id: {type: string, maxLength: 9}
              fixed: {type: integer, x-kubernetes-validations: [{rule: self == oldSelf, message: is immutable}]}
              mode: {type: string, default: fast, enum: [fast, slow, "off"]}
              note: {type: string, nullable: true}
              size: {type: integer, maximum: 5}
              labels: {type: object, additionalProperties: {type: string, maxLength: 3}}
              atom: {type: object, x-kubernetes-map-type: atomic, properties: {a: {type: string}, b: {type: string}}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              words: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              plain: {type: array, items: {type: string}}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, kind: {type: string, default: bolt}, count: {type: integer, minimum: 0}, tags: {type: array, items: {type: string}}}
`

type applySequence struct {
	name, kind, path string // kind is client, server, force, or replace
	created          string // client or server
	first, change    map[string]any
	old, next        map[string]any
	answer           answer // to the write
	sent             bool
}

// A recorder is a proxy of the API server that records the answers to writes. If kubectl also migrates the managers,
// the last accepted request counts.
type recorder struct {
	mu      sync.Mutex
	answers map[string]answer // by name
}

func (r *recorder) record(resp *http.Response) error {
	if resp.Request.Method == http.MethodGet {
		return nil
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	defer r.mu.Unlock()
	name := path.Base(resp.Request.URL.Path)
	a := answer{Code: resp.StatusCode, Warnings: resp.Header.Values("Warning")}
	err = json.Unmarshal(body, &a.Body)
	if _, known := r.answers[name]; !known || a.Code < 300 {
		r.answers[name] = a
	}
	return err
}

// recorded makes kubectl send its requests through a recorder.
func recorded(t *testing.T, p *plane) *recorder {
	t.Helper()
	target, err := url.Parse(p.server)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{answers: map[string]answer{}}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(target)
			pr.Out.Header.Set("Authorization", "Bearer "+adminToken)
			pr.Out.Header.Set("Accept-Encoding", "identity")
		},
		Transport: p.client.Transport, ModifyResponse: r.record,
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	p.config = p.write("proxied", kubeconfig(server.URL, adminToken))
	return r
}

var applyArguments = map[string][]string{
	"client": {"apply"}, "server": {"apply", "--server-side"}, "force": {"apply", "--server-side", "--force-conflicts"}, "replace": {"replace"},
}

func TestApply(t *testing.T) {
	p := start(t)
	p.define(p.write("gears.yaml", applyCRD), "gears", "/apis/apply.example.com/v1/namespaces/default/gears")
	n := 60
	if level.Long() {
		n = 600
	}
	all := make([]*applySequence, n)
	for i := range all {
		all[i] = newSequence(i)
	}
	of := func(kind func(*applySequence) string, want string) []*applySequence {
		return slices.DeleteFunc(slices.Clone(all), func(s *applySequence) bool { return kind(s) != want })
	}
	r := recorded(t, p)
	for _, kind := range []string{"client", "server"} {
		seqs := of(func(s *applySequence) string { return s.created }, kind)
		p.kubectlEach("created-"+kind, kind, seqs, func(s *applySequence) any { return s.first })
	}
	for _, s := range all {
		if s.change != nil { // which may be rejected
			p.do(http.MethodPatch, s.path+"?fieldManager=controller&fieldValidation=Ignore", text(t, s.change))
		}
		if s.old = p.do(http.MethodGet, s.path, "").Body; s.old["kind"] == "Status" {
			t.Fatalf("%s was not created: %v", s.name, r.answers[s.name])
		}
	}
	clear(r.answers)
	for kind := range applyArguments {
		seqs := of(func(s *applySequence) string { return s.kind }, kind)
		p.kubectlEach("written-"+kind, kind, seqs, func(s *applySequence) any { return s.next })
		for _, s := range seqs {
			s.answer, s.sent = r.answers[s.name]
		}
		compareSequences(t, p, kind, seqs)
	}
}

// kubectlEach ignores errors, because the server rejects some objects.
func (p *plane) kubectlEach(dir, kind string, all []*applySequence, object func(*applySequence) any) {
	p.t.Helper()
	if err := os.Mkdir(p.path(dir), 0o700); err != nil {
		p.t.Fatal(err)
	}
	for _, s := range all {
		p.write(dir+"/"+s.name+".json", text(p.t, object(s)))
	}
	p.kubectl("", append(slices.Clone(applyArguments[kind]), "-f", p.path(dir))...)
}

func newSequence(i int) *applySequence {
	rng := rand.New(rand.NewPCG(61, uint64(i)))
	s := &applySequence{name: fmt.Sprint("seq-", i), kind: []string{"client", "server", "force", "replace"}[i%4], created: "client"}
	generate, path := gear, "/apis/apply.example.com/v1/namespaces/default/gears/"
	if i/4%2 == 1 {
		generate, path = deployment, "/apis/apps/v1/namespaces/default/deployments/"
	}
	s.path = path + s.name
	if s.first = generate(rng, s.name, nil); (s.kind == "server" || s.kind == "force") && rng.IntN(2) == 0 {
		s.created = "server"
	}
	if rng.IntN(5) > 0 {
		s.change = generate(rng, s.name, nil)
		delete(s.change, "metadata")
	}
	s.next = generate(rng, s.name, s.first)
	return s
}

func compareSequences(t *testing.T, p *plane, kind string, all []*applySequence) {
	t.Helper()
	olds, manifests := p.path(kind+"-old"), p.path("written-"+kind)
	if err := os.Mkdir(olds, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		p.write(kind+"-old/"+s.name+".json", text(t, s.old))
	}
	args := []string{"check", "--crd", p.path("gears.yaml"), "--old", olds, "-o", "jsonl", "--persisted", "--apply"}
	if kind == "force" {
		args = append(args, "server", "--force-conflicts")
	} else {
		args = append(args, kind)
	}
	out, _ := p.celadon("", append(args, manifests)...)
	decided := map[string]map[string]any{}
	for line := range strings.Lines(out) {
		var l struct{ Object map[string]any }
		if json.Unmarshal([]byte(line), &l) == nil && l.Object != nil {
			decided[str(l.Object, "name")] = l.Object
		}
	}
	for _, s := range all {
		got := decided[s.name]
		if got == nil {
			t.Fatalf("%s %s: not decided: %s", kind, s.name, out)
		}
		if diff := cmp.Diff(s.onServer(), byCeladon(got)); diff != "" {
			t.Errorf("%s %s (-server +celadon): %s\nold: %s\nnew: %s", kind, s.name, diff, text(t, s.old), text(t, s.next))
		}
	}
}

type outcome struct {
	Verdict, Message string
	Causes           []string
	Object           map[string]any
}

func (s *applySequence) onServer() outcome {
	o := outcome{Verdict: "valid"}
	switch {
	case !s.sent:
		o.Object = settledObject(s.old)
	case s.answer.Code < 300:
		o.Object = settledObject(s.answer.Body)
	default:
		o.Verdict, o.Message, o.Causes = "invalid", s.answer.message(), s.answer.causes()
	}
	slices.Sort(o.Causes)
	return o
}

func byCeladon(report map[string]any) outcome {
	o := outcome{Verdict: str(report, "verdict")}
	if object, ok := report["persisted"].(map[string]any); ok {
		o.Object = settledObject(object)
	}
	if o.Verdict == "valid" {
		return o
	}
	o.Message = str(report, "status", "message")
	causes, _ := report["causes"].([]any)
	for _, c := range causes {
		c := c.(map[string]any)
		o.Causes = append(o.Causes, fmt.Sprint(c["reason"], " ", c["field"], " ", c["message"]))
	}
	slices.Sort(o.Causes)
	return o
}

func settledObject(object map[string]any) map[string]any {
	object = maps.Clone(object)
	meta := maps.Clone(object["metadata"].(map[string]any))
	for _, name := range []string{"managedFields", "resourceVersion", "uid", "creationTimestamp"} {
		delete(meta, name)
	}
	object["metadata"] = meta
	return object
}

// gear returns a random Gear, or a change of the given Gear.
func gear(rng *rand.Rand, name string, of map[string]any) map[string]any {
	spec := map[string]any{}
	if of != nil {
		spec = maps.Clone(of["spec"].(map[string]any))
	}
	pick := func(values ...any) any { return values[rng.IntN(len(values))] }
	part := func(name string) map[string]any {
		p := map[string]any{"name": name}
		if rng.IntN(2) == 0 {
			p["count"] = rng.IntN(3)
		}
		if rng.IntN(3) == 0 {
			p["kind"] = pick("nut", "bolt")
		}
		if rng.IntN(3) == 0 {
			p["tags"] = []any{pick("x", "y"), "z"}
		}
		return p
	}
	fields := map[string]func() any{
		"id":     func() any { return pick("a", "b") },
		"fixed":  func() any { return 1 },
		"mode":   func() any { return pick("fast", "slow", "off") },
		"note":   func() any { return pick("n", "m", nil) },
		"size":   func() any { return rng.IntN(6) },
		"labels": func() any { return map[string]any{pick("a", "b", "c").(string): pick("1", "2"), "k": "v"} },
		"atom":   func() any { return map[string]any{pick("a", "b").(string): pick("1", "2")} },
		"free": func() any {
			return map[string]any{pick("a", "b").(string): pick("1", 2, map[string]any{"c": 1.5}, []any{1, "x"})}
		},
		"words": func() any { return pick([]any{"a"}, []any{"a", "b"}, []any{"c", "a"}, []any{}) },
		"plain": func() any { return pick([]any{"a"}, []any{"a", "b"}, []any{"b", "a"}) },
		"parts": func() any {
			return pick([]any{part("a")}, []any{part("a"), part("b")}, []any{part("b"), part("a")}, []any{part("c"), part("a")})
		},
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		switch rng.IntN(5) {
		case 0, 1:
			spec[field] = fields[field]()
		case 2:
			delete(spec, field)
		}
	}
	if of != nil { // mistakes
		switch rng.IntN(16) {
		case 0:
			spec["sise"] = 1
		case 1:
			spec["size"] = 9
		case 2:
			spec["fixed"] = 2
		case 3:
			spec["words"] = []any{"a", "a"}
		case 4:
			spec["parts"] = []any{map[string]any{"name": "a", "count": "x"}}
		}
	}
	meta := map[string]any{"name": name, "namespace": "default"}
	if rng.IntN(2) == 0 {
		meta["labels"] = map[string]any{"l": pick("1", "2")}
	}
	return map[string]any{"apiVersion": "apply.example.com/v1", "kind": "Gear", "metadata": meta, "spec": spec}
}

func deployment(rng *rand.Rand, name string, of map[string]any) map[string]any {
	pick := func(values ...any) any { return values[rng.IntN(len(values))] }
	container := func(name string) map[string]any {
		c := map[string]any{"name": name, "image": pick("nginx:1", "nginx:2")}
		if rng.IntN(2) == 0 {
			c["env"] = pick([]any{map[string]any{"name": "A", "value": pick("1", "2")}},
				[]any{map[string]any{"name": "B", "value": "1"}, map[string]any{"name": "A", "value": "1"}}, nil)
		}
		if rng.IntN(2) == 0 {
			c["ports"] = pick([]any{map[string]any{"containerPort": 80, "protocol": "TCP"}}, []any{map[string]any{"containerPort": 81, "name": "web", "protocol": "TCP"}, map[string]any{"containerPort": 80, "protocol": "TCP"}})
		}
		if rng.IntN(3) == 0 {
			c["args"] = pick([]any{"a"}, []any{"b", "a"})
		}
		if rng.IntN(3) == 0 {
			c["resources"] = map[string]any{"limits": map[string]any{pick("cpu", "memory").(string): pick("1", "2")}}
		}
		return c
	}
	template := map[string]any{
		"containers": pick([]any{container("a")}, []any{container("a"), container("b")}, []any{container("b"), container("a")}),
	}
	if rng.IntN(3) == 0 {
		template["nodeSelector"] = map[string]any{pick("x", "y").(string): "1"}
	}
	if rng.IntN(3) == 0 {
		template["tolerations"] = []any{map[string]any{"key": pick("x", "y"), "operator": "Exists"}}
	}
	if rng.IntN(4) == 0 {
		template["terminationGracePeriodSeconds"] = rng.IntN(50)
	}
	spec := map[string]any{
		"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
		"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": template},
	}
	if rng.IntN(2) == 0 {
		spec["replicas"] = rng.IntN(4)
	}
	if rng.IntN(4) == 0 {
		spec["strategy"] = pick(map[string]any{"type": "Recreate"}, map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": 1}})
	}
	if of != nil {
		switch rng.IntN(10) {
		case 0:
			spec["selector"] = map[string]any{"matchLabels": map[string]any{"app": "web", "new": "x"}}
		case 1:
			spec["replica"] = 1
		case 2:
			spec["replicas"] = -1
		}
	}
	return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name, "namespace": "default"}, "spec": spec}
}
