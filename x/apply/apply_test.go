package apply_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/cputime"
	"github.com/celadon-cel/celadon/x/apply"
)

func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object, err := engine.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func annotated(name, value string) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{name: value}}}
}

func managedBy(entries ...any) map[string]any {
	return map[string]any{"metadata": map[string]any{"managedFields": entries}}
}

func TestChoose(t *testing.T) {
	const options, flux = "argocd.argoproj.io/sync-options", "kustomize.toolkit.fluxcd.io/"
	applied := annotated(apply.LastApplied, "{}")
	entry := func(manager, operation string) any { return map[string]any{"manager": manager, "operation": operation} }
	for _, test := range []struct {
		object, old map[string]any
		want        apply.Write
	}{
		{nil, nil, apply.Write{Kind: apply.Replace, Manager: "kubectl", Unknown: true}},
		{nil, applied, apply.Write{Kind: apply.Client, Manager: "kubectl"}},
		{nil, managedBy(entry("x", "Update")), apply.Write{Kind: apply.Server, Manager: "kubectl"}},
		{nil, managedBy(entry("argocd-controller", "Apply")), apply.Write{Kind: apply.Server, Manager: "argocd-controller", Force: true}},
		{nil, managedBy(entry("kustomize-controller", "Update"), 1), apply.Write{Kind: apply.Server, Manager: "kubectl"}},
		{nil, managedBy(entry("kustomize-controller", "Apply")), apply.Write{Kind: apply.Server, Manager: "kustomize-controller", Force: true}},
		{annotated(options, "Replace=true, ServerSideApply=true"), applied, apply.Write{Kind: apply.Replace, Manager: "argocd-controller", Force: true}},
		{annotated(options, "ServerSideApply=true"), applied, apply.Write{Kind: apply.Server, Manager: "argocd-controller", Force: true}},
		{annotated(options, "Force=true"), applied, apply.Write{Kind: apply.Client, Recreate: true}},
		{annotated(options, "Prune=false"), applied, apply.Write{Kind: apply.Client, Manager: "kubectl"}},
		{annotated(flux+"ssa", "IfNotPresent"), applied, apply.Write{Kind: apply.None, Manager: "kustomize-controller", Force: true}},
		{annotated(flux+"force", "Enabled"), applied, apply.Write{Kind: apply.Server, Manager: "kustomize-controller", Force: true, Recreate: true}},
	} {
		if got := apply.Choose(test.object, test.old); got != test.want {
			t.Errorf("%v, %v: got %+v, want %+v", test.object, test.old, got, test.want)
		}
	}
}

const live = `
apiVersion: example.com/v1
kind: Gear
metadata: {name: a, namespace: default, annotations: {kubectl.kubernetes.io/last-applied-configuration: %q}}
spec: {size: 1, other: x}
`

const next = `
apiVersion: example.com/v1
kind: Gear
metadata: {name: a, namespace: default}
spec: {size: 2}
`

func TestPatch(t *testing.T) {
	const fails = "kubectl apply cannot compute the patch: "
	for applied, want := range map[string]string{
		`{"spec":{"size":1,"other":"x"}}`:    `"spec":{"other":null,"size":2}`,
		`{"spec":{"size":1}}`:                `"spec":{"size":2}`,
		``:                                   `"spec":{"size":2}`,
		`{`:                                  fails + "Invalid JSON Document",
		`[]`:                                 fails,
		`"x"`:                                fails,
		`{"kind":"Other","spec":7}`:          `"spec":{"size":2}`,
		`{"metadata":{"name":"b"},"more":1}`: `"more":null`,
		strings.Repeat(`{"a":`, 9_000):       fails,
		`{"a":"` + strings.Repeat("x", 1<<20) + `"}`:            `{"a":null`,
		strings.Repeat(`[`, 9_000) + strings.Repeat(`]`, 9_000): fails,
	} {
		var patch []byte
		var err error
		took := cputime.Call(func() { patch, err = apply.Patch(decode(t, fmt.Sprintf(live, applied)), decode(t, next), nil) })
		got := string(patch)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%.40s: got %.300s, want %s", applied, got, want)
		}
		if took > 5*time.Second {
			t.Errorf("%.40s: took %v", applied, took)
		}
		t.Logf("%.20s %v", applied, took)
	}
}

func TestPatchBuiltin(t *testing.T) {
	for _, applied := range []string{
		"{", "[]", `{"spec":{"template":7}}`, `{"spec":{"template":{"spec":{"containers":[{"name":7},{}]}}}}`, `{"kind":"Other"}`,
		`{"spec":{"a":"` + strings.Repeat("x", 1<<20) + `"}}`,
	} {
		old := decode(t, fmt.Sprintf(live, applied))
		_, err := apply.Patch(old, decode(t, next), reflect.TypeFor[appsv1.Deployment]())
		if broken := applied[0] == '[' || len(applied) == 1; broken != (err != nil) {
			t.Errorf("%s: got %v", applied, err)
		}
	}
}

func crd(t testing.TB) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	err := yaml.Unmarshal([]byte(`
metadata: {name: gears.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Gear, plural: gears}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {size: {type: integer}}}}}}
`), &crd)
	if err != nil {
		t.Fatal(err)
	}
	return &crd
}

func TestManyManagers(t *testing.T) {
	var limit *engine.WorkLimitError
	_, _, err := apply.NewManagers(crd(t)).Merge(managedBy(make([]any, 30_000)...), decode(t, next), "v1", "", apply.Write{})
	if !errors.As(err, &limit) {
		t.Errorf("got %v, want a *engine.WorkLimitError", err)
	}
}

func TestHostileManagers(t *testing.T) {
	managers := apply.NewManagers(crd(t))
	entry := func(i int, fields any) any {
		return map[string]any{
			"manager": fmt.Sprint("m", i), "operation": "Update", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1",
			"time": "2024-01-01T00:00:00Z", "fieldsV1": fields,
		}
	}
	var many []any
	for i := range 10_000 {
		many = append(many, entry(i, map[string]any{"f:spec": map[string]any{"f:size": map[string]any{}, fmt.Sprint("f:", i): map[string]any{}}}))
	}
	deep := any(map[string]any{})
	for range 5_000 {
		deep = map[string]any{"f:a": deep}
	}
	own := entry(0, map[string]any{"f:spec": map[string]any{"f:size": map[string]any{}}})
	own.(map[string]any)["operation"] = "Apply"
	for name, test := range map[string]struct {
		entries []any
		code    int32
	}{
		"many":         {many, http.StatusConflict},
		"many others":  {append(many[1:4_000:4_000], own), http.StatusConflict},
		"deep others":  {[]any{own, entry(1, deep)}, 0},
		"deep":         {[]any{entry(0, deep)}, 0},
		"no fields":    {[]any{entry(0, "x")}, http.StatusInternalServerError},
		"wrong path":   {[]any{entry(0, map[string]any{"x:a": map[string]any{}})}, 0},
		"no entry":     {[]any{"x"}, http.StatusInternalServerError},
		"no version":   {[]any{map[string]any{"manager": "m"}}, http.StatusInternalServerError},
		"other groups": {[]any{map[string]any{"manager": "m", "operation": "Apply", "apiVersion": "other/v7", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": map[string]any{}}}}, http.StatusInternalServerError},
	} {
		t.Run(name, func(t *testing.T) {
			old := decode(t, fmt.Sprintf(live, ""))
			old["metadata"].(map[string]any)["managedFields"] = test.entries
			var status *metav1.Status
			var err error
			took := cputime.Call(func() {
				_, status, err = managers.Merge(old, decode(t, next), "v1", "", apply.Write{Manager: "m0"})
			})
			switch {
			case err != nil:
				t.Error(err)
			case status == nil && test.code != 0:
				t.Errorf("got no failure, want %d", test.code)
			case status != nil && status.Code != test.code:
				t.Errorf("got %d %.300s, want %d", status.Code, status.Message, test.code)
			}
			old["metadata"].(map[string]any)["annotations"] = map[string]any{apply.LastApplied: "{}"}
			took += cputime.Call(func() { apply.Migrated(old, apply.Write{Kind: apply.Server, Manager: "kubectl"}) })
			if t.Log(took); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
