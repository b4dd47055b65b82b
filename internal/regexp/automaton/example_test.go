package automaton_test

import (
	"fmt"

	"github.com/celadon-cel/celadon/internal/regexp/automaton"
)

func ExampleLanguage_Find() {
	host, err := automaton.Compile(`^[a-z]+\.example$`)
	if err != nil {
		fmt.Println(err)
		return
	}
	odd, err := automaton.Prefix("x")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", host.And(odd.Not()).Find(automaton.Search{MinLength: 10, Count: 2}).Texts)
	none := host.And(odd).Find(automaton.Search{MaxLength: 8})
	fmt.Println(len(none.Texts), none.Complete)
	// Output:
	// ["aa.example" "ab.example"]
	// 0 true
}
