// Command scenarios prints generated policies with requests as scenes of x/exchange, one
// per line. The tests in conformance/kube, which is a module of its own, send them to an API server.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"

	"github.com/celadon-cel/celadon/conformance/policies"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/exchange"
)

func main() {
	n := flag.Uint64("n", 200, "the number of scenes")
	first := flag.Uint64("seed", 1, "the seed of the first scene")
	flag.Parse()
	out := json.NewEncoder(os.Stdout)
	for seed := *first; seed < *first+*n; seed++ {
		if err := out.Encode(scene(seed)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// scene returns the scene of a seed. A server cannot have other limits, so the scenario's are dropped.
func scene(seed uint64) *exchange.Scene {
	s := policies.NewScenario(seed)
	out := &exchange.Scene{Name: fmt.Sprintf("generated-%d", seed), Documents: s.Documents}
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

// request returns a request that a server can get: custom resources have no CONNECT and no scale here,
// and only updates of their status.
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
