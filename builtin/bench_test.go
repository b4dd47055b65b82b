package builtin_test

import (
	"testing"

	"github.com/celadon-cel/celadon/builtin"
)

func BenchmarkValidate(b *testing.B) {
	req := builtin.Request{Object: object(b, deployment), FieldValidation: "Strict"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := builtin.Validate(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
