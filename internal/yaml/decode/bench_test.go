package decode

import (
	"os"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

const route = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: route-1
  namespace: ns-1
  labels:
    app: shop
    team: team-1
spec:
  parentRefs:
  - name: gateway
    sectionName: https
  hostnames:
  - shop-1.example.com
  - www.example.com
  rules:
  - matches:
    - path:
        type: PathPrefix
        value: /cart/1
      headers:
      - type: Exact
        name: version
        value: "2"
      method: GET
    filters:
    - type: RequestHeaderModifier
      requestHeaderModifier:
        add:
        - name: x-env
          value: prod
        remove:
        - x-debug
    backendRefs:
    - name: cart-v1
      port: 8080
      weight: 90
    - name: cart-v2
      port: 8080
      weight: 10
  - matches:
    - path:
        type: PathPrefix
        value: /checkout
    timeouts:
      request: 10s
      backendRequest: 2s
    backendRefs:
    - name: checkout
      port: 8080
`

func benchmark(b *testing.B, decode func([]byte) error) {
	texts := map[string][]byte{"route": []byte(route)}
	if len(corpus.Named(b)) > 0 {
		text, err := os.ReadFile(corpus.Largest(b, corpus.CRDFiles(b)))
		if err != nil {
			b.Fatal(err)
		}
		texts["crd"] = text
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := decode(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	benchmark(b, func(text []byte) error {
		_, _, err := Decode(text)
		return err
	})
}

// BenchmarkLibrary decodes as Decode does if a document is unusual.
func BenchmarkLibrary(b *testing.B) {
	benchmark(b, func(text []byte) error {
		_, _, err := slow(text)
		return err
	})
}
