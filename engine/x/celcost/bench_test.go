package celcost

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

func BenchmarkOf(b *testing.B) {
	maxItems := int64(64)
	text := schema.Structural{Generic: schema.Generic{Type: "string"}}
	d := types.FromSchema(&schema.Structural{
		Generic: schema.Generic{Type: "array"}, Items: &text,
		ValueValidation: &schema.ValueValidation{MaxItems: &maxItems},
	}, types.Subtree)
	env, ast, err := celenv.StoredRules(types.Version{Minor: types.Newest}).Compile(d, false, `self.all(x, x.size() < 64 && self.exists_one(y, x == y))`)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if est, err := Of(env, ast, d); err != nil || est.Max == 0 {
			b.Fatal(est, err)
		}
	}
}
