package celenv_test

import (
	"testing"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/schemas"
	"github.com/celadon-cel/celadon/types"
)

func BenchmarkCompile(b *testing.B) {
	d := types.FromSchema(schemas.Structural(b, `{type: object, properties: {a: {type: array, items: {type: object, properties: {name: {type: string}}}}, b: {type: string}}}`), types.ResourceRoot)
	const src = `self.a.all(x, x.name != '' && x.name.size() < 64) && (!has(self.b) || self.b == oldSelf.b)`
	env := celenv.StoredRules(types.Version{Minor: types.Newest})
	shared, err := env.Scope()
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		compile func() error
	}{
		{"environment", func() error { _, _, err := env.Compile(d, false, src); return err }},
		{"scope", func() error {
			scope, err := env.Scope()
			if err == nil {
				_, err = scope.Compile(d, false, src)
			}
			return err
		}},
		{"shared", func() error { _, err := shared.Compile(d, false, src); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.compile(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
