package policyrequest_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

func TestUser(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		groups []string
		want   []string
	}{
		{"", []string{"ignored"}, []string{"kubeadm:cluster-admins", "system:authenticated"}},
		{"jane", nil, []string{"system:authenticated"}},
		{"jane", []string{"devs"}, []string{"devs", "system:authenticated"}},
		{"jane", []string{"system:authenticated"}, []string{"system:authenticated"}},
		{"system:anonymous", nil, []string{"system:unauthenticated"}},
		{"system:serviceaccount:ns:sa", nil, []string{"system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"}},
		{"system:serviceaccount:ns:sa", []string{"a"}, []string{"a", "system:authenticated"}},
		{"system:serviceaccount:ns", nil, []string{"system:authenticated"}},
	} {
		if got := policyrequest.User(tt.name, tt.groups).Groups; !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s in %v: got %v, want %v", tt.name, tt.groups, got, tt.want)
		}
	}
}

func TestBuiltin(t *testing.T) {
	t.Parallel()
	kinds := &policyrequest.Builtins{}
	kind := func(apiVersion, name string) *policyrequest.Builtin {
		k, err := kinds.Kind(schema.FromAPIVersionAndKind(apiVersion, name), engine.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	for _, none := range [][2]string{{"v1", "PodList"}, {"v2", "Pod"}, {"example.com/v1", "Pod"}, {"", ""}} {
		if k := kind(none[0], none[1]); k != nil {
			t.Errorf("%v is built in as %v", none, k.Kind)
		}
	}
	pod := kind("v1", "Pod")
	if got := pod.Namespace("", "a"); got != "default" {
		t.Errorf("a Pod is in %q, want default", got)
	}
	if got := kind("v1", "Namespace").Namespace("", "a"); got != "a" {
		t.Errorf("the request for a Namespace is in %q, want a", got)
	}
	for _, tt := range []struct {
		spec, validation string
		allowed          bool
		want             string // in the message, or in the warnings
	}{
		{"containers", "", true, ""},
		{"unknown", "", true, `unknown field "spec.unknown"`},
		{"unknown", "Warn", true, `unknown field "spec.unknown"`},
		{"unknown", "Ignore", true, ""},
		{"unknown", "Strict", false, `Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.unknown"`},
		{"wrong", "", false, `Pod "a" is invalid: spec.nodeName: Invalid value`},
	} {
		spec := map[string]any{"containers": []any{map[string]any{"name": "c"}}}
		switch tt.spec {
		case "unknown":
			spec["unknown"] = true
		case "wrong":
			spec["nodeName"] = int64(1)
		}
		object := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a"}, "spec": spec}
		res, err := pod.Write(t.Context(), policyrequest.Write{Object: object, FieldValidation: tt.validation, Name: "a"})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(res.Warnings, "\n")
		if !res.Allowed {
			got = res.Failure.Message
		}
		if res.Allowed != tt.allowed || !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s, %q: got %v, %q, want %v, %q", tt.spec, tt.validation, res.Allowed, got, tt.allowed, tt.want)
		}
	}
	secret := kind("v1", "Secret").Subject(map[string]any{"data": map[string]any{"a": "c2VjcmV0"}, "stringData": map[string]any{"b": "open"}})
	if !secret.Secrets.In("it is c2VjcmV0") || !secret.Secrets.In("open") {
		t.Errorf("the data of a Secret is shown: %v", secret.Secrets)
	}
}

func TestSent(t *testing.T) {
	t.Parallel()
	catalog, err := builtin.Newest()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, k := range catalog.Kinds() {
		for _, s := range k.Subresources {
			if _, name, ok := catalog.Subresource(s.Kind); ok {
				names[name] = true
			}
		}
	}
	if got := slices.Sorted(maps.Keys(names)); !slices.Equal(got, policyrequest.Sent) {
		t.Errorf("got %v, want %v", policyrequest.Sent, got)
	}
}
