package builtin_test

import (
	"testing"

	"github.com/celadon-cel/celadon/builtin"
)

func BenchmarkValidate(b *testing.B) {
	for name, text := range map[string]string{
		"Deployment": deployment,
		"Service":    `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}`,
		"ConfigMap":  `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {key: value}}`,
	} {
		b.Run(name, func(b *testing.B) {
			req := builtin.Request{Object: object(b, text), FieldValidation: "Strict"}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := builtin.Validate(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
