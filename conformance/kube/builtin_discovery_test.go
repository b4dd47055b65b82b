package kube

import (
	"net/http"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/builtin"
)

func TestBuiltinDiscovery(t *testing.T) {
	p := builtinPlane(t)
	listings := builtin.Resources()
	got, want := map[string]bool{}, discovered(p)
	for _, l := range listings {
		for _, subresource := range append([]string{""}, l.Subresources()...) {
			name := strings.TrimSuffix(l.Name+"/"+subresource, "/")
			got[l.GroupVersion().String()+" "+name+" "+scopeName(l.Namespaced())] = true
		}
	}
	for name := range want {
		if !got[name] && !notDecided[name] {
			t.Errorf("builtin has no %s", name)
		}
	}
	for name := range got {
		if !want[name] {
			t.Errorf("the server has no %s", name)
		}
	}
	for name := range notDecided {
		if !want[name] || got[name] {
			t.Errorf("%s is no exception", name)
		}
	}
}

// notDecided lists the resources of the server that builtin leaves out.
var notDecided = map[string]bool{
	// Kinds of their own API servers, which store them by other handlers.
	"apiregistration.k8s.io/v1 apiservices cluster":        true,
	"apiregistration.k8s.io/v1 apiservices/status cluster": true,
	// Questions: nothing is stored, and only a cluster has the answer.
	"authentication.k8s.io/v1 selfsubjectreviews cluster":          true,
	"authentication.k8s.io/v1 tokenreviews cluster":                true,
	"authorization.k8s.io/v1 localsubjectaccessreviews namespaced": true,
	"authorization.k8s.io/v1 selfsubjectaccessreviews cluster":     true,
	"authorization.k8s.io/v1 selfsubjectrulesreviews cluster":      true,
	"authorization.k8s.io/v1 subjectaccessreviews cluster":         true,
	"v1 componentstatuses cluster":                                 true,
	"v1 serviceaccounts/token namespaced":                          true,
	// Connections to a node.
	"v1 nodes/proxy cluster":         true,
	"v1 pods/attach namespaced":      true,
	"v1 pods/exec namespaced":        true,
	"v1 pods/log namespaced":         true,
	"v1 pods/portforward namespaced": true,
	"v1 pods/proxy namespaced":       true,
	"v1 services/proxy namespaced":   true,
	// The old form of pods/binding.
	"v1 bindings namespaced": true,
}

func scopeName(namespaced bool) string {
	if namespaced {
		return "namespaced"
	}
	return "cluster"
}

func discovered(p *plane) map[string]bool {
	p.t.Helper()
	versions := []string{"/api/v1"}
	groups, _ := p.do(http.MethodGet, "/apis", "").Body["groups"].([]any)
	for _, group := range groups {
		list, _ := dig(group, "versions").([]any)
		for _, version := range list {
			versions = append(versions, "/apis/"+str(version, "groupVersion"))
		}
	}
	all := map[string]bool{}
	for _, path := range versions {
		list, _ := p.do(http.MethodGet, path, "").Body["resources"].([]any)
		version := strings.TrimPrefix(strings.TrimPrefix(path, "/api/"), "/apis/")
		for _, r := range list {
			namespaced, _ := dig(r, "namespaced").(bool)
			all[version+" "+str(r, "name")+" "+scopeName(namespaced)] = true
		}
	}
	return all
}
