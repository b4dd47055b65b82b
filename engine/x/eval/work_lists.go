package eval

import (
	"math/bits"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// How it works: list functions compare, copy, or sort items. The work of comparing depends on the
// size of the items with all their contents (textsize.go), the work of copying on their number.

// ordered holds the item types in the names of list overloads.
var ordered = []string{"bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint", "google.protobuf.Duration", "google.protobuf.Timestamp"}

func listDemands(add func(demand, string)) {
	for _, t := range ordered {
		add(perTotalSize(0, 4), "list_"+t+"_is_sorted_bool list_"+t+"_min_"+t+" list_"+t+"_max_"+t+" list_"+t+"_sum_"+t)
		add(sortedBy(0), "list_"+t+"_sort")
		add(sortedBy(1), "list_"+t+"_sortByAssociatedKeys")
	}
	add(equated, "equals not_equals")
	add(contained, "in_list list_includes_dyn_dyn list_a_index_of_int list_a_last_index_of_int")
	add(pairs(1), "list_sets_contains_list list_sets_intersects_list")
	add(pairs(2), "list_sets_equivalent_list")
	add(distinct, "list_distinct")
	add(joined, "list_join list_join_string")
	add(flattened, "list_flatten list_flatten_int")
	add(ranged, "lists_range")
	add(copied(0), "list_reverse")
	add(sliced, "list_slice")
	add(appended, "add_list")
	add(inserted, "@mapInsert_map_key_value @mapInsert_map_map")
}

func perTotalSize(arg int, work float64) demand {
	return func(f *frame, args []ref.Val) {
		if arg < len(args) {
			f.addSizeWork(args[arg], work)
		}
	}
}

// perEqual is the work for each byte of a structure that is compared as a ref.Val, including the
// conversion of formats.
const perEqual = 6

// equated adds the work of an equality. Strings are read only as far as their cost accounts for;
// other scalars need no extra work.
func equated(f *frame, args []ref.Val) {
	if len(args) != 2 {
		return
	}
	a, okA := args[0].(celtypes.String)
	b, okB := args[1].(celtypes.String)
	if okA && okB {
		compareTexts(f, []ref.Val{a, b})
		return
	}
	if simple(args[0]) || simple(args[1]) {
		return
	}
	quantities(f, args)
	if itemsOf(args, 0) != itemsOf(args, 1) {
		return // lists and maps compare their sizes first
	}
	f.addSizeWork(args[0], perEqual)
}

func simple(v ref.Val) bool {
	switch v.(type) {
	case celtypes.Bool, celtypes.Int, celtypes.Uint, celtypes.Double, celtypes.String, celtypes.Null, celtypes.Duration, celtypes.Timestamp:
		return true
	}
	return false
}

func contained(f *frame, args []ref.Val) {
	if len(args) != 2 {
		return
	}
	list := args[0]
	if _, ok := list.(traits.Lister); !ok {
		list = args[1]
	}
	f.addSizeWork(list, perEqual)
}

// pairs returns a demand for comparing each item of a list with each item of another. A comparison
// takes no more work than the smaller of the two items.
func pairs(times float64) demand {
	return func(f *frame, args []ref.Val) {
		if len(args) == 2 {
			f.addSizeWork(args[0], times*perEqual*float64(itemsOf(args, 1)))
		}
	}
}

func distinct(f *frame, args []ref.Val) {
	n := itemsOf(args, 0)
	f.make(perItem * float64(n))
	f.addSizeWork(args[0], perEqual*float64(n))
}

func sortedBy(arg int) demand {
	return func(f *frame, args []ref.Val) {
		n := itemsOf(args, arg)
		f.make(4 * perItem * float64(n))
		if arg < len(args) {
			f.addSizeWork(args[arg], float64(4*bits.Len(uint(n))))
		}
	}
}

func joined(f *frame, args []ref.Val) {
	size := f.addSizeWork(args[0], 1)
	f.make(size + float64(itemsOf(args, 0))*float64(textSize(args, 1)))
}

// maxRange is cel-go's maximum length of a range.
const maxRange = 1_000_000

func ranged(f *frame, args []ref.Val) {
	if n, ok := args[0].(celtypes.Int); ok && n > 0 && n <= maxRange {
		f.make(2 * perItem * float64(n))
	}
}

// rangedBeyond is like ranged, for versions without a maximum.
func rangedBeyond(f *frame, args []ref.Val) {
	if n, ok := args[0].(celtypes.Int); ok && n > maxRange {
		f.make(2 * perItem * float64(n))
	}
}

func copied(arg int) demand {
	return func(f *frame, args []ref.Val) { f.make(2 * perItem * float64(itemsOf(args, arg))) }
}

func sliced(f *frame, args []ref.Val) {
	if len(args) != 3 {
		return
	}
	from, _ := args[1].(celtypes.Int)
	to, _ := args[2].(celtypes.Int)
	if from >= 0 && from <= to && int(to) <= itemsOf(args, 0) {
		f.make(2 * perItem * float64(to-from))
	}
}

// appended adds the work of +, which copies both lists unless a macro collects in the first list.
func appended(f *frame, args []ref.Val) {
	n := itemsOf(args, 1)
	if _, ok := args[0].(traits.MutableLister); !ok {
		n += itemsOf(args, 0)
	}
	f.make(2 * perItem * float64(n))
	f.workUnits(4 * perItem * float64(n)) // list types set and map look up each item
}

func inserted(f *frame, args []ref.Val) {
	if _, ok := args[0].(traits.MutableMapper); !ok {
		f.make(4 * perItem * float64(itemsOf(args, 0)))
	}
	if len(args) == 2 {
		f.make(4 * perItem * float64(itemsOf(args, 1)))
	}
	keyed(f, args)
}

func flattened(f *frame, args []ref.Val) {
	list, ok := args[0].(traits.Lister)
	if !ok {
		return
	}
	depth := celtypes.Int(1)
	if len(args) == 2 {
		depth, _ = args[1].(celtypes.Int)
	}
	f.flatItems(list, depth)
}

func (f *frame) flatItems(list traits.Lister, depth celtypes.Int) {
	size, _ := list.Size().(celtypes.Int)
	for i := range size {
		f.make(2 * perItem)
		if inner, ok := list.Get(i).(traits.Lister); ok && depth > 0 {
			f.flatItems(inner, depth-1)
		}
	}
}
