package eval

import (
	"errors"
	"net/netip"
	"reflect"
	"unicode/utf8"

	"github.com/google/cel-go/common/decls"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/internal/minors"
)

// How it works: some functions have different results in some versions than the linked functions. A
// revision replaces the linked function when a call is planned.

// A revision returns the result that a function has in some versions. It returns false if the
// linked function has the same result.
type revision func(args []ref.Val) (ref.Val, bool)

type revisedFunction struct {
	in       minors.Range
	function string
	revision revision
	demand   demand // of calls for which the linked function returns an error
}

var revisions = []revisedFunction{
	// k8s.io/apiserver 0.32, library/cidr.go, cidrContainsCIDR
	{minors.Until(32), "containsCIDR", containsNetwork, nil},

	// k8s.io/apiserver 0.37, library/quantity.go: before, results share the decimals of operands.
	{minors.Until(37), "add", quantityChange((*resource.Quantity).Add), nil},
	{minors.Until(37), "sub", quantityChange((*resource.Quantity).Sub), nil},

	// cel-go 0.22.0, 0.26.0, and 0.29.0, ext/strings.go, indexOfOffset and lastIndexOfOffset
	{minors.Until(32), "indexOf", textSearch{strict: true}.revision, nil},
	{minors.Range{Since: 32, Until: 37}, "indexOf", textSearch{}.revision, nil},
	{minors.Until(32), "lastIndexOf", textSearch{last: true, strict: true}.revision, nil},
	{minors.Range{Since: 32, Until: 34}, "lastIndexOf", textSearch{last: true, emptyFails: true}.revision, nil},
	{minors.Range{Since: 34, Until: 37}, "lastIndexOf", textSearch{last: true}.revision, nil},

	{intDurationErrors[0].In, "duration", intToDuration(intDurationErrors[0].Text), nil},
	{intDurationErrors[1].In, "duration", intToDuration(intDurationErrors[1].Text), nil},

	// cel-go 0.29.0, ext/lists.go, genRange
	{minors.Until(37), "lists.range", rangeUnbounded, rangedBeyond},
}

// intDurationErrors holds the error of duration(x) if x is an integer (cel-go 0.29.0,
// common/stdlib/standard.go).
var intDurationErrors = minors.Texts{
	{In: minors.Until(37), Text: "type conversion error from 'int' to 'google.protobuf.Duration'"},
	{In: minors.Since(37), Text: "no such overload: duration(int)"},
}

// PlanError returns err, an error of the linked planner, as Kubernetes 1.minor words it. The planner evaluates
// conversions of constants.
func PlanError(err error, minor int) error {
	for _, form := range intDurationErrors {
		if err.Error() == form.Text {
			return errors.New(intDurationErrors.For(minor))
		}
	}
	return err
}

func (b *binding) revise() {
	revised, ok := b.semantics.revised[b.function]
	if !ok {
		return
	}
	if revised.demand != nil {
		b.demands = append(b.demands, revised.demand)
	}
	b.replace(revised.revision)
}

// guard makes b reject a list or map whose first value is an error if the argument is declared as a list or map.
func (b *binding) guard(declared []*celtypes.Type) {
	b.replace(func(args []ref.Val) (ref.Val, bool) {
		for i, t := range declared {
			if (t.Kind() == celtypes.ListKind || t.Kind() == celtypes.MapKind) && firstFails(args[i]) {
				return decls.MaybeNoSuchOverload(b.function, args...), true
			}
		}
		return nil, false
	})
}

func firstFails(v ref.Val) bool {
	container, ok := v.(traits.Iterable)
	if !ok {
		return false
	}
	it := container.Iterator()
	if it.HasNext() != celtypes.True {
		return false
	}
	first := it.Next()
	if m, ok := v.(traits.Mapper); ok && first != celtypes.NullValue { // null: undeclared.go has the result
		first = m.Get(first)
	}
	return celtypes.IsError(first)
}

// replace makes b call r first, and its own function only if r returns false.
func (b *binding) replace(r revision) {
	if unary := b.unary; unary != nil {
		b.unary = func(x ref.Val) ref.Val {
			if v, ok := r([]ref.Val{x}); ok {
				return v
			}
			return unary(x)
		}
	}
	if binary := b.binary; binary != nil {
		b.binary = func(x, y ref.Val) ref.Val {
			if v, ok := r([]ref.Val{x, y}); ok {
				return v
			}
			return binary(x, y)
		}
	}
	if variadic := b.variadic; variadic != nil {
		b.variadic = func(args ...ref.Val) ref.Val {
			if v, ok := r(args); ok {
				return v
			}
			return variadic(args...)
		}
	}
}

// containsNetwork compares the address of the other range, instead of its network, with the network
// of the first.
func containsNetwork(args []ref.Val) (ref.Val, bool) {
	outer, ok := args[0].(kubecel.CIDR)
	if !ok || len(args) != 2 {
		return nil, false
	}
	var inner netip.Prefix
	switch other := args[1].(type) {
	case kubecel.CIDR:
		inner = other.Prefix
	case celtypes.String:
		p, err := netip.ParsePrefix(string(other))
		if err != nil || p.Addr().Is4In6() {
			return nil, false // an error
		}
		inner = p
	default:
		return nil, false
	}
	same := outer.Prefix.Masked() == netip.PrefixFrom(inner.Addr(), outer.Prefix.Bits())
	return celtypes.Bool(same && outer.Prefix.Bits() <= inner.Bits()), true
}

// quantityChange returns add or sub of quantities. If the first operand is stored with decimals, it changes as well: its
// copies share them (see hasDecimals).
func quantityChange(change func(q *resource.Quantity, by resource.Quantity)) revision {
	return func(args []ref.Val) (ref.Val, bool) {
		if len(args) != 2 {
			return nil, false
		}
		q, ok := args[0].Value().(*resource.Quantity)
		if !ok {
			return nil, false
		}
		changed := q
		if !hasDecimals(q) {
			changed = &resource.Quantity{}
			*changed = *q
		}
		switch by := args[1].Value().(type) {
		case *resource.Quantity:
			change(changed, *by)
		case int64:
			change(changed, *resource.NewQuantity(by, resource.DecimalExponent))
		default:
			return nil, false
		}
		return &kubecel.Quantity{Quantity: changed}, true
	}
}

// hasDecimals reports whether q is stored with decimals, which copies of a quantity share until k8s.io/apimachinery
// 0.37. No method shows that.
func hasDecimals(q *resource.Quantity) bool {
	return !reflect.ValueOf(q).Elem().FieldByName("d").FieldByName("Dec").IsNil()
}

// A textSearch is indexOf or lastIndexOf of an older version. An empty string is found at any offset.
type textSearch struct {
	last bool
	// strict: an offset that is not in the string is an error, also the implicit offset of an empty string.
	strict bool
	// emptyFails: lastIndexOf in an empty string is an error.
	emptyFails bool
}

func (s textSearch) revision(args []ref.Val) (ref.Val, bool) {
	text, okText := args[0].(celtypes.String)
	sought, okSought := args[1].(celtypes.String)
	if !okText || !okSought || len(args) > 3 {
		return nil, false
	}
	n := int64(utf8.RuneCountInString(string(text)))
	if len(args) == 2 {
		switch {
		case sought == "" || n > 0:
		case s.last && (s.strict || s.emptyFails):
			return newErr("index out of range: -1"), true
		case s.strict:
			return newErr("index out of range: 0"), true
		}
		return nil, false
	}
	offset, ok := args[2].(celtypes.Int)
	switch {
	case !ok:
		return nil, false
	case sought == "":
		return offset, true
	case s.strict && (int64(offset) < 0 || int64(offset) >= n):
		return newErr("index out of range: %d", int64(offset)), true
	}
	return nil, false
}

func intToDuration(text string) revision {
	return func(args []ref.Val) (ref.Val, bool) {
		if _, ok := args[0].(celtypes.Int); !ok {
			return nil, false
		}
		return newErr("%s", text), true
	}
}

// rangeUnbounded: a negative size makes an empty list, and there is no maximum.
func rangeUnbounded(args []ref.Val) (ref.Val, bool) {
	n, ok := args[0].(celtypes.Int)
	if !ok || n >= 0 && n <= maxRange {
		return nil, false
	}
	items := make([]ref.Val, max(n, 0))
	for i := range items {
		items[i] = celtypes.Int(i)
	}
	return celtypes.NewRefValList(celtypes.DefaultTypeAdapter, items), true
}
