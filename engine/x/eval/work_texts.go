package eval

import (
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// How it works: the factors are nanoseconds and bytes of memory for each byte of text, measured by
// BenchmarkWork and rounded up. No call may take much more work than was added for it.

func textWork(arg int, work, memory float64) demand {
	return func(f *frame, args []ref.Val) {
		n := float64(textSize(args, arg))
		f.make(n * memory)
		f.workUnits(n * work)
	}
}

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
	add(textWork(0, 1, 0), "size_string string_size")
	add(textWork(0, 4, 2), "string_to_int64 string_to_uint64 string_to_bool string_to_bytes bytes_to_string string_trim string_lower_ascii string_upper_ascii")
	add(textWork(0, 8, 2), "string_jsonpatch_escapeKey_string")
	add(textWork(0, 16, 4), "string_to_double string_to_duration string_to_timestamp string_to_ip is_ip string_to_cidr is_cidr string_to_url is_url_string strings_quote")
	add(textWork(0, 4, 8), "string_char_at_int string_substring_int string_substring_int_int")
	add(textWork(0, 100, 30), "string_to_semver string_bool_to_semver is_semver_string is_semver_string_bool")
	add(textWork(1, 90, 6), "format-validate")
	add(textWork(1, 10, 4), "cidr_contains_ip_string cidr_contains_cidr_string")
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

// compareTexts adds the work of comparing two strings and of counting their characters for the cost.
func compareTexts(f *frame, args []ref.Val) {
	f.work(min(textSize(args, 0), 5*textSize(args, 1)) + textSize(args, 1))
}

// keyed adds the work of a lookup, including the work of writing the key in an error.
func keyed(f *frame, args []ref.Val) { f.work(2 * textSize(args, 1)) }

func searched(f *frame, args []ref.Val) {
	s, part := float64(textSize(args, 0)), float64(textSize(args, 1))
	f.make(4 * (s + part))
	f.workUnits(s * max(part, 1))
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

func divided(f *frame, args []ref.Val) {
	s, separator := textOf(args, 0), textOf(args, 1)
	f.work(2 * len(s))
	parts := len(s)
	if separator != "" {
		parts = strings.Count(s, separator)
	}
	f.make(perItem * float64(parts+1))
}

func formatted(f *frame, args []ref.Val) {
	format := textOf(args, 0)
	size := float64(len(format))
	for i := range len(format) {
		if format[i] == '.' {
			size += precisionOf(format[i+1:])
		}
	}
	if len(args) == 2 {
		size += f.addSizeWork(args[1], 30)
	}
	f.make(4 * size)
}

// maxPrecision is the maximum precision that Go's fmt prints.
const maxPrecision = 1_000_000

func precisionOf(s string) (n float64) {
	for i := 0; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		n = min(10*n+float64(s[i]-'0'), maxPrecision)
	}
	return n
}

// zoneFile is the work of finding and reading the file of a time zone.
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
