package automaton_test

import (
	"fmt"

	"github.com/celadon-cel/celadon/internal/automaton"
)

func ExampleLanguage_Find() {
	host, err := automaton.Compile(`^[a-z]+\.example$`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", host.And(automaton.Prefix("x").Not()).Find(automaton.Search{MinLength: 10, Count: 2}).Texts)
	none := host.And(automaton.Suffix(".test")).Find(automaton.Search{})
	fmt.Println(len(none.Texts), none.Complete)
	// Output:
	// ["aa.example" "ab.example"]
	// 0 true
}
