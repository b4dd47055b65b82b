package check

import (
	"strings"
	"testing"
)

func TestSubstitute(t *testing.T) {
	t.Parallel()
	a := &adjustment{variables: map[string]string{"A": "1", "EMPTY": "", "LONG": strings.Repeat("x", 1<<20), "NESTED": "${A}"}}
	for text, want := range map[string]string{
		"a: ${A}":                      "a: 1",
		"${A}${A}":                     "11",
		"$${A} $A ${":                  "${A} $A ${",
		"${B}":                         "",
		"${B:-x} ${B:=y z}":            "x y z",
		"${EMPTY:-x}${EMPTY-y}":        "x",
		"${A:-x}":                      "1",
		"${NESTED}":                    "${A}",
		"${A,,}":                       "error: want ${NAME}",
		"${1}":                         "error: want ${NAME}",
		strings.Repeat("${LONG}\n", 9): "error: more than 8 MiB",
	} {
		got, err := a.substitute(text)
		if err != nil {
			got = "error: " + err.Error()[strings.LastIndex(err.Error(), "}: ")+1:]
			got = strings.Replace(got, ": : ", ": ", 1)
		}
		if fail, ok := strings.CutPrefix(want, "error: "); ok && (err == nil || !strings.Contains(err.Error(), fail)) || !ok && got != want {
			t.Errorf("%.40s: %.80q, %v, want %q", text, got, err, want)
		}
	}
}
