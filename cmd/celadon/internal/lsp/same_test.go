package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/check"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/spf13/pflag"
)

type message struct {
	line, column int // from 1; column 0 means the whole line
	level, text  string
}

func sarif(t *testing.T, log []byte) (all []message) {
	t.Helper()
	var doc struct {
		Runs []struct {
			Results []struct {
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						Region struct{ StartLine, StartColumn int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(log, &doc); err != nil {
		t.Fatalf("%v in %.300s", err, log)
	}
	for _, r := range doc.Runs[0].Results {
		at := r.Locations[0].PhysicalLocation.Region
		all = append(all, message{at.StartLine, at.StartColumn, r.Level, r.Message.Text})
	}
	return all
}

func vetLog(t *testing.T, path string) []message {
	t.Helper()
	var o vet.Options
	o.Flags(pflag.NewFlagSet("", pflag.ContinueOnError))
	o.Output = "sarif"
	var out bytes.Buffer
	_ = vet.Run(context.Background(), command.Streams{Stdout: &out, Stderr: io.Discard}, &o, []string{path}) // findings cause an error
	return sarif(t, out.Bytes())
}

func checkLog(t *testing.T, crd, object string) []message {
	t.Helper()
	var o check.Options
	o.Flags(pflag.NewFlagSet("", pflag.ContinueOnError))
	o.Output, o.CRDs, o.NoVet = "sarif", []string{crd}, true
	var out bytes.Buffer
	_ = check.Run(context.Background(), command.Streams{Stdout: &out, Stderr: io.Discard}, &o, []string{object}) // findings cause an error
	return sarif(t, out.Bytes())
}

var levels = map[protocol.Severity]string{protocol.Error: "error", protocol.Warning: "warning", protocol.Information: "note"}

// If an error quotes the wrong word of an expression, the range must cover that word.
func same(t *testing.T, name, content string, got []protocol.Diagnostic, want []message) (words int) {
	t.Helper()
	if len(want) > maxFindings {
		return 0
	}
	if got = onePerMessage(got); len(got) != len(want) {
		t.Errorf("%s: %d diagnostics, want %d", name, len(got), len(want))
		return 0
	}
	txt := newText(content)
	for i, d := range got {
		w := want[i]
		if point, _, _ := strings.Cut(d.Message, "\n"); notAPoint.MatchString(point) {
			t.Errorf("%s: %d: begins with boilerplate: %.300s", name, i, d.Message)
		}
		if w.text != fullText(d) || levels[d.Severity] != w.level {
			t.Errorf("%s: %d:\n got %s %s\nwant %s %s", name, i, levels[d.Severity], d.Message, w.level, w.text)
			continue
		}
		from, to := txt.offset(d.Range.Start), txt.offset(d.Range.End)
		token := content[from:to]
		at := txt.offsetAt(w.line, w.column)
		if named := quoted.FindStringSubmatch(w.text); named != nil {
			if from < at || token != named[1] && !strings.HasSuffix(token, "."+named[1]) {
				t.Errorf("%s: %d: %q at %v, want %q below %d:%d: %.300s", name, i, token, d.Range.Start, named[1], w.line, w.column, d.Message)
			}
			words++
			continue
		}
		if at != from {
			if !strings.Contains(w.text, "compilation failed") || from < at || to == from && !strings.Contains(w.text, "<EOF>") {
				t.Errorf("%s: %d: %q at %v, want it below %d:%d: %.300s", name, i, token, d.Range.Start, w.line, w.column, d.Message)
			}
			words++
			continue
		}
		if w.column > 0 && !wholeWord(content, from, to) {
			t.Errorf("%s: %d: %q is not the word at %d:%d", name, i, token, w.line, w.column)
		}
	}
	return words
}

func fullText(d protocol.Diagnostic) string {
	if _, text, ok := strings.Cut(d.Message, "\n"); ok && boilerplate.MatchString(text) {
		return text
	}
	return d.Message
}

// boilerplate matches the beginnings of texts that are not points.
var boilerplate = regexp.MustCompile(`^(?:\S+ .*is (?:invalid|denied): |would follow: |\S+ in version "|(?:spec|metadata|status|<nil>)\S*: )`)

// notAPoint matches first lines that begin with words that the server's messages share.
var notAPoint = regexp.MustCompile(`strict decoding error|compilation failed: |ERROR: <input>| is invalid: |^(?:spec\S*: )?(?:Invalid value|Forbidden|Required value|Unsupported value)\b`)

// onePerMessage drops the diagnostics of a strict decoding error after the first, because they share a message of the
// server.
func onePerMessage(list []protocol.Diagnostic) (one []protocol.Diagnostic) {
	for _, d := range list {
		if n := len(one); n > 0 && strings.Contains(d.Message, "strict decoding error: ") && fullText(one[n-1]) == fullText(d) {
			continue
		}
		one = append(one, d)
	}
	return one
}

// quoted matches the word that the first error of a rule is about.
var quoted = regexp.MustCompile(`^[^ ]+\.(?:rule|messageExpression): Invalid value: .*compilation failed: ERROR: <input>:\d+:\d+: (?:undefined field|undeclared reference to|Syntax error: (?:mismatched|extraneous) input) '([^'<]+)'`)

func wholeWord(text string, from, to int) bool {
	rest := strings.TrimLeft(text[to:], " ")
	return to > from && (strings.HasPrefix(rest, ":") || rest == "" || strings.ContainsAny(rest[:1], "\r\n,]}#"))
}

// every returns the step for sampling a corpus. With CELADON_LEVEL=long, it is 1.
func every(of, sample int) int {
	if level.Long() {
		return 1
	}
	return max(1, of/sample)
}

// withoutRepeats leaves out the errors that an editor does not show, because another error has the same cause.
func withoutRepeats(all []message) (kept []message) {
	list := make([]finding.Cause, len(all))
	for i := range all {
		field, text, _ := strings.Cut(all[i].text, ": ")
		list[i] = finding.Cause{Line: all[i].line, Column: all[i].column, Field: field, Message: text, Kind: kindOfCost(text)}
	}
	for i, repeats := range editor.Repeats(list) {
		if !repeats {
			kept = append(kept, all[i])
		}
	}
	return kept
}

func kindOfCost(text string) engine.CauseKind {
	switch {
	case strings.Contains(text, "contributed to estimated rule cost total"):
		return engine.CauseShareOfCost
	case strings.Contains(text, "cost total for entire OpenAPIv3 schema exceeds budget"):
		return engine.CauseTotalCost
	case strings.Contains(text, "cost exceeds budget by factor of"):
		return engine.CauseRuleCost
	}
	return ""
}

func TestSameAsVet(t *testing.T) {
	t.Parallel()
	files := corpus.CRDFiles(t)
	step := every(len(files), 10)
	c := start(t, nil, nil)
	n, found, words := 0, 0, 0
	for i := 0; i < len(files); i += step {
		data, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		for kind, text := range spoilt(string(data), i) {
			name := fmt.Sprintf("crd%d-%s.yaml", i, kind)
			path := filepath.Join(c.dir, name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			want := withoutRepeats(vetLog(t, path))
			words += same(t, files[i]+" "+kind, text, c.open(name, text), want)
			c.tell("textDocument/didClose", protocol.Params{TextDocument: protocol.TextDocument{URI: c.uri(name)}})
			n++
			found += len(want)
		}
	}
	t.Logf("%d texts, %d findings, %d at a word within a rule", n, found, words)
	if words == 0 {
		t.Error("no finding is at a word within a rule")
	}
}

func spoilt(text string, i int) map[string]string {
	all := map[string]string{"asis": text}
	switch i % 4 {
	case 0:
		all["name"] = strings.ReplaceAll(text, "self.", "self.no")
		all["words"] = strings.ReplaceAll(text, " && ", " and ")
	case 1:
		all["crlf"] = strings.ReplaceAll(strings.ReplaceAll(text, "self.", "self.no"), "\n", "\r\n")
	case 2:
		all["bounds"] = strings.ReplaceAll(text, "maxItems:", "minItems:")
	case 3:
		all["emoji"] = strings.ReplaceAll(text, "rule: ", "rule: '😀' == '' || ")
	}
	return all
}

func TestSameAsCheck(t *testing.T) {
	t.Parallel()
	folders := corpus.Folders(t)
	folder := folders[0]
	byCRD := map[string][]corpus.Case{}
	all := 0
	for c := range corpus.Cases(t, folder) {
		byCRD[c.CRD] = append(byCRD[c.CRD], c)
		all++
	}
	step := every(all, 80)
	n, found := 0, 0
	crds := make([]string, 0, len(byCRD))
	for name := range byCRD {
		crds = append(crds, name)
	}
	slices.Sort(crds)
	for _, name := range crds {
		var texts []string
		for i := 0; i < len(byCRD[name]); i += step {
			text, err := yaml.Marshal(byCRD[name][i].Object)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
		path := filepath.Join(folder, name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c := start(t, nil, map[string]string{"crd.yaml": string(data)})
		c.open("crd.yaml", string(data))
		joined := strings.Join(texts, "---\n")
		for kind, text := range map[string]string{"lf": joined, "crlf": strings.ReplaceAll(joined, "\n", "\r\n")} {
			file := filepath.Join(c.dir, kind+".yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			want := checkLog(t, path, file)
			same(t, name+" "+kind, text, c.open(kind+".yaml", text), want)
			found += len(want)
		}
		n += len(texts)
	}
	t.Logf("%d objects, %d findings", n, found)
}

func TestVersionsOfOneSchema(t *testing.T) {
	t.Parallel()
	head, version, _ := strings.Cut(strings.Replace(newer, "isIP(self)", "self.size == 1", 1), "  - name: v1\n")
	crd := head + "  - name: v1\n" + version + "  - name: v2\n" + strings.Replace(version, "storage: true", "storage: false", 1)
	at := strings.Index(crd, "self.size") + len("self.")
	message := start(t, nil, nil).open("crd.yaml", crd)
	if len(message) == 0 || message[0].Range != newText(crd).rangeOf(at, at+len("size")) || !strings.Contains(message[0].Message, "spec.validation.") {
		t.Errorf("not at the word: %v", messages(message))
	}
}
