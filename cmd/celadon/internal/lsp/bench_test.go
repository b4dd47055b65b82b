package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

func httpRoute(tb testing.TB) string {
	tb.Helper()
	for _, file := range corpus.CRDFiles(tb) {
		if strings.HasPrefix(filepath.Base(file), "httproutes.gateway.networking.k8s.io--standard") {
			data, err := os.ReadFile(file)
			if err != nil {
				tb.Fatal(err)
			}
			return string(data)
		}
	}
	tb.Skip("no HTTPRoute in the corpus")
	return ""
}

const route = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: a
spec:
  parentRefs:
  - name: gateway
  hostnames: ["a.example.com"]
  rules:
  - matches:
    - path: {type: PathPrefix, value: /a}
    backendRefs:
    - name: b
      port: 8080
`

func p95(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "median-ms")
}

// BenchmarkEditor measures how long an editor waits, with HTTPRoute: for diagnostics after the last
// key, including the quiet time, and for responses.
func BenchmarkEditor(b *testing.B) {
	text := httpRoute(b)
	c := start(b, nil, map[string]string{"crd.yaml": text})
	c.open("crd.yaml", text)
	c.open("route.yaml", route)
	rule := find(b, text, "rule: self.", true)
	edits := func(b *testing.B, name string, at protocol.Position) {
		var times []time.Duration
		for b.Loop() {
			begun := time.Now()
			c.change(name, protocol.Change{Range: &protocol.Range{Start: at, End: at}, Text: "x"})
			times = append(times, time.Since(begun))
			c.change(name, protocol.Change{Range: &protocol.Range{Start: at, End: protocol.Position{Line: at.Line, Character: at.Character + 1}}})
		}
		p95(b, times)
	}
	b.Run("object", func(b *testing.B) { edits(b, "route.yaml", find(b, route, "name: b", true)) })
	b.Run("crd", func(b *testing.B) { edits(b, "crd.yaml", rule) })
	ask := func(method, name string, at protocol.Position) func(b *testing.B) {
		return func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				c.send(name, protocol.Change{Range: &protocol.Range{Start: at, End: at}, Text: "s"})
				begun := time.Now()
				c.ask(method, c.at(name, int(at.Line), int(at.Character)), nil)
				times = append(times, time.Since(begun))
				c.change(name, protocol.Change{Range: &protocol.Range{Start: at, End: protocol.Position{Line: at.Line, Character: at.Character + 1}}})
			}
			p95(b, times)
		}
	}
	b.Run("completion", ask("textDocument/completion", "crd.yaml", rule))
	b.Run("hover", ask("textDocument/hover", "crd.yaml", rule))
	b.Run("object completion", ask("textDocument/completion", "route.yaml", find(b, route, "    backend", true)))
	b.Run("object hover", ask("textDocument/hover", "route.yaml", find(b, route, "backend", true)))
}

func BenchmarkInitialize(b *testing.B) {
	dir := filepath.Join(corpus.Folders(b)[0], "crds")
	var times []time.Duration
	for b.Loop() {
		begun := time.Now()
		c := serve(b, nil, dir)
		times = append(times, time.Since(begun))
		c.in.Close()
		c.done <- <-c.done
	}
	p95(b, times)
}
