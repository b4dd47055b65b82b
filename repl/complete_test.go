package repl

import (
	"slices"
	"strings"
	"testing"
)

// TestComplete asks at the place of the | in each line: the first candidates,
// and where they begin.
func TestComplete(t *testing.T) {
	s := crontab(t)
	for line, want := range map[string]struct {
		start int
		first string
	}{
		"self.sp|ec.replicas":                        {5, "spec"},
		"self.spec.|.x":                              {10, "env image maxReplicas"},
		"[self.spec.env].map(l, l.all(e, e.|":        {34, "name value"},
		"self.spec.env.all(e, self.spec.env.all(f,|": {41, "f e self"},
		"self.spec.env.exists(i, e, e.|":             {29, "name value"},
		"'日本語' + self.spec.ima|":                     {18, "image"},
		"has(self.spec.sus|":                         {14, "suspended"},
		"(self.spec).rep|":                           {12, "replicas"},
		"self.spec.env.filter(e, true)[0].|":         {33, "name value"},
		"self.status.phase == 'R|":                   {22, "Running'"},
		"self.status.phase == \"R|":                  {22, "Running\""},
		"self.metadata.name == 'R|":                  {23, ""},
		"self.spec.schedule.|":                       {19, "charAt( contains( endsWith("},
		"1.|":                                        {2, ""},
		"self . |":                                   {7, "apiVersion kind metadata"},
		"// self.|":                                  {8, ""},
		"'self.|":                                    {1, ""},
		"nope.|":                                     {5, ""},
		":cd spec.env[0].|":                          {16, "name value"},
		":ls /spec.ma|":                              {10, "maxReplicas"},
		":nonsense |":                                {10, ""},
		":set spec.suspended = |":                    {22, "false true"},
		"|":                                          {0, ":load :use :kube"},
	} {
		before, after, _ := strings.Cut(line, "|")
		c := s.Complete(before+after, len([]rune(before)))
		var texts []string
		for _, candidate := range c.Candidates[:min(3, len(c.Candidates))] {
			texts = append(texts, candidate.Text)
		}
		wanted := strings.Fields(want.first)
		if !slices.Equal(texts[:min(len(wanted), len(texts))], wanted) || len(texts) > 0 && len(wanted) == 0 || c.Start != want.start && len(texts) > 0 {
			t.Errorf("%s: %q from %d, want %q from %d", line, texts, c.Start, wanted, want.start)
		}
	}
}
