package input

import (
	"bytes"
	"fmt"
	"testing"
)

func BenchmarkScan(b *testing.B) {
	var text bytes.Buffer
	for i := range 1000 {
		fmt.Fprintf(&text, `{"apiVersion":"example.com/v1","kind":"Route","metadata":{"name":"route-%d","labels":{"app":"shop"}},"spec":{"hosts":["shop-%[1]d.example.com"],"rules":[{"path":"/cart","port":8080,"weight":90},{"path":"/checkout","port":8080}]}}`+"\n", i)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		Scan(bytes.NewReader(text.Bytes()), []string{"-"}, func() {}, func(chunk Chunk) bool {
			return chunk.Each(func(d *Document) bool {
				if d.Err != nil {
					b.Fatal(d.Err)
				}
				return true
			})
		})
	}
}
