package notation

import "testing"

func TestOfName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Kind{
		"size": Quantity, "maxSize": Quantity, "limits": Quantity, "capacities": Quantity, "kubernetes-version": Version,
		"minVersion": Version, "sessionTTL": Duration, "idleTimeout": Duration, "startIP": Address, "IPs": Address, "podCIDRs": Range,
		"storageClass": None, "versionName": None, "": None, "s": None, "startTime": None, "address": None, "IP": Address,
		"requests.cpu": Quantity, "resize": None, "ship": None,
	} {
		if got := OfName(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

func TestIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []Kind
	}{
		{"10Gi", []Kind{Quantity}},
		{"5m", []Kind{Quantity, Duration}},
		{"1h30m", []Kind{Duration}},
		{"10", []Kind{Integer}},
		{"1.10", []Kind{Version}},
		{"v1.10.0-rc.1", []Kind{Version}},
		{"2024-01-01T09:00:00Z", []Kind{Timestamp}},
		{"10.0.0.1", []Kind{Address}},
		{"10.0.0.0/8", []Kind{Range}},
		{"abc", nil}, {"", nil}, {"m", nil}, {"1.2.3.4.5", nil},
	} {
		for _, k := range Kinds() {
			want := false
			for _, w := range c.want {
				want = want || w == k
			}
			if k.Is(c.text) != want {
				t.Errorf("%q is %v: %v", c.text, k, !want)
			}
		}
	}
}

func TestSamples(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		found := false
		for _, a := range k.Samples() {
			for _, b := range k.Samples() {
				order, ok := k.Compare(a, b)
				if !ok {
					t.Fatalf("%v: %q, %q", k, a, b)
				}
				found = found || a < b && order > 0
			}
		}
		if !found {
			t.Errorf("%v: text and values are ordered alike", k)
		}
	}
	if Version.Parses("1.2.3.4") || Quantity.Parses("abc") || None.Parses("") {
		t.Error("not a value")
	}
}

func TestSpellings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind Kind
		text string
	}{{Quantity, "1Gi"}, {Quantity, "1024Mi"}, {Quantity, "500m"}, {Quantity, "0.5"}, {Quantity, "0"}, {Quantity, "1n"}, {Quantity, "9E"}, {Duration, "1h"}, {Duration, "90s"}, {Duration, "0s"}} {
		list, other := c.kind.Spellings(c.text), 0
		for _, text := range list {
			if order, ok := c.kind.Compare(text, c.text); !ok || order != 0 {
				t.Errorf("%s: %s", c.text, text)
			}
			if text != c.text {
				other++
			}
		}
		if other == 0 {
			t.Errorf("%s: %q", c.text, list)
		}
	}
	if Version.Spellings("1.2") != nil || Quantity.Spellings("x") != nil || Duration.Spellings("x") != nil {
		t.Error("a spelling of no value")
	}
}
