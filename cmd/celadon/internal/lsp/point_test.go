package lsp

import (
	"strings"
	"testing"
)

func TestPointFirst(t *testing.T) {
	t.Parallel()
	crd := example(t, "crontab/crd.yaml")
	for _, tt := range []struct {
		name, text, from, to string
		want                 []string // first lines
		server               string
	}{
		{"field.yaml", cronTab, "replicas: 1", "replcas: 1", []string{"7:3-10 unknown field replcas, did you mean replicas?"}, `strict decoding error: unknown field "spec.replcas"`},
		{"fields.yaml", cronTab, "  replicas: 1\n  maxReplicas: 10", "  replcas: 1\n  maxReplcas: 10",
			[]string{"8:3-13 unknown field maxReplcas, did you mean maxReplicas?", "7:3-10 unknown field replcas, did you mean replicas?"}, `unknown field "spec.maxReplcas"`},
		{"type.yaml", cronTab, "replicas: 1", "replicas: one", []string{"7:3-11 spec.replicas in body must be of type integer: \"string\""}, "CronTab a is invalid: spec.replicas: Invalid value: \"string\""},
		{"missing.yaml", cronTab, "  schedule: 0 5 * * *\n", "", []string{"5:1-5 missing schedule"}, "spec.schedule: Required value"},
		{"rule.yaml", crd, "self.replicas <= self.maxReplicas", "self.replcas <= self.maxReplicas", []string{"unknown field replcas, did you mean replicas?"}, "compilation failed: ERROR: <input>:1:5: undefined field 'replcas'"},
		{"key.yaml", crd, "- rule:", "- rle:", []string{"unknown field rle, did you mean rule?"}, "strict decoding error: unknown field"},
		{"keys.yaml", crd, "scope: Namespaced", "scpe: Namespaced\n  grop: a", []string{"unknown field grop, did you mean group?", "unknown field scpe, did you mean scope?"}, `unknown field "spec.scpe"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := start(t, nil, map[string]string{"crds/crd.yaml": crd})
			got := c.until(tt.name, c.open(tt.name, strings.Replace(tt.text, tt.from, tt.to, 1)), len(tt.want))
			for i, line := range messages(got) {
				if !strings.HasSuffix(line, tt.want[i]) || !strings.Contains(got[i].Message, tt.server) {
					t.Errorf("got %s\n%s\nwant %s", line, got[i].Message, tt.want[i])
				}
			}
		})
	}
}
