// Package table is the table of mistakes outside of CEL, with a hint for each.
package table

import (
	_ "embed" // for kinds.txt
	"regexp"
	"strings"
	"sync"
)

//go:embed kinds.txt
var text string

type kind struct {
	pattern *regexp.Regexp
	words   string
}

var kinds = sync.OnceValue(func() map[string][]kind {
	table, section := map[string][]kind{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "["); ok && strings.HasSuffix(name, "]") {
			section = strings.TrimSuffix(name, "]")
		} else if pattern, words, ok := strings.Cut(line, " => "); ok && line[0] != '#' {
			table[section] = append(table[section], kind{regexp.MustCompile(pattern), words})
		}
	}
	return table
})

// MaxText limits the text that is compared with the table. Messages can contain a whole CRD.
const MaxText = 2000

// Find passes the words of each kind of a section that matches text, and the groups of its pattern, to use, until use
// returns true. Of a long text, it reads the beginning and the end.
func Find(section, text string, use func(words string, groups []string) bool) {
	if len(text) > MaxText {
		text = text[:MaxText/2] + text[len(text)-MaxText/2:]
	}
	for _, k := range kinds()[section] {
		if found := k.pattern.FindStringSubmatchIndex(text); found != nil {
			if use(string(k.pattern.ExpandString(nil, k.words, text, found)), k.pattern.FindStringSubmatch(text)) {
				return
			}
		}
	}
}

// Words returns the words of the first kind of a section that matches text, or "".
func Words(section, text string) (words string) {
	Find(section, text, func(found string, _ []string) bool {
		words = found
		return true
	})
	return words
}

// Key returns the words of the kind for a key, or "".
func Key(section, key string) string {
	for _, k := range kinds()[section] {
		if k.pattern.FindString(key) == key {
			return k.words
		}
	}
	return ""
}
