package eval

import (
	"math"

	"github.com/google/cel-go/common"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/internal/minors"
)

// How it works: a call has the cost of its overload if it calls one of cel-go's extensions.
// Otherwise, it has the cost of its function in the Kubernetes libraries, if they have a cost for
// it, or else of a standard overload (cost.go). The cost is looked up when the call is planned.

type price func(overload string, args []ref.Val, result ref.Val) uint64

// libraryPrices holds the costs of the functions of the Kubernetes libraries. If two rows that
// include a version have the same function, the later one applies. A function that a version does
// not declare needs no range. See CallCost in k8s.io/apiserver/pkg/cel/library/cost.go.
var libraryPrices = []struct {
	in        minors.Range
	functions []string
	price     price
}{
	// The authorizer. Selectors: k8s.io/apiserver 0.31.
	{functions: []string{"check"}, price: fixedPrice(350_000)},
	{functions: []string{"serviceAccount", "path", "group", "resource", "subresource", "namespace", "name", "allowed", "reason", "error", "errored"}, price: fixedPrice(1)},
	{functions: []string{"fieldSelector", "labelSelector"}, price: selectorPrice},

	{functions: []string{"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"}, price: traversalPrice},
	{functions: []string{"url", "lowerAscii", "upperAscii", "substring", "trim"}, price: readingPrice(1)},
	{in: minors.Since(32), functions: []string{"jsonpatch.escapeKey"}, price: readingPrice(1)},
	{functions: []string{"replace", "split"}, price: readingPrice(2)},
	{functions: []string{"join"}, price: joinedPrice},
	{functions: []string{"find", "findAll"}, price: foundPrice},
	{functions: []string{"getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery"}, price: fixedPrice(1)},

	// Addresses, quantities, versions, and formats. Before 0.30, quantity is a standard function.
	{in: minors.Since(30), functions: []string{"cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"}, price: readingPrice(1)},
	{functions: []string{"ip"}, price: ipPrice},
	{functions: []string{"ip.isCanonical"}, price: readingPrice(2)},
	{functions: []string{"masked", "isMask", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast"}, price: fixedPrice(1)},
	{functions: []string{"containsIP"}, price: containedPrice("cidr_contains_ip_string", false)},
	{functions: []string{"containsCIDR"}, price: containedPrice("cidr_contains_cidr_string", true)},
	{functions: []string{"validate"}, price: validatedPrice},
	{functions: []string{"format.named"}, price: fixedPrice(1)},
	{functions: []string{"sign", "asInteger", "isInteger", "asApproximateFloat", "isGreaterThan", "isLessThan", "compareTo", "add", "sub", "major", "minor", "patch"}, price: fixedPrice(1)},
}

func hasFixedEquality(v ref.Val) bool {
	switch v.(type) {
	case kubecel.Quantity, *kubecel.Quantity, kubecel.IP, *kubecel.IP, kubecel.CIDR, *kubecel.CIDR,
		kubecel.Format, *kubecel.Format, kubecel.URL, *kubecel.URL, kubecel.Semver, *kubecel.Semver:
		return true
	}
	return authorizerTypes[v.Type().TypeName()]
}

// authorizerTypes holds the names of types that the authorizer library does not export.
var authorizerTypes = map[string]bool{
	"kubernetes.authorization.Authorizer": true, "kubernetes.authorization.PathCheck": true, "kubernetes.authorization.GroupCheck": true,
	"kubernetes.authorization.ResourceCheck": true, "kubernetes.authorization.Decision": true,
}

func fixedPrice(cost uint64) price {
	return func(string, []ref.Val, ref.Val) uint64 { return cost }
}

func readingPrice(times float64) price {
	return func(_ string, args []ref.Val, _ ref.Val) uint64 { return scaled(flatSize(args[0]), times) }
}

func scaled(n uint64, times float64) uint64 {
	return uint64(math.Ceil(float64(n) * times * common.StringTraversalCostFactor))
}

func selectorPrice(_ string, args []ref.Val, _ ref.Val) uint64 {
	length := flatSize(args[1])
	requirements := math.Ceil(float64(length) * 0.5)
	return common.ListCreateBaseCost + scaled(length, 1) + uint64(math.Ceil(requirements*(common.ListCreateBaseCost+common.StructCreateBaseCost)))
}

func traversalPrice(_ string, args []ref.Val, _ ref.Val) uint64 { return traversalCost(args[0]) }

// traversalCost returns the cost of reading v with all its parts. Unlike other costs, it counts
// bytes of strings and is rounded down.
func traversalCost(v ref.Val) (cost uint64) {
	switch v := v.(type) {
	case celtypes.String:
		return uint64(float64(len(v)) * common.StringTraversalCostFactor)
	case celtypes.Bytes:
		return uint64(float64(len(v)) * common.StringTraversalCostFactor)
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			cost += traversalCost(it.Next())
		}
		return cost
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			key := it.Next()
			cost += traversalCost(key) + traversalCost(v.Get(key))
		}
		return cost
	}
	return 1
}

func joinedPrice(_ string, _ []ref.Val, result ref.Val) uint64 { return scaled(flatSize(result), 2) }

func foundPrice(_ string, args []ref.Val, _ ref.Val) uint64 {
	return matchCost(flatSize(args[0]), flatSize(args[1]))
}

func ipPrice(overload string, args []ref.Val, _ ref.Val) uint64 {
	if overload == "cidr_ip" {
		return 1
	}
	return scaled(flatSize(args[0]), 1)
}

// ofString is the overload that also parses the address.
func containedPrice(ofString string, masks bool) price {
	return func(overload string, args []ref.Val, _ ref.Val) uint64 {
		size := flatSize(args[0])
		cost := scaled(size+size, 1)
		if masks {
			cost += scaled(size, 1) + 1
		}
		if overload == ofString {
			cost += scaled(flatSize(args[1]), 1)
		}
		return cost
	}
}

func validatedPrice(_ string, args []ref.Val, _ ref.Val) uint64 {
	f, ok := args[0].Value().(kubecel.Format)
	if !ok {
		return 1
	}
	return matchCost(flatSize(args[1]), uint64(f.MaxRegexSize))
}
