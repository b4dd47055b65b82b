package eval

import (
	"reflect"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
)

// How it works: a test fails unless every overload of the environment is in the table, so each
// function of a new release must be reviewed. The work of overloads in constants does not depend on
// their arguments; the others add the work of reading arguments and allocating results.

// A demand adds the work of a call before it is made. Arguments are never errors, but may have any
// type if types are only known at run time.
type demand func(f *frame, args []ref.Val)

// demands holds the demand of every overload of the environment. It is nil if the cost bounds the
// work or the work does not depend on the arguments. BenchmarkWork measures the factors.
var demands = demandTable()

// constants lists overloads whose work does not depend on the size of their arguments.
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

// demandsOf returns the demands of the overloads that a call can have.
func demandsOf(inv *invocation) (all []demand) {
	for _, overload := range inv.may {
		if d := demands[overload]; d != nil {
			all = append(all, d)
		}
	}
	return all
}

// addWork adds the work of a call and of counting the characters of its strings for its cost.
func (b *binding) addWork(f *frame, args []ref.Val) {
	for _, arg := range args {
		switch arg := arg.(type) {
		case celtypes.String:
			f.work(len(arg))
		case *celtypes.Err, *celtypes.Unknown:
			return // the call is not made
		}
	}
	for _, d := range b.demands {
		f.demand(b.function, d, args)
	}
}

// lazyList is the type of CEL's concatenation of two lists, which traverses its parts to find an
// item.
var lazyList = reflect.TypeOf(twoLists())

func twoLists() ref.Val {
	one := celtypes.NewDynamicList(celtypes.DefaultTypeAdapter, []int64{1})
	return one.Add(one)
}

// flat returns v with constant-time access to its items. The work of the copy is part of the work
// that was added for making v.
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
	return celvalue.NewSum(items)
}

// isPricedFirst reports whether calls of overload are charged before they are made. They take more
// than linear time and their cost does not depend on the result, so the cost limit can prevent
// them.
func isPricedFirst(overload string) bool {
	switch overload {
	case "list_sets_contains_list", "list_sets_intersects_list", "list_sets_equivalent_list", "list_distinct":
		return true
	}
	return strings.HasPrefix(overload, "list_") && (strings.HasSuffix(overload, "_sort") || strings.HasSuffix(overload, "_sortByAssociatedKeys"))
}

// itemsOf returns the number of items of argument i, or 0 if it has no size.
func itemsOf(args []ref.Val, i int) int {
	if i < len(args) {
		if s, ok := args[i].(traits.Sizer); ok {
			n, _ := s.Size().(celtypes.Int)
			return int(n)
		}
	}
	return 0
}
