package eval

import (
	"math"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/internal/kubecel"
)

// How it works: the size of a quantity depends on its exponent: 1e1000000 is nine bytes of text,
// but a million digits in a computation. Adding or comparing two quantities first brings them to a
// common scale.

func numberDemands(add func(demand, string)) {
	add(quantityRead, "string_to_quantity is_quantity_string")
	add(quantities, `quantity_add quantity_add_int quantity_sub quantity_sub_int quantity_compare_to quantity_is_greater_than
		quantity_is_less_than quantity_get_float quantity_get_int quantity_is_integer quantity_sign`)
	add(opaques(100, 0), "semver_compare_to semver_is_greater_than semver_is_less_than")
	add(opaques(60, 20), "url_get_query")
	add(opaques(4, 2), "url_get_escaped_path")
}

func opaques(work, memory float64) demand {
	return func(f *frame, args []ref.Val) {
		n := 0
		for _, arg := range args {
			n += opaqueBytes(arg)
		}
		f.make(float64(n) * memory)
		f.workUnits(float64(n) * work)
	}
}

func bigNumber(digits float64) float64 { return digits * (64 + digits/512) }

// quantityRead adds the work of parsing a quantity, which computes with all digits of the number.
func quantityRead(f *frame, args []ref.Val) {
	s := textOf(args, 0)
	f.make(4 * float64(len(s)))
	f.workUnits(bigNumber(float64(len(s))))
	at := strings.LastIndexAny(s, "eE")
	if at < 0 {
		return
	}
	exponent, err := strconv.ParseInt(s[at+1:], 10, 64)
	if err != nil {
		return
	}
	n := math.Abs(float64(exponent))
	f.workUnits(n * (8 + n/16384))
}

// quantities adds the work of comparing or adding quantities. Both are first extended to a common scale.
func quantities(f *frame, args []ref.Val) {
	low, high, digits := math.Inf(1), math.Inf(-1), 0.0
	for _, arg := range args {
		n, scale, ok := decimal(arg)
		if !ok {
			continue
		}
		digits += n
		low, high = min(low, scale), max(high, scale)
	}
	if high > low {
		digits += high - low
	}
	if digits > 64 {
		f.workUnits(digits * (8 + digits/16384))
	}
}

// opaqueBytes returns the size of a value of the Kubernetes libraries, and 0 for any other value.
func opaqueBytes(v ref.Val) int {
	switch v := v.(type) {
	case kubecel.URL:
		return len(v.RawQuery) + len(v.Path) + len(v.RawPath) + len(v.Host) + len(v.Fragment) + len(v.Opaque)
	case kubecel.Semver:
		n := 0
		for _, part := range v.Pre {
			n += perNode + len(part.VersionStr)
		}
		for _, part := range v.Build {
			n += perNode + len(part)
		}
		return n
	case kubecel.Quantity:
		digits, scale, _ := decimal(v)
		return int(digits + max(scale, -scale))
	}
	return 0
}

// decimal returns about how many digits a quantity has, and how many of them are after the decimal point.
func decimal(v ref.Val) (digits, scale float64, ok bool) {
	q, ok := v.(kubecel.Quantity)
	if !ok || q.Quantity == nil {
		return 0, 0, false
	}
	amount := *q.Quantity // a copy, because AsDec changes the internal representation
	dec := amount.AsDec()
	return float64(dec.UnscaledBig().BitLen()) * 0.302, float64(dec.Scale()), true
}
