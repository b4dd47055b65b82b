package phrase

import (
	"math"
	"testing"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for n, want := range map[uint64]string{
		0: "0", 999: "999", 1000: "1,000", 10_000_000: "10,000,000", 999_999_999: "999,999,999",
		1_000_000_000: "1.00e9", 345884038010000000: "3.46e17", math.MaxUint64 - 1: "1.84e19", math.MaxUint64: ">1e19",
	} {
		if got := Number(n); got != want {
			t.Errorf("Number(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestRange(t *testing.T) {
	t.Parallel()
	if got := Range(3, 3) + "; " + Range(1, 2000); got != "3; 1 to 2,000" {
		t.Error(got)
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	const limit = 10_000_000
	for part, want := range map[uint64]string{
		0: "0%", 1: "<0.1%", 50_000: "0.5%", 994_999: "9.9%", 996_000: "10%", 4_300_000: "43%",
		9_960_000: "<100%", limit: "100%", limit + 1: ">100%", 10_100_000: "101%", 74_000_000: "740%",
		99_900_000: "999%", 99_960_000: "10x", 172_143_778: "17x", 247_390_273_542: "24,739x",
		345_884_038_010_000_000: "3.46e10x", math.MaxUint64: ">1.84e12x",
	} {
		if got := Share(part, limit); got != want {
			t.Errorf("Share(%d) = %q, want %q", part, got, want)
		}
	}
}

func TestRule(t *testing.T) {
	t.Parallel()
	if got := Rule("spec.hosts[*]", 2) + "; " + Rule("", 0); got != "spec.hosts[*], rule 2; the root, rule 0" {
		t.Error(got)
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	if got := Count(0, "rule") + " " + Count(1, "rule") + " " + Count(2, "more place"); got != "0 rules 1 rule 2 more places" {
		t.Error(got)
	}
}
