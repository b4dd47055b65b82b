package repl

import (
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// The
// in a line is the position. A _ represents a space.
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
		"|":                                          {0, ":load_ :use_ :kube_"},
		":lo|":                                       {0, ":load_"},
		":und|":                                      {0, ":undo"},
	} {
		before, after, _ := strings.Cut(line, "|")
		c := s.Complete(before+after, len([]rune(before)))
		var texts []string
		for _, candidate := range c.Candidates[:min(3, len(c.Candidates))] {
			texts = append(texts, strings.ReplaceAll(candidate.Text, " ", "_"))
		}
		wanted := strings.Fields(want.first)
		if !slices.Equal(texts[:min(len(wanted), len(texts))], wanted) || len(texts) > 0 && len(wanted) == 0 || c.Start != want.start && len(texts) > 0 {
			t.Errorf("%s: %q from %d, want %q from %d", line, texts, c.Start, wanted, want.start)
		}
	}
}

// odd returns a session over a CRD with enums, maps, and field names that CEL must escape.
func odd(t *testing.T) *Session {
	t.Helper()
	a, err := txtar.ParseFile("../cmd/celadon/testdata/script/repl_complete.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]Document{}
	for _, f := range a.Files {
		if strings.HasSuffix(f.Name, ".yaml") {
			if files[f.Name], err = (Document{File: f.Name, Line: 1}).convert(f.Data); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, err := NewSession(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.LoadCRD(files["crd.yaml"]); err != nil {
		t.Fatal(err)
	}
	if err := s.LoadObject(files["object.yaml"]); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCompleteTyped(t *testing.T) {
	fields := "kind name tags"
	for _, c := range []struct{ kube, line, want string }{
		{"", "self.spec.__", "__namespace__"},
		{"", "self.spec.a__d", "a__dash__b"},
		{"", "self.spec.list.all(i, v, v.", fields},
		{"", "self.spec.list.all(i, v, i.", ""},
		{"", "self.spec.list.transformList(i, v, v.", fields},
		{"", "self.spec.list.exists(i, v, v.tags.all(j, u, u.sta", "startsWith("},
		{"", "self.spec.labels.all(k, v, v.sta", "startsWith("},
		{"", "self.spec.labels.all(k, v, k.sta", "startsWith("},
		{"", "self.spec.labels.all(k, k.sta", "startsWith("},
		{"", "self.spec.list.map(a, a.tags.exists(t, self.spec.list.exists(b, b.tags.exists(u, u.sta", "startsWith("},
		{"", "self.spec.list.all(a, self.spec.list.all(b, a.", fields},
		{"", "self.spec.list.all(name, name.na", "name"},
		{"", "self.spec.list.all(a, true) && a.", ""},
		{"", "self.spec.?list.optMap(l, l[0].", fields},
		{"", "self.spec.list.filter(a, a.kind == '", "Secret' Config'"},
		{"", "self.spec.list.all(i, v, v.kind != \"C", `Config"`},
		{"", "self.spec.phase in ['Pending', 'R", "Running'"},
		{"", "self.spec.phase == 'i", `it\'s'`},
		{"", "self.spec.phase == \"i", `it's"`},
		{"", "self.spec.labels['app.", "app.kubernetes.io/name'"},
		{"", "self.spec.labels['it", `it\'s'`},
		{"", "self.spec.labels[\"it", `it's"`},
		{"", "self.spec.labels[?'app.", "app.kubernetes.io/name'"},
		{"", "'app' in self.spec.la", "labels"},
		{"", ":cd spec.labels['i", "'it's']"},
		{"", ":cd /spec.list[0].t", "tags"},
		{"", ":cd ../../..", ""},
		{"", ":explain self.spec.list.all(e, e.na", "name"},
		{"", ":messageExpression 1 'x' + self.spec.na", "name"},
		{"", ":unset spec.list[", "0] 1] *]"},
		{"1.33", "[1, 2].dist", ""},
		{"1.36", "[1, 2].dist", "distinct()"},
		{"1.30", "isI", ""},
		{"1.31", "isI", "isIP("},
		{"1.28", "self.spec.list.transf", ""},
		{"1.34", "self.spec.list.transf", "transformList( transformMap( transformMapEntry("},
		{"1.28", ":funcs isI", ""},
		{"1.36", ":funcs isI", "isIP isInteger"},
	} {
		s := odd(t)
		if c.kube != "" {
			must(t, s, ":kube "+c.kube)
		}
		var texts []string
		for _, candidate := range s.Complete(c.line, len([]rune(c.line))).Candidates {
			texts = append(texts, candidate.Text)
		}
		if got := strings.Join(texts, " "); got != c.want {
			t.Errorf("%s (%s): %q, want %q", c.line, c.kube, got, c.want)
		}
	}
}
