package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

const (
	openapiAtOnce = 40
	// openapiPatience is the maximum wait for a document. The server rebuilds its documents
	// whenever a CRD is added or removed.
	openapiPatience = 2 * time.Minute
)

// TestOpenAPI compares the documents of celadon-openapi with those that a real server publishes for
// the CRDs: all of OpenAPI v3, and the parts of v2 that the CRDs contribute.
func TestOpenAPI(t *testing.T) {
	command := filepath.Join(t.TempDir(), "celadon-openapi")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", command, "./cmd/celadon/openapi/celadon-openapi")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := startServer(t)
	report := NewReport("openapi")
	for _, round := range openapiRounds(t) {
		s.holdOpenAPI(t, command, round, report)
	}
	finish(t, report)
}

// openapiRounds groups CRDs into rounds that a server can have at the same time. CRDs of one group
// are in the same round, because they share documents. CRDs of the same name are in different
// rounds.
func openapiRounds(t *testing.T) (rounds [][]*crdFile) {
	t.Helper()
	var files []*crdFile
	for _, path := range []string{"examples/crontab/crd.yaml", "x/publish/testdata/everything.yaml"} {
		crd, err := ReadCRD(filepath.Join("..", path))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, &crdFile{id: path, crd: crd.Definition})
	}
	if len(corpus.Named(t)) > 0 {
		sizes := vetSizes{crds: 20, ofProject: 1}
		if level.Long() {
			sizes = vetFull
		}
		files = append(files, crdFiles(t, sizes)...)
	}
	for i := 0; len(files) > 0; i++ { // round i has the i-th CRD of each name
		var again []*crdFile
		groups, names := map[string][]*crdFile{}, map[string]bool{}
		for _, f := range files {
			if names[f.crd.Name] {
				again = append(again, f)
				continue
			}
			names[f.crd.Name] = true
			groups[f.crd.Spec.Group] = append(groups[f.crd.Spec.Group], f)
		}
		var round []*crdFile
		for _, group := range sortedGroups(groups) {
			if len(round)+len(group) > openapiAtOnce && len(round) > 0 {
				rounds, round = append(rounds, round), nil
			}
			round = append(round, group...)
		}
		rounds, files = append(rounds, round), again
	}
	return rounds
}

func sortedGroups(groups map[string][]*crdFile) (all [][]*crdFile) {
	for _, group := range groups {
		all = append(all, group)
	}
	slices.SortFunc(all, func(a, b []*crdFile) int { return strings.Compare(a[0].crd.Spec.Group, b[0].crd.Spec.Group) })
	return all
}

// holdOpenAPI serves CRDs and compares all documents.
func (s *Server) holdOpenAPI(t *testing.T, command string, round []*crdFile, report *Report) {
	t.Helper()
	var mu sync.Mutex
	var served []*Resource
	each(crdsAtOnce, round, func(f *crdFile) {
		crd := f.crd.DeepCopy()
		if c := crd.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter {
			crd.Spec.Conversion = nil
		}
		r, err := s.Serve(t.Context(), crd)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			report.Note("CRDs that the server refuses")
			return
		}
		report.Note("CRDs")
		served = append(served, r)
	})
	defer each(crdsAtOnce, served, func(r *Resource) { remove(t, r) })
	v3, v2 := openapiOf(t, command, served)
	for path, ours := range v3 {
		id := round[0].crd.Spec.Group + " and others: /openapi/v3/" + path
		s.holdDocument(t.Context(), id, "/openapi/v3/"+path, ours, func(theirs any) any { return theirs }, report)
	}
	withoutOwnKinds(v2)
	s.holdDocument(t.Context(), fmt.Sprint("/openapi/v2 of ", round[0].id, " and others"), "/openapi/v2", v2, func(theirs any) any {
		withoutOwnKinds(theirs)
		return ofCRDs(theirs, v2, served)
	}, report)
}

// holdDocument waits until the server's document equals ours, and reports the difference if it does
// not within openapiPatience.
func (s *Server) holdDocument(ctx context.Context, id, path string, ours any, part func(any) any, report *Report) {
	difference := ""
	for end := time.Now().Add(openapiPatience); ; time.Sleep(time.Second) {
		answer, err := s.do(ctx, http.MethodGet, path, nil)
		if err != nil {
			report.Error(id, err)
			return
		}
		var theirs any
		if err := json.Unmarshal(answer.body, &theirs); err == nil {
			difference = cmp.Diff(part(theirs), ours)
		} else {
			difference = err.Error()
		}
		if difference == "" || time.Now().After(end) {
			break
		}
	}
	if difference == "" {
		report.Add(id)
		return
	}
	report.Add(id, Difference{"the server (-) and celadon-openapi (+) differ", shorten(difference, 4000)})
}

// openapiOf returns the documents that the command prints for the served CRDs.
func openapiOf(t *testing.T, command string, served []*Resource) (v3 map[string]any, v2 any) {
	t.Helper()
	dir := t.TempDir()
	var items []any
	for _, r := range served {
		crd := r.crd.DeepCopy()
		crd.APIVersion, crd.Kind = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
		items = append(items, crd)
	}
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--out", dir}, {"--out", dir, "--v2"}} {
		cmd := exec.CommandContext(t.Context(), command, append([]string{"--crd", "-"}, args...)...)
		cmd.Stdin = bytes.NewReader(list)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	v3 = map[string]any{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var document any
		if err := json.Unmarshal(data, &document); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), "_openapi.json")
		if name == "swagger.json" {
			v2 = document
		} else {
			v3[strings.ReplaceAll(name, "__", "/")] = document
		}
	}
	return v3, v2
}

// ofCRDs returns the part of the server's v2 document that the CRDs contribute: the paths and
// definitions of their groups, and the definitions that ours has too. Other fields, such as the
// title, are taken from ours.
func ofCRDs(theirs, ours any, served []*Resource) any {
	their, our := theirs.(map[string]any), ours.(map[string]any)
	out := map[string]any{}
	for key, value := range our {
		out[key] = value // fields such as the title describe the server
	}
	for _, section := range []string{"paths", "definitions", "parameters"} {
		known, _ := our[section].(map[string]any)
		kept := map[string]any{}
		all, _ := their[section].(map[string]any)
		for name, value := range all {
			if _, ok := known[name]; ok || ofGroup(name, served) {
				kept[name] = value
			}
		}
		if len(kept)+len(known) > 0 {
			out[section] = kept
		}
	}
	return out
}

// withoutOwnKinds removes the list of groups from the server's own types, that is, from
// DeleteOptions. It includes the server's own group.
func withoutOwnKinds(document any) {
	definitions, _ := document.(map[string]any)["definitions"].(map[string]any)
	for name, definition := range definitions {
		if strings.HasPrefix(name, "io.k8s.apimachinery.") {
			delete(definition.(map[string]any), "x-kubernetes-group-version-kind")
		}
	}
}

// ofGroup reports whether a path or definition belongs to the group of a served CRD.
func ofGroup(name string, served []*Resource) bool {
	for _, r := range served {
		parts := strings.Split(r.crd.Spec.Group, ".")
		slices.Reverse(parts)
		if strings.HasPrefix(name, "/apis/"+r.crd.Spec.Group+"/") || strings.HasPrefix(name, strings.Join(parts, ".")+".v") {
			return true
		}
	}
	return false
}
