package decode

import (
	"fmt"
	"strings"
	"testing"
)

func TestBounds(t *testing.T) {
	t.Parallel()
	big := `x: &b "` + strings.Repeat("x", 1<<20) + "\"\n"
	laughs := "l0: &l0 [a,a,a,a,a,a,a,a,a]\n"
	for i := 1; i < 9; i++ {
		laughs += fmt.Sprintf("l%d: &l%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d,", i-1), 9), ","))
	}
	for name, test := range map[string]struct{ text, want string }{
		"aliases of a string":        {big + "l: [" + strings.Repeat("*b,", 200_000) + "a]\n", "more than 32 MiB when its aliases are expanded"},
		"as keys":                    {big + "l:\n" + strings.Repeat("- {*b : 1}\n", 40), "more than 32 MiB when its aliases are expanded"},
		"of a map":                   {"m: &b {k: " + strings.Repeat("x", 1<<20) + "}\nl: [" + strings.Repeat("*b,", 40) + "a]\n", "more than 32 MiB when its aliases are expanded"},
		"merged":                     {"m: &b {k: " + strings.Repeat("x", 1<<20) + "}\nl:\n" + strings.Repeat("- {<<: *b}\n", 40), "more than 32 MiB when its aliases are expanded"},
		"the last of duplicate keys": {big + "l: 1\nl: [" + strings.Repeat("*b,", 40) + "a]\n", "more than 32 MiB when its aliases are expanded"},
		"few of them":                {big + "l: [" + strings.Repeat("*b,", 20) + "a]\n", ""},
		"billion laughs":             {laughs, "excessive aliasing"},
		"an alias in itself":         {"a: &a [*a]\n", "contains itself"},
		"values in brackets":         {"l: [" + strings.Repeat("a,\n ", 1<<20) + "a]\n", "more than 1048576 values"},
		"values on lines":            {"l:\n" + strings.Repeat("- a\n", 1<<20), "more than 1048576 values"},
		"keys":                       {"{" + strings.Repeat("\"a\":1,", 1<<20) + "}", "more than 1048576 values"},
		"keys without values":        {strings.Repeat("? a\n", 1<<20+1), "more than 1048576 values"},
		"nothing in lists":           {"l:\n" + strings.Repeat("-\n", 1<<20), "more than 1048576 values"},
		"deep":                       {strings.Repeat("[", 100_000), "max depth"},
		"deep in braces":             {strings.Repeat("{a: ", 100_000), "max depth"},
		"deep on a line":             {strings.Repeat("- ", 100_000) + "a", "max depth"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := Decode([]byte(test.text))
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
