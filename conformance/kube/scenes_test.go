package kube

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/testing/exchange"
)

func documents(t *testing.T, file string) (docs []exchange.Object) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	reader := yamlstream.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return docs
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		converted, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if string(bytes.TrimSpace(converted)) == "null" {
			continue
		}
		doc, err := engine.Decode(converted)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		docs = append(docs, doc)
	}
}

// A group describes requests that have much in common. Request i has the object, old object, user,
// and case at index i of the lists, if present.
type group struct {
	exchange.Request
	Objects []exchange.Object
	Olds    []exchange.Object
	Users   []exchange.User
	// Cases holds fields of spec. The field count is the length of the numbers in the field list.
	Cases []exchange.Object
	// Repeated maps fields of spec to the length of their text.
	Repeated map[string]int
}

// ownScenes returns the scenes in testdata/policies/scenes. Documents of the kinds Request and
// Requests are requests.
func (s *stage) ownScenes() (scenes []*exchange.Scene) {
	s.t.Helper()
	files, err := filepath.Glob("testdata/policies/scenes/*.yaml")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, file := range files {
		scene := &exchange.Scene{Name: strings.TrimSuffix(filepath.Base(file), ".yaml")}
		for _, doc := range documents(s.t, file) {
			if kind := doc["kind"]; kind != "Request" && kind != "Requests" {
				scene.Documents = append(scene.Documents, doc)
				continue
			}
			var g group
			if err := json.Unmarshal([]byte(encoded(doc["spec"])), &g); err != nil {
				s.t.Fatalf("%s: %v", file, err)
			}
			for _, r := range g.requests() {
				s.complete(&r)
				scene.Exchanges = append(scene.Exchanges, exchange.Exchange{Request: r})
			}
		}
		if err := scene.FixNumbers(); err != nil {
			s.t.Fatalf("%s: %v", file, err)
		}
		scenes = append(scenes, scene)
	}
	return scenes
}

func (g *group) requests() (list []exchange.Request) {
	for i := range max(1, len(g.Objects), len(g.Olds), len(g.Users), len(g.Cases)) {
		r := g.Request
		if i < len(g.Objects) {
			r.Object = g.Objects[i]
		}
		if i < len(g.Olds) {
			r.Old = g.Olds[i]
		}
		if i < len(g.Users) {
			r.User = g.Users[i]
		}
		if i < len(g.Cases) || len(g.Repeated) > 0 {
			r.Object = maps.Clone(r.Object)
			old, _ := r.Object["spec"].(exchange.Object)
			spec := exchange.Object{}
			maps.Copy(spec, old)
			if i < len(g.Cases) {
				maps.Copy(spec, g.Cases[i])
			}
			for field, n := range g.Repeated {
				spec[field] = strings.Repeat("x", n)
			}
			if n, ok := spec["count"].(float64); ok {
				numbers := make([]any, int(n))
				for i := range numbers {
					numbers[i] = i
				}
				spec["list"] = numbers
			}
			r.Object["spec"] = spec
		}
		list = append(list, r)
	}
	return list
}

func (s *stage) complete(r *exchange.Request) {
	s.t.Helper()
	of := r.Old
	if of == nil {
		of = r.Object
	}
	if r.Kind == "" {
		r.Kind = str(of, "kind")
	}
	r.APIVersion = cmp.Or(r.APIVersion, str(of, "apiVersion"))
	if r.Resource == "" {
		info, ok := s.kind(r.APIVersion, r.Kind)
		if !ok {
			s.t.Fatalf("no resource of %s %s", r.APIVersion, r.Kind)
		}
		r.Resource = info.plural
	}
	if r.Operation != policy.OperationConnect {
		r.Name = cmp.Or(r.Name, str(of, "metadata", "name"))
		r.Namespace = cmp.Or(r.Namespace, str(of, "metadata", "namespace"))
	}
	if r.Resource == "namespaces" {
		r.Namespace = r.Name
	}
	r.User.Name = cmp.Or(r.User.Name, "ann")
}
