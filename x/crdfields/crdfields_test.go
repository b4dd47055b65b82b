package crdfields_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/celadon-cel/celadon/x/crdfields"
)

func columns(t *testing.T, defs ...apiextensionsv1.CustomResourceColumnDefinition) *crdfields.Columns {
	t.Helper()
	c, err := crdfields.ColumnsOf(&apiextensionsv1.CustomResourceDefinitionVersion{AdditionalPrinterColumns: defs})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// TestMadeColumnsOnServer in conformance has many more cells.
func TestCells(t *testing.T) {
	t.Parallel()
	obj := map[string]any{
		"metadata": map[string]any{"creationTimestamp": "2026-01-31T11:59:00Z"},
		"spec":     map[string]any{"text": "a", "number": 1.5, "whole": int64(7), "flag": true, "none": nil, "list": []any{"x", int64(1)}, "soon": "2026-02-01T00:00:00Z"},
	}
	var defs []apiextensionsv1.CustomResourceColumnDefinition
	var want []any
	for _, c := range []struct {
		kind, path string
		want       any
	}{
		{"string", ".spec.text", "a"}, {"string", ".spec.number", "1.5"}, {"string", ".spec.list", `["x",1]`}, {"string", ".spec.missing", nil}, {"string", ".spec.list[0]", "x"},
		{"integer", ".spec.whole", int64(7)}, {"integer", ".spec.number", int64(1)}, {"integer", ".spec.text", nil},
		{"number", ".spec.whole", 7.0}, {"boolean", ".spec.flag", true}, {"boolean", ".spec.text", nil},
		{"date", ".metadata.creationTimestamp", "60s"}, {"date", ".spec.text", "<invalid>"}, {"date", ".spec.whole", nil}, {"date", ".spec.soon", "<invalid>"},
		{"integer", ".spec.none", nil}, {"string", ".spec.text.deeper", nil},
	} {
		defs, want = append(defs, apiextensionsv1.CustomResourceColumnDefinition{Name: c.path, Type: c.kind, JSONPath: c.path}), append(want, c.want)
	}
	if diff := cmp.Diff(want, columns(t, defs...).Cells(obj, now)); diff != "" {
		t.Error(diff)
	}
	age := columns(t)
	if got := age.Cells(obj, now); got[0] != "60s" || age.Names()[0] != "Age" {
		t.Errorf("without columns: %v of %v", got, age.Names())
	}
}

func TestHostilePaths(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		".spec..a..b", "....", ".a[0,0,0][0,0,0]", `.a[?(@.b[?(@.c)])]`, `.a..b[?(@.c==1)]`, ".a}{.b", ".a}{range .b[*]}{.c}{end", "}", ".a[", "", "{}{}", ".a[(@.length-1)]",
		".a[0,0,0,0,0,0,0,0,0][*]", strings.Repeat("$", 1<<22),
	} {
		version := &apiextensionsv1.CustomResourceDefinitionVersion{
			AdditionalPrinterColumns: []apiextensionsv1.CustomResourceColumnDefinition{{Name: "A", Type: "string", JSONPath: ".a"}, {Name: "B", Type: "string", JSONPath: path}},
			SelectableFields:         []apiextensionsv1.SelectableField{{JSONPath: path}},
		}
		c, err := crdfields.ColumnsOf(version)
		_, selectErr := crdfields.SelectableOf(version, true)
		if path == "" { // the whole object
			continue
		}
		if err == nil || selectErr == nil || len(c.Names()) != 1 {
			t.Errorf("%.99q is followed: %v, %v", path, err, selectErr)
		}
	}
}

// The number of fields is limited, because each field can be the whole object.
func TestManyFields(t *testing.T) {
	t.Parallel()
	v := &apiextensionsv1.CustomResourceDefinitionVersion{}
	for i := range 65 {
		path := fmt.Sprint(".spec.a", i)
		v.SelectableFields = append(v.SelectableFields, apiextensionsv1.SelectableField{JSONPath: path})
		v.AdditionalPrinterColumns = append(v.AdditionalPrinterColumns, apiextensionsv1.CustomResourceColumnDefinition{Name: path, Type: "string", JSONPath: path})
	}
	if c, err := crdfields.ColumnsOf(v); err == nil || len(c.Names()) != 64 {
		t.Errorf("%d columns: %v", len(c.Names()), err)
	}
	v.SelectableFields = v.SelectableFields[:9]
	if _, err := crdfields.SelectableOf(v, true); err == nil {
		t.Error("nine fields are selectable")
	}
	v.SelectableFields = v.SelectableFields[:8]
	if _, err := crdfields.SelectableOf(v, true); err != nil {
		t.Error(err)
	}
}

func TestDeepObject(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	var v any = "x"
	for range 9000 {
		v = map[string]any{"a": v}
	}
	c := columns(t, apiextensionsv1.CustomResourceColumnDefinition{Name: "A", Type: "string", JSONPath: ".spec..b"})
	if got := c.Cells(map[string]any{"spec": v}, now); got[0] != nil {
		t.Errorf("got %v", got)
	}
}

func TestSelectable(t *testing.T) {
	t.Parallel()
	s, err := crdfields.SelectableOf(&apiextensionsv1.CustomResourceDefinitionVersion{
		SelectableFields: []apiextensionsv1.SelectableField{{JSONPath: ".spec.color"}, {JSONPath: ".spec.size"}},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	obj := map[string]any{"spec": map[string]any{"size": int64(3), "color": nil}}
	values, err := s.Values(obj)
	if diff := cmp.Diff(fields.Set{"spec.color": "", "spec.size": "3"}, values); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for text, want := range map[string]string{
		"spec.size=3": "true", "spec.size!=3": "false", "spec.color=": "true", "metadata.name=a": "true",
		"metadata.namespace=d": "field label not supported: metadata.namespace", "spec.x=1": "field label not supported: spec.x",
	} {
		selector, err := fields.ParseSelector(text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := s.Check(selector); err != nil {
			got = err.Error()
		} else if chosen, err := s.Matches(selector, obj, "", "a"); err == nil {
			got = fmt.Sprint(chosen)
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	several, err := crdfields.SelectableOf(&apiextensionsv1.CustomResourceDefinitionVersion{SelectableFields: []apiextensionsv1.SelectableField{{JSONPath: ".a[*]"}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := several.Values(map[string]any{"a": []any{"x", "y"}}); err == nil || !strings.Contains(err.Error(), "more than one value") {
		t.Errorf("two values: %v", err)
	}
}

func FuzzPath(f *testing.F) {
	for _, path := range []string{".spec.a", ".spec..a", ".spec.list[0].a", `.spec.list[?(@.a=="x")].b`, ".spec['a','b']", ".spec.list[-1:]", ".*", ".spec.list[0:5:2]", "", "$", "@", "'a'", ".a}{.b"} {
		f.Add(path)
	}
	obj := map[string]any{"spec": map[string]any{"a": "x", "b": nil, "list": []any{map[string]any{"a": "x", "b": int64(1)}, "y", nil, []any{1.5}}}}
	f.Fuzz(func(t *testing.T, path string) {
		v := &apiextensionsv1.CustomResourceDefinitionVersion{SelectableFields: []apiextensionsv1.SelectableField{{JSONPath: path}}}
		for _, kind := range []string{"string", "integer", "number", "boolean", "date", "thing"} {
			v.AdditionalPrinterColumns = append(v.AdditionalPrinterColumns, apiextensionsv1.CustomResourceColumnDefinition{Name: "A", Type: kind, JSONPath: path})
		}
		if c, err := crdfields.ColumnsOf(v); err == nil && len(c.Cells(obj, now)) != len(c.Names()) {
			t.Error("cells and columns differ in number")
		}
		if s, err := crdfields.SelectableOf(v, true); err == nil {
			_, _ = s.Values(obj)
		}
	})
}
