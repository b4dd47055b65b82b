// Command scenarios prints generated policies with requests as scenes of internal/testing/exchange, one
// per line. The tests in conformance/kube, which is a module of its own, send them to an API server.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/conformance/policies"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/testing/exchange"
)

func main() {
	n := flag.Uint64("n", 200, "the number of scenes")
	first := flag.Uint64("seed", 1, "the seed of the first scene")
	mutating := flag.Bool("mutating", false, "generate mutating policies")
	crd := flag.Bool("crd", false, "print the CRD of the objects that mutating policies change instead")
	flag.Parse()
	out := json.NewEncoder(os.Stdout)
	var err error
	if *crd {
		err = out.Encode(mutantCRD())
	}
	for seed := *first; err == nil && !*crd && seed < *first+*n; seed++ {
		if *mutating {
			err = out.Encode(mutatingScene(seed))
		} else {
			err = out.Encode(scene(fmt.Sprintf("generated-%d", seed), policies.NewScenario(seed)))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// mutantCRD returns the CRD of the mutating scenarios' objects under a name of its own, because the kind Widget has
// no schema in conformance/kube.
func mutantCRD() *apiextensionsv1.CustomResourceDefinition {
	kind, err := policies.WidgetKind()
	if err != nil {
		panic(err) // the schema is a constant
	}
	crd := kind.CRD()
	crd.APIVersion, crd.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
	crd.Name = "mutants." + crd.Spec.Group
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: "Mutant", Plural: "mutants"}
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	}
	return crd
}

// mutatingScene returns the scene of a seed with a mutating policy and its binding. A server runs several in random
// order. The policy matches mutants only, so that it does not deny requests of the test.
func mutatingScene(seed uint64) *exchange.Scene {
	s := scene(fmt.Sprintf("mutating-%d", seed), policies.NewMutatingScenario(seed))
	s.Documents = slices.DeleteFunc(s.Documents, func(doc exchange.Object) bool {
		name := doc["metadata"].(exchange.Object)["name"]
		return doc["kind"] == "MutatingAdmissionPolicy" && name != "policy-0" || doc["kind"] == "MutatingAdmissionPolicyBinding" && name != "binding-0-0"
	})
	for _, doc := range s.Documents {
		onlyMutants(doc)
	}
	for i := range s.Exchanges {
		r := &s.Exchanges[i].Request
		r.Resource, r.Kind = "mutants", "Mutant"
		for _, o := range []exchange.Object{r.Object, r.Old} {
			if o != nil {
				o["kind"] = r.Kind
			}
		}
	}
	return s
}

func onlyMutants(v any) {
	switch v := v.(type) {
	case exchange.Object:
		if v["resources"] != nil && v["apiGroups"] != nil {
			v["apiGroups"], v["resources"] = []string{"example.com"}, []string{"mutants", "mutants/status"}
		}
		for _, below := range v {
			onlyMutants(below)
		}
	case []any:
		for _, item := range v {
			onlyMutants(item)
		}
	}
}

// scene drops the limits of a scenario, because a server cannot have other limits.
func scene(name string, s *policies.Scenario) *exchange.Scene {
	out := &exchange.Scene{Name: name, Documents: s.Documents}
	for i := range s.Requests {
		if r := &s.Requests[i]; r.Operation != policy.OperationConnect {
			out.Exchanges = append(out.Exchanges, exchange.Exchange{Request: request(r)})
		}
	}
	// Only the last request may change stored objects.
	for i := range out.Exchanges {
		if i < len(out.Exchanges)-1 {
			out.Exchanges[i].Request.DryRun = true
		}
	}
	return out
}

// request returns a request that a server can get: custom resources have no CONNECT and no scale here, and status
// takes only updates.
func request(r *policy.Request) exchange.Request {
	out := exchange.Request{
		Operation: r.Operation, APIVersion: r.Resource.GroupVersion().String(), Resource: r.Resource.Resource, Kind: r.Kind.Kind,
		Namespace: r.Namespace, Name: r.Name, DryRun: r.DryRun, Object: r.Object, Old: r.OldObject,
		User: exchange.User{Name: r.User.Name, UID: r.User.UID, Groups: r.User.Groups, Extra: r.User.Extra},
	}
	if r.Operation == policy.OperationUpdate && r.Subresource == "status" {
		out.Subresource = "status"
	}
	if out.Namespace == "" {
		out.Namespace = "ns"
	}
	for _, o := range []*exchange.Object{&out.Object, &out.Old} {
		if *o == nil {
			continue
		}
		given, _ := (*o)["metadata"].(exchange.Object)
		meta := maps.Clone(given)
		meta["namespace"] = out.Namespace
		if meta["name"] = out.Name; out.Name == "" {
			delete(meta, "name")
			meta["generateName"] = "w-"
		}
		*o = maps.Clone(*o)
		(*o)["metadata"] = meta
	}
	return out
}
