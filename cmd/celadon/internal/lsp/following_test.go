package lsp

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

func TestFollowing(t *testing.T) {
	t.Parallel()
	c := start(t, nil, map[string]string{"crds/crontab.yaml": example(t, "crontab/crd.yaml")})
	text := "apiVersion: stable.example.com/v1\nkind: CronTab\nmetadata: {name: a}\nspec:\n  schedule: \"@daily\"\n  replicas: many\n"
	var got []string
	for _, d := range c.until("a.yaml", c.open("a.yaml", text), 3) {
		got = append(got, strings.Split(d.Message, "\n")[0])
		follows := strings.Contains(d.Message, "would follow")
		if follows != (d.Severity == protocol.Information) {
			t.Errorf("severity %d: %s", d.Severity, d.Message)
		}
		if follows && (d.Range.Start.Line != 4 || !strings.Contains(d.Message, "must have five fields")) {
			t.Errorf("line %d: %s", d.Range.Start.Line, d.Message)
		}
	}
	if !strings.Contains(strings.Join(got, "\n"), "(once the errors above are fixed)") {
		t.Errorf("nothing would follow:\n%s", strings.Join(got, "\n"))
	}
}
