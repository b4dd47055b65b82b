package merge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/internal/testing/hostile"
)

const (
	headLine   = `{"report":{"kind":"CheckReport","apiVersion":"celadon/v1","kubeVersion":"1.37","version":"devel","shard":{"index":0,"of":1},"flags":[],"crds":"c"}}`
	crdLine    = `{"crd":{"file":"c.yaml","line":1,"name":"n","accepted":true,"causes":[]},"part":{"at":0}}`
	objectLine = `{"object":{"file":"f","document":0,"item":0,"line":1,"apiVersion":"g/v1","kind":"K","namespace":"d","name":"a","operation":"create","subresource":"","verdict":"invalid","cost":1,` +
		`"status":{"code":422,"reason":"Invalid","message":"m"},"causes":[{"reason":"r","field":"spec.x","message":"m","rule":"self.x","file":"f","line":2,"column":3}],"warnings":[]},` +
		`"part":{"at":4,"causes":[{"ref":{"version":"v1","path":"spec","index":0},"excerpt":{"line":"  x: 1","index":2}}]}}`
	endLine = `{"summary":{"checked":1,"valid":0,"invalid":1,"skipped":0,"unreadable":0,"crds":{"accepted":1,"refused":0}},"end":{"documents":5,"input":"i"}}`
)

var wholeReport = strings.Join([]string{headLine, crdLine, objectLine, endLine, ""}, "\n")

// mergeRun returns the output and the highest exit code of merges in all formats.
func mergeRun(t *testing.T, dir string, formats ...string) (out string, code int) {
	t.Helper()
	for _, format := range formats {
		var stdout, stderr bytes.Buffer
		o := &Options{}
		o.Output, o.FindingsExitCode = format, command.Findings
		s := command.Streams{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}.Guarded()
		code = max(code, s.Exit(t.Context(), Run(t.Context(), s, o, []string{dir})))
		out += stdout.String() + stderr.String()
		hostile.Harmless(t, format, stdout.Bytes())
		hostile.Harmless(t, "stderr", stderr.Bytes())
	}
	return out, code
}

var allFormats = []string{"text", "json", "jsonl", "junit", "sarif", "github", "gitlab", "markdown"}

func planted(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMalformedReports(t *testing.T) {
	t.Parallel()
	if out, code := mergeRun(t, planted(t, map[string]string{"a.jsonl": wholeReport}), allFormats...); code != command.Findings || !strings.Contains(out, "1 invalid") {
		t.Fatalf("a whole one: exit code %d\n%s", code, out)
	}
	edit := func(old, new string) string {
		if !strings.Contains(wholeReport, old) {
			t.Fatalf("no %s", old)
		}
		return strings.Replace(wholeReport, old, new, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":                  {"", "truncated"},
		"cut before the end":     {wholeReport[:len(wholeReport)-len(endLine)-1], "truncated: its last line"},
		"cut in the last line":   {wholeReport[:len(wholeReport)-9], "truncated"},
		"a line is gone":         {edit(objectLine+"\n", ""), "1 line of CRDs and objects (want 2, the count in the summary)"},
		"a line is twice":        {edit(objectLine, objectLine+"\n"+objectLine), "line 4: part.at: 4 after 4"},
		"a CRD after an object":  {edit(objectLine, objectLine+"\n"+crdLine), "line 4: a CRD after an object"},
		"data after it":          {wholeReport + objectLine + "\n", "line 5: unexpected data after the summary"},
		"two heads":              {edit(crdLine, headLine), "line 2: a second report"},
		"no head":                {edit(headLine+"\n", ""), "line 1: not a part of a run"},
		"another kind":           {edit(`"kind":"CheckReport"`, `"kind":"VetReport"`), `kind "VetReport"`},
		"shard 1 of 1":           {edit(`"index":0,"of":1`, `"index":1,"of":1`), "shard: 1/1"},
		"shard 0 of 0":           {edit(`"index":0,"of":1`, `"index":0,"of":0`), "shard: 0/0"},
		"a million shards":       {edit(`"index":0,"of":1`, `"index":0,"of":1000000`), "N up to 10000"},
		"a shard of text":        {edit(`"index":0,"of":1`, `"index":"0","of":1`), "not a line of a report"},
		"another verdict":        {edit(`"verdict":"invalid"`, `"verdict":"fine"`), "1 line of CRDs and objects (want 2"},
		"no status":              {edit(`"status":{"code":422,"reason":"Invalid","message":"m"},`, ""), "line 3: object: no status"},
		"a number too large":     {edit(`"cost":1`, `"cost":99999999999999999999`), "not a line of a report"},
		"causes without a part":  {edit(`,"causes":[{"ref":{"version":"v1","path":"spec","index":0},"excerpt":{"line":"  x: 1","index":2}}]`, ""), "part: 0 causes"},
		"no part":                {edit(`,"part":{"at":0}`, ""), "want a CRD or an object with its part"},
		"both":                   {edit(`{"crd"`, `{"object":{},"crd"`), "want a CRD or an object"},
		"unknown":                {edit(`"warnings":[]`, `"warnings":[],"wahr":1`), "not a line of a report"},
		"twice":                  {edit(`"cost":1`, `"cost":1,"cost":1`), "not a line of a report"},
		"interrupted":            {edit(`"unreadable":0`, `"unreadable":0,"interrupted":true`), "does not cover all objects"},
		"NUL within":             {edit(`"name":"a"`, "\"name\":\"\x00\""), "line 3: not a line of a report"},
		"a long line":            {edit(`"name":"a"`, `"name":"`+strings.Repeat("a", maxLine)+`"`), "line 3: more than 32 MiB"},
		"a CRD without a status": {edit(`"accepted":true`, `"accepted":false`), "line 2: crd: no status"},
		"a list":                 {"[]\n", "line 1: not a line"},
		"null":                   {"null\n", "line 1: not a part"},
	} {
		dir := planted(t, map[string]string{"a.jsonl": c.text})
		out, code := mergeRun(t, dir, "text")
		if code != command.Usage || !strings.Contains(out, c.want) || !strings.Contains(out, "no report can be merged") || !strings.HasPrefix(out, "celadon: "+dir+"/a.jsonl: ") {
			t.Errorf("%s: exit code %d, want %q in:\n%.1000s", name, code, c.want, out)
		}
	}
}

func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{hostile.Text, hostile.Broken} {
		quoted, err := jsonText(text)
		if err != nil {
			t.Fatal(err)
		}
		report := wholeReport
		for _, name := range []string{`"file":"f"`, `"kind":"K"`, `"name":"a"`, `"message":"m"`, `"rule":"self.x"`, `"field":"spec.x"`, `"reason":"r"`, `"line":"  x: 1"`, `"namespace":"d"`} {
			key, _, _ := strings.Cut(name, ":")
			report = strings.ReplaceAll(report, name, key+":"+quoted)
		}
		report = strings.Replace(report, `"input":"i"`, `"input":"i","problems":[`+quoted+`],"stale":[`+quoted+`]`, 1)
		if out, code := mergeRun(t, planted(t, map[string]string{"a.jsonl": report}), allFormats...); code != command.Usage || !strings.Contains(out, "PWNED") {
			t.Errorf("exit code %d\n%s", code, out)
		}
	}
}

func TestDoubledObject(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 2 {
		files[fmt.Sprintf("%d.jsonl", i)] = strings.Replace(wholeReport, `"index":0,"of":1`, fmt.Sprintf(`"index":%d,"of":2`, i), 1)
	}
	if out, code := mergeRun(t, planted(t, files), "text"); code != command.Usage || !strings.Contains(out, "1.jsonl: line 3: document 4 is in another shard too") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// heldBy500 limits the memory, in bytes, for a merge of 500 reports.
const heldBy500 = 12 << 20

// TestConstantMemory checks that memory does not grow with the number of objects.
func TestConstantMemory(t *testing.T) {
	for name, sources := range map[string]bool{"shards": false, "sources": true} {
		few, many := merged500(t, sources, 4), merged500(t, sources, 40)
		t.Logf("%s: 500 reports of 4 objects hold %d KiB, of 40 %d KiB", name, few>>10, many>>10)
		if most := uint64(heldBy500); many > most {
			t.Errorf("%s: %d KiB: want no more than %d", name, many>>10, most>>10)
		}
		if many > few*3/2+4<<20 {
			t.Errorf("%s: 500 reports of 4 objects hold %d KiB, of 40 %d KiB", name, few>>10, many>>10)
		}
	}
}

// merged500 returns the memory held by a merge, in bytes.
func merged500(t *testing.T, sources bool, objects int) uint64 {
	t.Helper()
	const reports = 500
	dir := t.TempDir()
	line := strings.Replace(objectLine, `"at":4`, `"at":%d`, 1)
	for i := range reports {
		head := strings.Replace(headLine, `"index":0,"of":1`, fmt.Sprintf(`"index":%d,"of":%d`, i, reports), 1)
		if sources {
			head = strings.Replace(headLine, `"shard"`, fmt.Sprintf(`"source":"s%d","shard"`, i), 1)
		}
		var b strings.Builder
		b.WriteString(head + "\n" + crdLine + "\n")
		for n := range objects {
			fmt.Fprintf(&b, line+"\n", n*reports+i)
		}
		end := strings.NewReplacer(`"checked":1`, fmt.Sprintf(`"checked":%d`, objects), `"invalid":1`, fmt.Sprintf(`"invalid":%d`, objects), `"documents":5`, fmt.Sprintf(`"documents":%d`, objects*reports)).Replace(endLine)
		b.WriteString(end + "\n")
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.jsonl", i)), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	most := &highest{}
	o := &Options{}
	o.Output, o.Quiet = "jsonl", true
	before := lives() // the linked packages hold a few MiB
	if err := Run(t.Context(), command.Streams{Stdin: strings.NewReader(""), Stdout: most, Stderr: &bytes.Buffer{}}, o, []string{dir}); err != nil {
		t.Fatal(err)
	}
	if most.lines < reports*objects {
		t.Fatalf("%d lines", most.lines)
	}
	return most.heap - min(before, most.heap)
}

// highest discards a report and records the peak of the live heap.
type highest struct {
	writes, lines int
	heap          uint64
}

func (h *highest) Write(text []byte) (int, error) {
	h.lines += bytes.Count(text, []byte("\n"))
	if h.writes++; h.writes%20 == 1 {
		h.heap = max(h.heap, lives())
	}
	return len(text), nil
}

func lives() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte(wholeReport), []byte(strings.Replace(wholeReport, `"shard"`, `"source":"a","shard"`, 1)))
	f.Add([]byte(strings.Replace(wholeReport, `"of":1`, `"of":2`, 1)), []byte(strings.Replace(wholeReport, `"index":0,"of":1`, `"index":1,"of":2`, 1)))
	f.Add([]byte(wholeReport[:700]), []byte("{\"report\":null}\n"))
	f.Add([]byte(headLine+"\n"+crdLine+"\n"), []byte(headLine+"\n"+endLine+"\n"))
	f.Add([]byte(strings.Replace(wholeReport, `"flags":[]`, `"flags":["--summary"]`, 1)), []byte(strings.Replace(wholeReport, `"input":"i"`, `"input":"i","rules":[{"kind":"K","path":"","index":0,"rule":"r","runs":1,"failed":1,"cost":1,"costShare":1,"apiVersion":"g/v1","version":"v1"}]`, 1)))
	f.Add([]byte(strings.Replace(wholeReport, `"warnings":[]`, `"warnings":["w"],"known":true,"upgrade":{"before":"valid","now":"invalid","unchanged":"valid","changes":[{"field":"a","before":"b"}]}`, 1)), []byte{0})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if len(a)+len(b) > 64<<10 {
			return
		}
		dir := planted(t, map[string]string{"a.jsonl": string(a), "b.jsonl": string(b), "c.jsonl": strings.Replace(wholeReport, `"shard"`, `"source":"c","shard"`, 1)})
		out, code := mergeRun(t, dir, allFormats...)
		if code > command.Bug || strings.Contains(out, "internal error") {
			t.Errorf("exit code %d\n%s", code, out)
		}
		if most := 1<<20 + 200*(len(a)+len(b)); len(out) > most {
			t.Errorf("%d bytes, want at most %d", len(out), most)
		}
	})
}

func jsonText(text string) (string, error) {
	data, err := json.Marshal(text)
	return string(data), err
}
