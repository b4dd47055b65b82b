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
	const more = "size: {type: integer}\n              memory: {type: string}\n              port: {type: string}\n              share: {type: number}\n              every: {type: string}"
	e := mustCompile(t, strings.Replace(gizmos, "size: {type: integer}", more, 1))
	port := intstr.FromString("http")
	g := &Gizmo{ObjectMeta: metav1.ObjectMeta{Name: "g", Labels: map[string]string{"a": "b"}}, Spec: GizmoSpec{Size: 3, Memory: resource.MustParse("1024Mi"), Port: &port, Share: 2, hidden: 1}}
	res, err := e.ValidateTyped(t.Context(), g, nil)
	want := object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: g, labels: {a: b}},
		spec: {size: 3, memory: 1Gi, port: http, share: 2, every: 0s}}`)
	if err != nil || !res.Allowed || !reflect.DeepEqual(res.Object["spec"], want["spec"]) || res.Object["apiVersion"] != want["apiVersion"] {
		t.Errorf("got %+v, %v\nwant %v", res, err, want)
	}
	g.Kind = "Other" // an existing kind is kept
	if res, err = e.ValidateTyped(t.Context(), g, nil); err != nil || res.Allowed {
		t.Errorf("another kind: got %+v, %v", res, err)
	}
	for _, tt := range []struct {
		obj  any
		want string
	}{
		{nil, "object of Go type <nil>: not a JSON object: null"},
		{[]int{1}, "object of Go type []int: not a JSON object: json: cannot unmarshal array"},
		{map[string]any{"a": func() {}}, "object of Go type map[string]interface {}: json: unsupported type: func()"},
	} {
		if res, err := e.ValidateTyped(t.Context(), tt.obj, nil); res != nil || err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%v: got %v, %v, want %s", tt.obj, res, err, tt.want)
		}
	}
}

// ValidateTyped validates a Go value as a client would send it.
func ExampleEngine_ValidateTyped() {
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
	res, err := e.ValidateTyped(context.Background(), &Gizmo{ObjectMeta: metav1.ObjectMeta{Name: "small", Namespace: "default"}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Failure.Message)
	// Output:
	// Gizmo.example.org "small" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1
}
