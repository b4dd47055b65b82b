package types

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseVersions(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"1.34":                "[1.34]",
		"1.33,1.30":           "[1.30 1.33]",
		"1.30-1.32":           "[1.30 1.31 1.32]",
		"1.36, v1.30-v1.31.4": "[1.30 1.31 1.36]",
		"1.99":                "this build knows",
		"1.37-1.30":           "ends before it begins",
		"x":                   "want 1.28 to 1.37",
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
	if all, err := ParseVersions("all"); err != nil || len(all) != Newest-Oldest+1 {
		t.Errorf("all: %v, %v", all, err)
	}
}
