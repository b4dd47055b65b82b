package celadonvet_test

import (
	"fmt"

	"github.com/celadon-cel/celadon/celadonvet"
)

// Pass the analyzer to a driver, such as singlechecker.Main or unitchecker.Main.
func Example() {
	a := celadonvet.New(celadonvet.Config{CRDs: []string{"config/crd"}})
	fmt.Println(a.Name, a.Flags.Lookup("crd").Value)
	// Output: celadonvet config/crd
}
