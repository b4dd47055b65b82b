package types

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseVersion(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in      string
		minor   int
		failure string
	}{
		{in: "", minor: Newest},
		{in: "1.28", minor: 28},
		{in: "1.33", minor: 33},
		{in: "v1.33", minor: 33},
		{in: "1.33.4", minor: 33},
		{in: "v1.33.4-rc.0+x", minor: 33},
		{in: "1.37", minor: 37},
		{in: "1.27", failure: `kubernetes version "1.27" is not supported: want 1.28 to 1.38`},
		{in: "1.38", minor: 38},
		{in: "1.39", failure: `kubernetes version "1.39" is not supported: want 1.28 to 1.38`},
		{in: "1.-30", failure: `kubernetes version "1.-30" is not supported: want 1.28 to 1.38`},
		{in: "2.30", failure: `kubernetes version "2.30" is not supported: want 1.28 to 1.38`},
		{in: "1", failure: `kubernetes version "1" is not supported: want 1.28 to 1.38`},
		{in: "1.", failure: `kubernetes version "1." is not supported: want 1.28 to 1.38`},
		{in: "1.x", failure: `kubernetes version "1.x" is not supported: want 1.28 to 1.38`},
		{in: "33", failure: `kubernetes version "33" is not supported: want 1.28 to 1.38`},
		{in: "latest", failure: `kubernetes version "latest" is not supported: want 1.28 to 1.38`},
		{in: "1.99999999999999999999", failure: `kubernetes version "1.99999999999999999999" is not supported: want 1.28 to 1.38`},
	}
	for _, tt := range tests {
		v, err := ParseVersion(tt.in)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if v.Minor != tt.minor || got != tt.failure {
			t.Errorf("%q: got %d, %q, want %d, %q", tt.in, v.Minor, got, tt.minor, tt.failure)
		}
	}
	if got := (Version{Minor: 33}).String(); got != "1.33" {
		t.Errorf("String: got %q", got)
	}
}

func TestParseVersions(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"1.34":                "[1.34]",
		"1.33,1.30":           "[1.30 1.33]",
		"1.30-1.32":           "[1.30 1.31 1.32]",
		"1.36, v1.30-v1.31.4": "[1.30 1.31 1.36]",
		"1.99":                "is not supported",
		"1.37-1.30":           "ends before it begins",
		"x":                   "want 1.28 to 1.38",
		"":                    "want a list",
		"1.30,":               "want a list",
		"1.30-":               "want a list",
		"1.30,1.30":           "occurs twice",
		"1.30-1.32,1.31":      "occurs twice",
	} {
		list, err := ParseVersions(s)
		got := fmt.Sprint(list)
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	}
	if all, err := ParseVersions("all"); err != nil || len(all) != Last-Oldest+1 {
		t.Errorf("all: %v, %v", all, err)
	}
}
