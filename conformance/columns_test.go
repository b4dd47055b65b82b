package conformance

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/x/crdfields"
)

func TestMadeColumnsOnServer(t *testing.T) {
	report := NewReport("made columns")
	startServer(t).SweepColumns(t.Context(), []*Group{madeColumns(t)}, report)
	finish(t, report)
}

func TestColumnsOnServer(t *testing.T) {
	read := readCorpora(t)
	all := groups(read.Cases)
	if !level.Long() {
		all = sample(all, 1, 12)
	}
	report := NewReport("columns")
	startServer(t).SweepColumns(t.Context(), all, report)
	finish(t, report)
}

func madeColumns(t *testing.T) *Group {
	t.Helper()
	crd, err := parseCRD([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: odds.columns.test}
spec:
  group: columns.test
  scope: Namespaced
  names: {plural: odds, singular: odd, kind: Odd, listKind: OddList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    additionalPrinterColumns:
    - {name: Text, type: string, jsonPath: .spec.v}
    - {name: Whole, type: integer, jsonPath: .spec.v}
    - {name: Number, type: number, jsonPath: .spec.v}
    - {name: Flag, type: boolean, jsonPath: .spec.v}
    - {name: When, type: date, jsonPath: .spec.v}
    - {name: First, type: string, jsonPath: '.spec.list[0].a'}
    - {name: Last, type: string, jsonPath: '.spec.list[-1:].a'}
    - {name: All, type: string, jsonPath: '.spec.list[*].a'}
    - {name: Chosen, type: string, jsonPath: '.spec.list[?(@.a=="y")].b'}
    - {name: Deep, type: string, jsonPath: '.spec..b'}
    - {name: Dotted, type: string, jsonPath: '.metadata.annotations.a\.b'}
    - {name: Quoted, type: string, jsonPath: ".metadata.annotations['a.b']"}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`))
	if err != nil {
		t.Fatal(err)
	}
	g := &Group{CRD: &CRD{Path: "columns", Definition: crd}}
	list := []any{map[string]any{"a": "x", "b": int64(1)}, map[string]any{"a": "y", "b": map[string]any{"b": "z"}}}
	for i, v := range []any{
		"text", "", "two\nlines", "2020-01-31T12:00:00Z", "2020-01-31", "0001-01-01T00:00:00Z", int64(0), int64(7), int64(-1) << 60, 1.5, 1e30, -2.0, true, false, nil,
		[]any{}, []any{"a", nil, int64(1)}, map[string]any{}, map[string]any{"k": []any{1.5, "x<y"}}, "☃ \u202e", "null", "12", "true",
	} {
		spec := map[string]any{"v": v}
		if i%2 == 0 {
			spec["list"] = list[:1+i%4/2]
		}
		g.Cases = append(g.Cases, &Case{ID: fmt.Sprintf("columns/%d", i), Project: "columns", CRD: g.CRD, Version: "v1", Object: map[string]any{
			"apiVersion": "columns.test/v1", "kind": "Odd", "spec": spec,
			"metadata": map[string]any{"name": fmt.Sprintf("odd-%d", i), "annotations": map[string]any{"a.b": fmt.Sprint("c", i)}},
		}})
	}
	return g
}

func TestFieldSelectorsOnServer(t *testing.T) {
	s := startServer(t)
	crd, err := parseCRD([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shirts.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: shirts, singular: shirt, kind: Shirt, listKind: ShirtList}
  versions:
  - name: v1
    served: true
    storage: true
    selectableFields: [{jsonPath: .spec.color}, {jsonPath: .spec.size}, {jsonPath: .spec.worn}]
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {color: {type: string, default: blue}, size: {type: integer}, worn: {type: boolean}, note: {type: string}}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Serve(t.Context(), crd)
	if err != nil {
		t.Fatal(err)
	}
	var stored []map[string]any
	for name, spec := range map[string]map[string]any{
		"default": {}, "blue": {"color": "blue", "size": int64(1)}, "red": {"color": "red", "worn": true}, "odd": {"color": "a,b=c\\", "size": int64(-7), "worn": false},
	} {
		object := map[string]any{"apiVersion": "stable.example.com/v1", "kind": "Shirt", "metadata": map[string]any{"name": name, "namespace": "default"}, "spec": spec}
		if err := r.put(t.Context(), "default", name, object); err != nil {
			t.Fatal(err)
		}
		kept, err := r.get(t.Context(), "v1", "default", name)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, kept)
	}
	selectable, err := crdfields.SelectableOf(&crd.Spec.Versions[0], true)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"spec.color=blue", "spec.color==red", "spec.color!=blue", "spec.size=1", "spec.size=-7", "spec.size=", "spec.worn=true", "spec.worn!=true", "spec.worn=false",
		"metadata.name=red", "metadata.namespace=default,metadata.name!=red", "metadata.namespace=other", `spec.color=a\,b\=c\\`,
		"spec.note=x", "spec.color.x=1", "metadata.labels=a", "status=x", ".spec.color=blue", "spec.color=blue,spec.nothing=1",
	} {
		want, wantErr := r.Selected(t.Context(), "v1", "default", url.QueryEscape(text))
		got, gotErr := ourSelection(selectable, text, stored)
		ourText, _, _ := strings.Cut(fmt.Sprint(gotErr), ": want ") // the server does not name the fields
		if !slices.Equal(want, got) || fmt.Sprint(wantErr) != ourText {
			t.Errorf("%s: got %v (%v), want %v (%v)", text, got, gotErr, want, wantErr)
		}
	}
}

func ourSelection(s *crdfields.Selectable, text string, objects []map[string]any) ([]string, error) {
	selector, err := fields.ParseSelector(text)
	if err == nil {
		err = s.Check(selector)
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, object := range objects {
		matches, err := s.Matches(selector, object, "default", nameOf(object))
		if err != nil {
			return nil, err
		}
		if matches {
			names = append(names, nameOf(object))
		}
	}
	slices.Sort(names)
	return names, nil
}
