//go:build linux

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

func diffCRD(name string, versions int, properties string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%[1]ss.g.io"},"spec":{"group":"g.io","scope":"Namespaced",`+
		`"names":{"kind":"%[1]s","plural":"%[1]ss","singular":"%[1]s","listKind":"%[1]sList"},"versions":[`, name)
	for i := range versions {
		if i > 0 {
			b.WriteString(",")
			properties = ""
		}
		fmt.Fprintf(&b, `{"name":"v%d","served":true,"storage":%v,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{%s}}}}}}`, i+1, i == 0, properties)
	}
	return b.String() + "]}}\n"
}

func properties(n int, of string) string {
	return strings.TrimSuffix(strings.Repeat(`"f#":`+of+`,`, n), ",")
}

func numberedProperties(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "#") {
		if i > 0 {
			fmt.Fprint(&b, i)
		}
		b.WriteString(part)
	}
	return b.String()
}

func TestAttackDiff(t *testing.T) {
	const text, integer = `{"type":"string"}`, `{"type":"integer"}`
	honest := [2]string{diffCRD("a", 1, `"x":`+text), diffCRD("a", 1, `"x":`+integer)}
	small := tree(t, map[string]string{"old.json": honest[0], "new.json": honest[1]})
	_, code, resting := attacked(t, small, 0, "diff", "old.json", "new.json")
	if code != command.Findings {
		t.Fatalf("exit code %d", code)
	}
	long := strings.Repeat("p", 200_000)
	for name, attack := range map[string]struct {
		old, now string
		code     int
		want     string
		most     int // bytes of output
	}{
		"versions by fields": {diffCRD("t", 1, numberedProperties(properties(5000, text))), diffCRD("t", 1000, numberedProperties(properties(5000, text))), 2, "more than 20000 changes", 2000},
		"a long name above many": {diffCRD("t", 1, `"`+long+`":{"type":"object","properties":{`+numberedProperties(properties(2000, text))+`}}`),
			diffCRD("t", 1, `"`+long+`":{"type":"object","properties":{`+numberedProperties(properties(2000, integer))+`}}`), 2, "too long, or there are too many", 2000},
		"long strings": {diffCRD("t", 1, `"s":{"type":"string","maxLength":40000}`), diffCRD("t", 1, `"s":{"type":"string","maxLength":32768}`), 1, "characters)", 4000},
		"a long list":  {diffCRD("t", 1, `"l":{"type":"array","maxItems":200,"items":`+integer+`}`), diffCRD("t", 1, `"l":{"type":"array","maxItems":150,"items":`+integer+`}`), 1, "more items …", 4000},
		"long texts":   {diffCRD("t", 1, `"s":{"type":"string","enum":["`+long+`","a"]}`), diffCRD("t", 1, `"s":{"type":"string","enum":["a"],"pattern":"^`+long[:1000]+`$"}`), 1, "breaks", 8000},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, map[string]string{"old/a.json": honest[0], "new/a.json": honest[1], "old/t.json": attack.old, "new/t.json": attack.now})
			for _, format := range []string{"text", "markdown"} {
				out, code, _ := attacked(t, dir, resting, "diff", "-o", format, "old", "new")
				if code != attack.code || format == "text" && !strings.Contains(out, attack.want) {
					t.Errorf("-o %s: exit code %d, want %d and %q:\n%.2000s", format, code, attack.code, attack.want, out)
				}
				if len(out) > attack.most || !strings.Contains(out, "as.g.io") {
					t.Errorf("-o %s: %d bytes, want at most %d, and the other CRD:\n%.2000s", format, len(out), attack.most, out)
				}
			}
		})
	}
}
