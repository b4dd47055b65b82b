package celgo_test

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/celgo"
	"github.com/celadon-cel/celadon/types"
)

// An expression is compiled as a rule, and evaluated by cel-go.
func Example() {
	maxItems := int64(3)
	d := types.FromSchema(&schema.Structural{
		Generic:         schema.Generic{Type: "array"},
		Items:           &schema.Structural{Generic: schema.Generic{Type: "integer"}},
		ValueValidation: &schema.ValueValidation{MaxItems: &maxItems},
	}, types.Subtree)
	version := types.Version{Minor: types.Newest}
	env, checked, err := celgo.Compile(version, d, false, "self.filter(x, x > 1)")
	if err != nil {
		fmt.Println(err)
		return
	}
	program, err := env.Program(checked)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, _, err := program.Eval(map[string]any{"self": celgo.Value([]any{int64(1), int64(2), int64(3)}, d)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(celgo.Type(d), checked.OutputType(), celgo.JSON(out), celgo.Estimate(version, checked, d).Max)
	// Output:
	// list(int) list(int) [2 3] 57
}
