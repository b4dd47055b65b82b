package types_test

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/types"
)

func ExampleFromSchema() {
	maxItems := int64(16)
	structural := &schema.Structural{
		Generic: schema.Generic{Type: "object"},
		Properties: map[string]schema.Structural{
			"host-names": {
				Generic:         schema.Generic{Type: "array"},
				Items:           &schema.Structural{Generic: schema.Generic{Type: "string"}},
				ValueValidation: &schema.ValueValidation{MaxItems: &maxItems},
			},
			"anything": {Extensions: schema.Extensions{XPreserveUnknownFields: true}},
		},
	}
	d := types.FromSchema(structural, types.Subtree)
	for _, name := range d.FieldNames() {
		f := d.Fields[name]
		fmt.Printf("%s: %s", name, f.Decl)
		if f.Visible() {
			fmt.Printf(", self.%s, at most %d (%s)", f.Escaped, f.Decl.Max.Max, f.Decl.Max.Source)
		}
		fmt.Println()
	}
	// Output:
	// anything: hidden
	// host-names: list of string, self.host__dash__names, at most 16 (declared)
}
