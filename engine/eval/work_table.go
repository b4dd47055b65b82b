package eval

import (
	"math"
	"reflect"
	"strconv"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// demand adds the work of a call before it is made. The arguments are no
// errors, and may be of any type where types are only known now.
type demand func(f *frame, args []ref.Val)

// demands has every overload of the environment: nil is work that its price, or
// nothing about its arguments, bounds. What the figures stand for is measured
// by BenchmarkDemands.
var demands = demandTable()

// constants are overloads whose work does not depend on how large their
// arguments are.
const constants = `
	add_double add_duration_duration add_duration_timestamp add_int64 add_timestamp_duration add_uint64
	divide_double divide_int64 divide_uint64 modulo_int64 modulo_uint64 multiply_double multiply_int64 multiply_uint64
	negate_double negate_int64 subtract_double subtract_duration_duration subtract_int64
	subtract_timestamp_duration subtract_timestamp_timestamp subtract_uint64
	greater_bool greater_double greater_double_int64 greater_double_uint64 greater_duration greater_int64
	greater_int64_double greater_int64_uint64 greater_timestamp greater_uint64 greater_uint64_double greater_uint64_int64
	greater_equals_bool greater_equals_double greater_equals_double_int64 greater_equals_double_uint64
	greater_equals_duration greater_equals_int64 greater_equals_int64_double greater_equals_int64_uint64
	greater_equals_timestamp greater_equals_uint64 greater_equals_uint64_double greater_equals_uint64_int64
	less_bool less_double less_double_int64 less_double_uint64 less_duration less_int64 less_int64_double
	less_int64_uint64 less_timestamp less_uint64 less_uint64_double less_uint64_int64
	less_equals_bool less_equals_double less_equals_double_int64 less_equals_double_uint64 less_equals_duration
	less_equals_int64 less_equals_int64_double less_equals_int64_uint64 less_equals_timestamp less_equals_uint64
	less_equals_uint64_double less_equals_uint64_int64
	logical_and logical_not logical_or conditional __not_strictly_false__ not_strictly_false
	bool_to_bool bool_to_string bytes_to_bytes double_to_double double_to_int64 double_to_string double_to_uint64
	duration_to_duration duration_to_hours duration_to_int64 duration_to_milliseconds duration_to_minutes
	duration_to_seconds duration_to_string int64_to_double int64_to_int64 int64_to_string int64_to_timestamp
	int64_to_uint64 string_to_string uint64_to_double uint64_to_int64 uint64_to_string uint64_to_uint64 to_dyn type
	timestamp_to_day_of_month timestamp_to_day_of_month_1_based timestamp_to_day_of_week timestamp_to_day_of_year
	timestamp_to_hours timestamp_to_int64 timestamp_to_milliseconds timestamp_to_minutes timestamp_to_month
	timestamp_to_seconds timestamp_to_string timestamp_to_timestamp timestamp_to_year
	bytes_size size_bytes list_size size_list map_size size_map list_first list_last
	optional_none optional_of optional_ofNonZeroValue optional_value optional_hasValue optional_or_optional
	optional_orValue_value optional_unwrap optional_unwrapOpt select_optional_field
	index_list list_optindex_optional_int optional_list_index_int optional_list_optindex_optional_int
	ip_family ip_is_canonical ip_is_global_unicast ip_is_link_local_multicast ip_is_link_local_unicast ip_is_loopback
	ip_is_unspecified ip_to_string cidr_contains_cidr cidr_contains_ip_ip cidr_ip cidr_masked cidr_prefix_length
	cidr_to_string semver_major semver_minor semver_patch
	url_get_host url_get_hostname url_get_port url_get_scheme
	format-named format.byte format.date format.datetime format.dns1035Label format.dns1035LabelPrefix
	format.dns1123Label format.dns1123LabelPrefix format.dns1123Subdomain format.dns1123SubdomainPrefix
	format.labelValue format.qualifiedName format.uri format.uuid
	authorizer_fieldselector authorizer_group authorizer_labelselector authorizer_path authorizer_serviceaccount
	decision_allowed decision_error decision_errored decision_reason groupcheck_resource pathcheck_check
	resourcecheck_check resourcecheck_name resourcecheck_namespace resourcecheck_subresource`

func demandTable() map[string]demand {
	table := map[string]demand{}
	for _, overload := range strings.Fields(constants) {
		table[overload] = nil
	}
	add := func(d demand, overloads string) {
		for _, overload := range strings.Fields(overloads) {
			table[overload] = d
		}
	}
	textDemands(add)
	listDemands(add)
	numberDemands(add)
	return table
}

// demandsOf are those of the overloads that a call can be.
func demandsOf(inv *invocation) (all []demand) {
	for _, overload := range inv.may {
		if d := demands[overload]; d != nil {
			all = append(all, d)
		}
	}
	return all
}

// addWork adds the work of a call, and of counting its texts' characters for
// its price.
func (b *binding) addWork(f *frame, args []ref.Val) {
	for _, arg := range args {
		switch arg := arg.(type) {
		case celtypes.String:
			f.work(len(arg))
		case *celtypes.Err, *celtypes.Unknown:
			return // no call is made
		}
	}
	for _, d := range b.demands {
		f.demand(b.function, d, args)
	}
}

// lazyList is the type of the list that CEL makes of two, which finds an item by
// going through all that it was made of.
var lazyList = reflect.TypeOf(twoLists())

func twoLists() ref.Val {
	one := celtypes.NewDynamicList(celtypes.DefaultTypeAdapter, []int64{1})
	return one.Add(one)
}

// flat is a list that finds its items at once. Its work was added as that of
// its making.
func flat(v ref.Val) ref.Val {
	if reflect.TypeOf(v) != lazyList {
		return v
	}
	list := v.(traits.Lister)
	size, _ := list.Size().(celtypes.Int)
	items := make([]ref.Val, size)
	for i := range items {
		items[i] = list.Get(celtypes.Int(i))
	}
	return celtypes.NewRefValList(celtypes.DefaultTypeAdapter, items)
}

// text is work by the bytes of one argument, and memory by them.
func text(arg int, work, memory float64) demand {
	return func(f *frame, args []ref.Val) {
		n := float64(textSize(args, arg))
		f.make(n * memory)
		f.much(n * work)
	}
}

// textSize is the bytes of a string or of bytes, 0 of anything else.
func textSize(args []ref.Val, i int) int {
	if i >= len(args) {
		return 0
	}
	switch v := args[i].(type) {
	case celtypes.String:
		return len(v)
	case celtypes.Bytes:
		return len(v)
	}
	return 0
}

func textOf(args []ref.Val, i int) string {
	if i < len(args) {
		s, _ := args[i].(celtypes.String)
		return string(s)
	}
	return ""
}

func textDemands(add func(demand, string)) {
	add(text(0, 1, 0), "size_string string_size")
	add(text(0, 4, 2), "string_to_int64 string_to_uint64 string_to_bool string_to_bytes bytes_to_string string_trim string_lower_ascii string_upper_ascii")
	add(text(0, 16, 4), "string_to_double string_to_duration string_to_timestamp string_to_ip is_ip string_to_cidr is_cidr string_to_url is_url_string strings_quote")
	add(text(0, 4, 8), "string_char_at_int string_substring_int string_substring_int_int")
	add(text(0, 100, 30), "string_to_semver string_bool_to_semver is_semver_string is_semver_string_bool")
	add(text(1, 90, 6), "format-validate")
	add(text(1, 10, 4), "cidr_contains_ip_string cidr_contains_cidr_string")
	add(compareTexts, "less_string less_equals_string greater_string greater_equals_string less_bytes less_equals_bytes greater_bytes greater_equals_bytes starts_with_string ends_with_string")
	add(func(f *frame, args []ref.Val) { f.work(textSize(args, 0) + textSize(args, 1)) }, "contains_string")
	add(func(f *frame, args []ref.Val) { f.make(float64(textSize(args, 0) + textSize(args, 1))) }, "add_string add_bytes")
	add(searched, "string_index_of_string string_index_of_string_int string_last_index_of_string string_last_index_of_string_int")
	add(replaced, "string_replace_string_string string_replace_string_string_int")
	add(divided, "string_split_string string_split_string_int")
	add(formatted, "string_format")
	add(matched, "matches matches_string string_find_string")
	add(allFound, "string_find_all_string string_find_all_string_int")
	add(keyed, "in_map index_map map_optindex_optional_value optional_map_index_value optional_map_optindex_optional_value")
	add(zoned, `timestamp_to_day_of_month_1_based_with_tz timestamp_to_day_of_month_with_tz timestamp_to_day_of_week_with_tz
		timestamp_to_day_of_year_with_tz timestamp_to_hours_with_tz timestamp_to_milliseconds_with_tz timestamp_to_minutes_with_tz
		timestamp_to_month_with_tz timestamp_to_seconds_tz timestamp_to_year_with_tz`)
}

// compareTexts counts characters as well, as its price does.
func compareTexts(f *frame, args []ref.Val) {
	f.work(min(textSize(args, 0), 5*textSize(args, 1)) + textSize(args, 1))
}

// keyed also makes the text of an error, where there is no such key.
func keyed(f *frame, args []ref.Val) { f.work(2 * textSize(args, 1)) }

// searched looks at every character of one text for every one of the other.
func searched(f *frame, args []ref.Val) {
	s, part := float64(textSize(args, 0)), float64(textSize(args, 1))
	f.make(4 * (s + part))
	f.much(s * max(part, 1))
}

func replaced(f *frame, args []ref.Val) {
	s, from, to := textOf(args, 0), textOf(args, 1), textOf(args, 2)
	f.work(2 * len(s))
	size := float64(len(s))
	if len(to) > len(from) {
		times := int64(strings.Count(s, from))
		if len(args) == 4 {
			if n, ok := args[3].(celtypes.Int); ok && n >= 0 {
				times = min(times, int64(n))
			}
		}
		size += float64(times) * float64(len(to)-len(from))
	}
	f.make(size)
}

// divided makes a list of parts.
func divided(f *frame, args []ref.Val) {
	s, separator := textOf(args, 0), textOf(args, 1)
	f.work(2 * len(s))
	parts := len(s)
	if separator != "" {
		parts = strings.Count(s, separator)
	}
	f.make(perItem * float64(parts+1))
}

// formatted writes its arguments out, and a number with as many digits as the
// format asks for.
func formatted(f *frame, args []ref.Val) {
	format := textOf(args, 0)
	size := float64(len(format))
	for i := range len(format) {
		if format[i] == '.' {
			size += digitsAsked(format[i+1:])
		}
	}
	if len(args) == 2 {
		size += f.weigh(args[1], 30)
	}
	f.make(4 * size)
}

// maxAsked is the most digits that Go's fmt prints.
const maxAsked = 1_000_000

func digitsAsked(s string) (n float64) {
	for i := 0; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		n = min(10*n+float64(s[i]-'0'), maxAsked)
	}
	return n
}

// zoneFile is what it takes to look for a time zone's file and read it.
const zoneFile = 100_000

func zoned(f *frame, args []ref.Val) {
	zone := textOf(args, 1)
	if strings.Contains(zone, ":") {
		f.work(4 * len(zone))
		return
	}
	f.work(zoneFile + 4*len(zone))
	f.make(float64(8 * len(zone)))
}

func numberDemands(add func(demand, string)) {
	add(quantityRead, "string_to_quantity is_quantity_string")
	add(quantities, `quantity_add quantity_add_int quantity_sub quantity_sub_int quantity_compare_to quantity_is_greater_than
		quantity_is_less_than quantity_get_float quantity_get_int quantity_is_integer quantity_sign`)
	add(opaques(100, 0), "semver_compare_to semver_is_greater_than semver_is_less_than")
	add(opaques(60, 20), "url_get_query")
	add(opaques(4, 2), "url_get_escaped_path")
}

// opaques is work by the bytes of values of the Kubernetes libraries.
func opaques(work, memory float64) demand {
	return func(f *frame, args []ref.Val) {
		n := 0
		for _, arg := range args {
			n += opaqueBytes(arg)
		}
		f.make(float64(n) * memory)
		f.much(float64(n) * work)
	}
}

// bigNumber is the work on a number of so many digits.
func bigNumber(digits float64) float64 { return digits * (64 + digits/512) }

// quantityRead computes with numbers as large as their text says.
func quantityRead(f *frame, args []ref.Val) {
	s := textOf(args, 0)
	f.make(4 * float64(len(s)))
	f.much(bigNumber(float64(len(s))))
	at := strings.LastIndexAny(s, "eE")
	if at < 0 {
		return
	}
	exponent, err := strconv.ParseInt(s[at+1:], 10, 64)
	if err != nil {
		return // no quantity
	}
	n := math.Abs(float64(exponent))
	f.much(n * (8 + n/16384))
}

// quantities are made as long as the difference of their scales before they
// are compared or added.
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
		f.much(digits * (8 + digits/16384))
	}
}

// isPricedFirst knows calls that take more than linear time, by a price that
// needs no result: the cost limit ends them before they begin.
func isPricedFirst(overload string) bool {
	switch overload {
	case "list_sets_contains_list", "list_sets_intersects_list", "list_sets_equivalent_list", "list_distinct":
		return true
	}
	return strings.HasPrefix(overload, "list_") && (strings.HasSuffix(overload, "_sort") || strings.HasSuffix(overload, "_sortByAssociatedKeys"))
}

// itemsOf is how many items a list or map has.
func itemsOf(args []ref.Val, i int) int {
	if i < len(args) {
		if s, ok := args[i].(traits.Sizer); ok {
			n, _ := s.Size().(celtypes.Int)
			return int(n)
		}
	}
	return 0
}
