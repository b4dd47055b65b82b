//go:build unix

package celparse_test

import (
	"testing"

	"github.com/celadon-cel/celadon/internal/celparse"
	"github.com/celadon-cel/celadon/internal/celtexts"
)

// times lets our turns take as long as cel-go's: the collector runs before each, and
// what it leaves cold weighs alike on both.
const times = 12

// BenchmarkParse parses all distinct rules of the corpora, with ours and with
// cel-go's parser in turns. The metrics are per rule, and how many times cel-go's
// ours are.
func BenchmarkParse(b *testing.B) {
	s, env := kubernetes(b)
	all := celtexts.Rules(b)
	var ours, upstream celtexts.Spent
	for b.Loop() {
		ours.Add(func() {
			for range times {
				for _, rule := range all {
					if _, err := s.ours.Parse(celparse.NewSource(rule)); err != nil {
						b.Fatal(rule)
					}
				}
			}
		})
		upstream.Add(func() {
			for _, rule := range all {
				if _, issues := env.Parse(rule); issues.Err() != nil {
					b.Fatal(rule)
				}
			}
		})
	}
	time, allocs := ours.Per(times * len(all))
	upstreamTime, upstreamAllocs := upstream.Per(len(all))
	b.ReportMetric(time, "ns/rule")
	b.ReportMetric(allocs, "allocs/rule")
	b.ReportMetric(upstreamTime/time, "x-time")
	b.ReportMetric(upstreamAllocs/allocs, "x-allocs")
}
