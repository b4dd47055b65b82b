package repl

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

func TestEveryCommandHasATranscript(t *testing.T) {
	scripts, err := filepath.Glob("../cmd/celadon/testdata/script/repl*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts (%v)", err)
	}
	var all []byte
	for _, script := range scripts {
		a, err := txtar.ParseFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range a.Files {
			all = append(all, file.Data...)
		}
	}
	for _, c := range commands() {
		answered := regexp.MustCompile(`(?m)^\S.*> :` + c.name + `( .*)?\n([^e]|e[^r])`)
		if !answered.Match(all) {
			t.Errorf(":%s: no transcript shows an answer", c.name)
		}
		rejected := regexp.MustCompile(`(?m)^\S.*> :` + c.name + `( .*)?\n(.*\n *\^\n)?(error: |there are unsaved)`)
		if !rejected.Match(all) {
			t.Errorf(":%s: no transcript shows a refusal", c.name)
		}
	}
}
