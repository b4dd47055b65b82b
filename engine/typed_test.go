package engine_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

// Gizmo is a type such as kubebuilder projects define.
type Gizmo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GizmoSpec `json:"spec"`
}

type GizmoSpec struct {
	Size   int32               `json:"size"`
	Limit  *int64              `json:"limit,omitempty"`
	Memory resource.Quantity   `json:"memory"`
	Port   *intstr.IntOrString `json:"port,omitempty"`
	Share  float64             `json:"share"`
	Every  metav1.Duration     `json:"every"`
	hidden int
}

func TestTyped(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, gizmos)
	port := intstr.FromString("http")
	g := &Gizmo{ObjectMeta: metav1.ObjectMeta{Name: "g", Labels: map[string]string{"a": "b"}}, Spec: GizmoSpec{Size: 3, Memory: resource.MustParse("1024Mi"), Port: &port, Share: 2, hidden: 1}}
	got, err := e.Typed("", g)
	want := object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: g, labels: {a: b}},
		spec: {size: 3, memory: 1Gi, port: http, share: 2, every: 0s}}`)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v\nwant %v", got, err, want)
	}
	g.Kind = "Other" // an existing kind is kept
	if got, err = e.Typed("v1", g); err != nil || got["kind"] != "Other" || got["apiVersion"] != nil {
		t.Errorf("got %v, %v", got, err)
	}
	for _, tt := range []struct {
		version string
		obj     any
		want    string
	}{
		{"v9", g, `version "v9": the CRD has v1`},
		{"", nil, "object of Go type <nil>: not a JSON object: null"},
		{"", []int{1}, "object of Go type []int: not a JSON object: json: cannot unmarshal array"},
		{"", map[string]any{"a": func() {}}, "object of Go type map[string]interface {}: json: unsupported type: func()"},
	} {
		if got, err := e.Typed(tt.version, tt.obj); got != nil || err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%v: got %v, %v, want %s", tt.obj, got, err, tt.want)
		}
	}
}

// Typed converts a Go value to the object that a client would send.
func ExampleEngine_Typed() {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(strings.Replace(gizmos, "size: {type: integer}", "size: {type: integer, minimum: 1}", 1)), crd); err != nil {
		fmt.Println(err)
		return
	}
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	obj, err := e.Typed("v1", &Gizmo{ObjectMeta: metav1.ObjectMeta{Name: "small", Namespace: "default"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := e.Validate(context.Background(), engine.Request{Object: obj})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Failure.Message)
	// Output:
	// Gizmo.example.org "small" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1
}
