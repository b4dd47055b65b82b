package cost_test

import (
	"fmt"

	"github.com/celadon-cel/celadon/cost"
)

// A rule below a list of at most 20 items, each with a map of at most 5 entries, runs up to 100 times.
// Its estimate counts for the limits that often.
func Example() {
	items, entries := int64(20), int64(5)
	cardinality := cost.Cardinality{}.List("spec.ports", &items).Map("spec.ports[*].labels", &entries)
	for _, f := range cardinality.Factors {
		fmt.Println(f.Path, f.Word(), f.Max)
	}
	total := cost.NewTotal(cost.Limits{}.WithDefaults())
	total.Add(0, cost.Mul(3, 20*5))
	fmt.Println(cardinality.Bounded(), total.Sum, total.Exceeded())
	// Output:
	// spec.ports maxItems 20
	// spec.ports[*].labels maxProperties 5
	// true 300 false
}
