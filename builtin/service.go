package builtin

import (
	"bytes"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	discoveryv1 "k8s.io/api/discovery/v1"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	"k8s.io/kubernetes/pkg/registry/core/service/portallocator"
	servicestore "k8s.io/kubernetes/pkg/registry/core/service/storage"
)

// The range of node ports is the default of the API server. A port that a Service does not request
// is taken from another range, so that it differs from all requested ports. withoutAllocated
// removes it.
const (
	firstPort, lastPort   = 30000, 32767
	firstOther, lastOther = 40000, 60000
)

// services returns the storage of Services in a cluster with IPv4 and IPv6. Any address that an
// object requests is assumed to be free and in the range of the cluster.
func services(options restOptions) (storages, error) {
	pods, err := pods(options)
	if err != nil {
		return nil, err
	}
	allocators := map[api.IPFamily]ipallocator.Interface{
		api.IPv4Protocol: addresses{family: api.IPv4Protocol}, api.IPv6Protocol: addresses{family: api.IPv6Protocol},
	}
	main, status, _, err := servicestore.NewREST(
		options, api.IPv4Protocol, allocators, &ports{}, noEndpoints{}, pods.Pod, nil)
	return withStatus(main, status, err)
}

type noEndpoints struct{}

func (noEndpoints) GetEndpointSlices(string, string) ([]*discoveryv1.EndpointSlice, error) {
	return nil, nil
}

// addresses allocates every address, and does not record it.
type addresses struct {
	ipallocator.Interface // nil, for the methods that no request calls
	family                api.IPFamily
}

func (a addresses) AllocateNext() (net.IP, error) {
	if a.family == api.IPv6Protocol {
		return net.ParseIP("fd00::10"), nil
	}
	return net.IPv4(10, 96, 0, 10), nil
}

func (a addresses) CIDR() net.IPNet {
	if a.family == api.IPv6Protocol {
		return net.IPNet{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}
	}
	return net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}
}

func (a addresses) IPFamily() api.IPFamily        { return a.family }
func (a addresses) DryRun() ipallocator.Interface { return a }
func (addresses) Allocate(net.IP) error           { return nil }
func (addresses) Release(net.IP) error            { return nil }

// ports allocates every port of the default range, and does not record it.
type ports struct {
	portallocator.Interface // nil, for the methods that no request calls
	next                    atomic.Uint32
}

func (*ports) Allocate(port int) error {
	if port < firstPort || port > lastPort {
		return &portallocator.ErrNotInRange{ValidPorts: fmt.Sprintf("%d-%d", firstPort, lastPort)}
	}
	return nil
}

func (p *ports) AllocateNext() (int, error) {
	return firstOther + int(p.next.Add(1))%(lastOther-firstOther), nil
}

func (*ports) Release(int) error { return nil }
func (*ports) Has(int) bool      { return false }

// withoutAllocated removes the addresses and ports that neither the object of a request nor the old one has from a
// Service, because only a cluster can allocate them.
func withoutAllocated(service, object, old map[string]any) {
	spec, _ := service["spec"].(map[string]any)
	given := func(name string) bool {
		for _, o := range []map[string]any{object, old} {
			if s, _ := o["spec"].(map[string]any); s[name] != nil && s[name] != "" {
				return true
			}
		}
		return false
	}
	if !given("clusterIP") && !given("clusterIPs") && spec["clusterIP"] != api.ClusterIPNone {
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	}
	if !given("healthCheckNodePort") {
		delete(spec, "healthCheckNodePort")
	}
	list, _ := spec["ports"].([]any)
	for _, item := range list {
		port, _ := item.(map[string]any)
		if n, _ := port["nodePort"].(int64); n >= firstOther {
			delete(port, "nodePort")
		}
	}
}

var (
	uuids     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	nodePorts = regexp.MustCompile(`Duplicate value: [45][0-9]{4}\b`)
)

// settled replaces random values of the server in a response by constants: UIDs, unless persisted removes them, and the
// node ports in messages. A result therefore does not depend on chance.
func (w *write) settled(sent []byte, response []byte, failed bool) []byte {
	if w.OldObject == nil && (failed || w.kind.Kind == "Job" || w.kind.Kind == "LimitRange") {
		response = uuids.ReplaceAllFunc(response, func(uid []byte) []byte {
			if bytes.Contains(sent, uid) {
				return uid
			}
			return []byte(unknownUID)
		})
	}
	if failed && w.kind.Kind == "Service" {
		response = nodePorts.ReplaceAllFunc(response, func(text []byte) []byte {
			port := string(text[len(text)-5:])
			if n, _ := strconv.Atoi(port); n < firstOther || n >= lastOther || bytes.Contains(sent, []byte(port)) {
				return text
			}
			return []byte(strings.TrimSuffix(string(text), port) + strconv.Itoa(firstPort))
		})
	}
	return response
}
