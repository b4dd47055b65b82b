package eval

import (
	"reflect"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
)

// How it works: a test fails unless every overload of the environment is in the table or in the test's list of
// overloads whose work does not depend on their arguments, so each function of a new release must be reviewed.
// The demands in the table add the work of reading arguments and allocating results.

// A demand adds the work of a call before it is made. Arguments may have any type.
type demand func(f *frame, args []ref.Val)

// demands holds the demands of overloads by ID. An overload without a demand has work that its cost bounds or that does
// not depend on the arguments. BenchmarkWork measures the factors.
var demands = demandTable()

func demandTable() map[string]demand {
	table := map[string]demand{}
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

func demandsOf(inv *invocation) (all []demand) {
	for _, overload := range inv.may {
		if d := demands[overload]; d != nil {
			all = append(all, d)
		}
	}
	return all
}

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
	return isSort(overload) || isSortBy(overload)
}

func itemsOf(args []ref.Val, i int) int {
	if i < len(args) {
		if s, ok := args[i].(traits.Sizer); ok {
			n, _ := s.Size().(celtypes.Int)
			return int(n)
		}
	}
	return 0
}
