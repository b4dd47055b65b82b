package estimate

import (
	"math"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/internal/minors"
)

// libraries holds the estimates of library functions. If two rows that include a version have the
// same function, the later one applies. A function that a version does not declare needs no range.
//
// The functions of Kubernetes' libraries are priced by name, as EstimateCallCost in
// k8s.io/apiserver/pkg/cel/library/cost.go does; the functions of cel-go's libraries are priced by overload.
var libraries = []struct {
	in                   minors.Range
	functions, overloads []string
	price                price
}{
	// The authorizer. Selectors: k8s.io/apiserver 0.31.
	{functions: []string{"check"}, price: constant(350_000)},
	{functions: []string{"serviceAccount", "path", "group", "resource", "subresource", "namespace", "name", "allowed", "reason", "error", "errored"}, price: constant(1)},
	{functions: []string{"fieldSelector", "labelSelector"}, price: selector},

	{functions: []string{"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"}, price: traversal},
	{functions: []string{"lowerAscii", "upperAscii", "substring", "trim"}, price: transformed},
	{functions: []string{"replace"}, price: replaced},
	{functions: []string{"split"}, price: split},
	{functions: []string{"join"}, price: joined},
	{functions: []string{"find", "findAll"}, price: found},

	// URLs have sizes since k8s.io/apiserver 0.32. Before 0.31, accessors are standard functions.
	{functions: []string{"url", "jsonpatch.escapeKey"}, price: parsed(1, false)},
	{in: minors.Since(32), functions: []string{"url", "jsonpatch.escapeKey"}, price: parsed(1, true)},
	{functions: []string{"getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery"}, price: constant(1)},
	{in: minors.Since(38), functions: []string{"getScheme", "getHostname", "getHost", "getPort", "getQuery"}, price: component(1)},
	{in: minors.Since(38), functions: []string{"getEscapedPath"}, price: component(3)},

	// Addresses, quantities, versions, and formats. Before 0.30, quantity is a standard function.
	{in: minors.Since(30), functions: []string{"cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"}, price: parsed(1, false)},
	{functions: []string{"ip"}, price: ip},
	{functions: []string{"ip.isCanonical"}, price: parsed(2, false)},
	{functions: []string{"masked", "isMask", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast"}, price: constant(1)},
	{functions: []string{"containsIP"}, price: contained("cidr_contains_ip_string", false)},
	{functions: []string{"containsCIDR"}, price: contained("cidr_contains_cidr_string", true)},
	{functions: []string{"validate"}, price: validated},
	{functions: []string{"format.named"}, price: constant(1)},
	{functions: []string{"sign", "asInteger", "isInteger", "asApproximateFloat", "isGreaterThan", "isLessThan", "compareTo", "add", "sub", "major", "minor", "patch"}, price: constant(1)},

	// Values of the libraries' types are equal at a fixed cost since k8s.io/apiserver 0.32.
	{in: minors.Since(32), functions: []string{"_==_"}, price: equal},

	// cel-go's macros of two variables.
	{in: minors.Since(38), functions: []string{"cel.@mapInsert"}, price: inserted},

	// cel-go's ext/sets.go.
	{overloads: []string{"list_sets_contains_list", "list_sets_intersects_list"}, price: sets(1)},
	{overloads: []string{"list_sets_equivalent_list"}, price: sets(2)},

	// cel-go's ext/lists.go.
	{overloads: []string{"list_slice"}, price: slice},
	{overloads: []string{"list_flatten", "list_flatten_int"}, price: flattened},
	{overloads: []string{"lists_range"}, price: range_},
	{overloads: []string{"list_reverse"}, price: reversed},
	{overloads: []string{"list_distinct"}, price: distinct},
	{overloads: overloadsOf("sort"), price: sorted},
	{overloads: overloadsOf("sortByAssociatedKeys"), price: sorted},
}

func constant(cost uint64) price {
	return func(*operands) (priced, bool) { return priced{cost: checker.FixedCostEstimate(cost)}, true }
}

// argument returns the size of argument i for a library. Unlike standard functions, libraries do
// not derive it from the type before entrySizes.
func (o *operands) argument(i int) checker.SizeEstimate { return o.ofLibrary(&o.args[i]) }

func (o *operands) receiver() checker.SizeEstimate { return o.ofLibrary(o.target) }

func (o *operands) ofLibrary(x *operand) checker.SizeEstimate {
	if x.size.ofType && !o.walk.has[entrySizes] {
		return checker.UnknownSizeEstimate()
	}
	return x.size.orAny()
}

// ok is false if the type of the operand has no parameters.
func (o *operands) elements(list *operand) (of *celtypes.Type, s checker.SizeEstimate, ok bool) {
	parameters := o.typeOf(list).Parameters()
	if len(parameters) == 0 {
		return nil, s, false
	}
	s = checker.UnknownSizeEstimate()
	if d := o.walk.declared(list.at); d != nil {
		if d = d.Child("@items"); d != nil {
			s = checker.SizeEstimate{Max: uint64(d.MaxSize())}
		}
	}
	return parameters[0], s, true
}

func selector(o *operands) (priced, bool) {
	if len(o.args) != 1 {
		return priced{}, false
	}
	length := o.argument(0)
	requirements := length.MultiplyByCostFactor(0.5).MultiplyByCostFactor(common.ListCreateBaseCost + common.StructCreateBaseCost)
	return priced{cost: checker.FixedCostEstimate(common.ListCreateBaseCost).Add(perRune(length)).Add(requirements)}, true
}

func traversal(o *operands) (priced, bool) {
	if o.target == nil {
		return priced{}, false
	}
	each := checker.FixedCostEstimate(1)
	of, s, isList := o.elements(o.target)
	switch {
	case isList && (of.Kind() == celtypes.StringKind || of.Kind() == celtypes.BytesKind):
		each = each.Add(perRune(s))
	case !isList && o.call.FunctionName() != "includes":
		return priced{cost: perRune(o.receiver())}, true
	}
	return priced{cost: o.receiver().MultiplyByCost(each)}, true
}

func transformed(o *operands) (priced, bool) {
	if o.target == nil {
		return priced{}, false
	}
	s := o.receiver()
	return priced{cost: perRune(s), size: ranged(s)}, true
}

func parsed(times float64, sized bool) price {
	return func(o *operands) (priced, bool) {
		if len(o.args) == 0 {
			return priced{}, false
		}
		s := o.argument(0)
		return priced{cost: s.MultiplyByCostFactor(times * common.StringTraversalCostFactor), size: size{SizeEstimate: s, known: sized}}, true
	}
}

// component returns the estimate of functions that return a part of a URL, where each byte becomes at
// most expansion bytes.
func component(expansion uint64) price {
	return func(o *operands) (priced, bool) {
		x := priced{cost: checker.FixedCostEstimate(1)}
		if o.target != nil {
			x.size = ranged(o.receiver().Multiply(checker.SizeEstimate{Min: 1, Max: expansion}))
		}
		return x, true
	}
}

func found(o *operands) (priced, bool) {
	if o.target == nil || len(o.args) == 0 {
		return priced{}, false
	}
	s := o.receiver()
	return priced{cost: matching(s, o.argument(0)), size: ranged(checker.SizeEstimate{Max: s.Max})}, true
}

func ip(o *operands) (priced, bool) {
	if o.target != nil || o.overload == "cidr_ip" {
		return priced{cost: checker.FixedCostEstimate(1)}, true
	}
	return parsed(1, false)(o)
}

// addresses is the number of bytes of an address.
var addresses = checker.SizeEstimate{Min: 4, Max: 16}

// ofString is the overload that also parses the address.
func contained(ofString string, masks bool) price {
	return func(o *operands) (priced, bool) {
		x := priced{cost: perRune(addresses.Add(addresses))}
		if masks {
			x.cost = x.cost.Add(perRune(addresses)).Add(checker.FixedCostEstimate(1))
		}
		if o.overload == ofString {
			s := o.argument(0)
			x.cost = x.cost.Add(s.MultiplyByCostFactor(common.StringTraversalCostFactor))
		}
		return x, true
	}
}

func validated(o *operands) (priced, bool) {
	const pattern = kubecel.MaxNameFormatRegexSize * common.RegexStringLengthCostFactor
	return priced{cost: perRune(o.argument(0)).MultiplyByCostFactor(pattern)}, true
}

var fixedEquality = map[string]bool{
	kubecel.IPType.TypeName(): true, kubecel.CIDRType.TypeName(): true,
	kubecel.QuantityType.TypeName(): true, kubecel.SemverType.TypeName(): true,
	"kubernetes.authorization.Authorizer": true, "kubernetes.authorization.PathCheck": true, "kubernetes.authorization.GroupCheck": true,
	"kubernetes.authorization.ResourceCheck": true, "kubernetes.authorization.Decision": true,
}

func equal(o *operands) (priced, bool) {
	if o.overload != overloads.Equals {
		return priced{}, false
	}
	t := o.typeOf(&o.args[0])
	if k := t.Kind(); k != celtypes.OpaqueKind && k != celtypes.StructKind || t.Equal(o.typeOf(&o.args[1])) != celtypes.True {
		return priced{}, false
	}
	switch name := t.TypeName(); {
	case fixedEquality[name]:
		return priced{cost: checker.FixedCostEstimate(1)}, true
	case name == kubecel.FormatType.TypeName():
		return priced{cost: perRune(checker.SizeEstimate{Min: 1, Max: kubecel.MaxFormatSize})}, true
	case name == kubecel.URLType.TypeName():
		longest := uint64(1)
		if s := o.args[1].size; s.known { // the other operand does not count
			longest = s.Max
		}
		return priced{cost: perRune(checker.SizeEstimate{Min: 1, Max: longest})}, true
	}
	return priced{}, false
}

func replaced(o *operands) (priced, bool) {
	if o.target == nil || len(o.args) < 2 {
		return priced{}, false
	}
	s, from, to := o.receiver(), o.argument(0), o.argument(1)
	longest, kept := replacements(s.Max, from.Min, to.Max <= from.Min)
	shortest, keptMin := replacements(s.Min, from.Max, from.Max <= to.Min)
	count, rest := checker.SizeEstimate{Min: shortest, Max: longest}, checker.SizeEstimate{Min: keptMin, Max: kept}
	return priced{cost: s.MultiplyByCostFactor(2 * common.StringTraversalCostFactor), size: ranged(count.Multiply(to).Add(rest))}, true
}

// replacements returns how often a text of the given length is replaced in a string, and how much
// of the string remains: all of it if the text is empty or keep is set.
func replacements(of, length uint64, keep bool) (count, rest uint64) {
	switch {
	case length == 0 && of < math.MaxUint64:
		return of + 1, of
	case length == 0:
		return of, of
	case keep:
		return 0, of
	}
	return uint64(math.Ceil(float64(of) / float64(length))), 0
}

func split(o *operands) (priced, bool) {
	if o.target == nil {
		return priced{}, false
	}
	s := o.receiver()
	parts := s.Max
	if len(o.args) > 1 {
		if n, ok := integerOf(o.args[1].expr); ok {
			parts = uint64(n)
		}
	}
	return priced{cost: s.MultiplyByCostFactor(2 * common.StringTraversalCostFactor), size: ranged(checker.SizeEstimate{Max: parts})}, true
}

func joined(o *operands) (priced, bool) {
	if o.target == nil {
		return priced{}, false
	}
	var s checker.SizeEstimate
	list := o.receiver()
	if _, of, ok := o.elements(o.target); ok {
		s = list.Multiply(of)
	}
	if len(o.args) > 0 {
		separators := checker.SizeEstimate{Min: max(list.Min, 1) - 1, Max: max(list.Max, 1) - 1}
		s = s.Add(o.argument(0).Multiply(separators))
	}
	return priced{cost: perRune(s), size: ranged(s)}, true
}
