package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// TestMends introduces faults into rules of the corpus, or removes bounds. It checks that actions
// fix the findings that they claim to fix, and change no bytes other than a rule's scalar or bounds.
func TestMends(t *testing.T) {
	t.Parallel()
	files := corpus.CRDFiles(t)
	long := every(2, 1) == 1
	m := &fixChecker{t: t, client: start(t, nil, nil), tried: map[string]int{}, most: 2}
	each := 1 // faults per CRD
	if long {
		m.most, each = 5, 2
	}
	n := 0
	for i := 0; i < len(files); i += every(len(files), 60) {
		data, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), "\r\n", "\n")
		if !long && len(text) > 40_000 || strings.Contains(text, "\n---") {
			continue
		}
		made := 0
		for k, rules := 0, rulesIn(text); k < len(faults) && len(rules) > 0 && made < each; k++ {
			f := &faults[(n+k)%len(faults)]
			if spoilt := m.spoil(text, rules, f, n+k); spoilt != "" {
				m.checkFixes(filepath.Base(files[i])+" "+f.name, spoilt, f.name)
				made++
			}
		}
		n++
	}
	t.Logf("actions applied, by fault: %v; %d without a finding", m.tried, m.free)
	for _, f := range faults {
		if m.tried[f.name] == 0 {
			t.Errorf("%s: no action was offered", f.name)
		}
	}
}

// faults are typical mistakes in rules. If in is nil, the bounds of the whole text are removed.
var faults = []struct {
	name string
	in   func(rule string) string
}{
	{"a wrong name", func(rule string) string {
		at := fieldName.FindStringIndex(rule)
		if at == nil {
			return rule
		}
		i := at[0] + 2
		return rule[:i] + rule[i+1:i+2] + rule[i:i+1] + rule[i+2:]
	}},
	{"no guards", func(rule string) string { return hasGuard.ReplaceAllString(rule, "") }},
	{"= for ==", func(rule string) string { return strings.ReplaceAll(rule, " == ", " = ") }},
	{"bounds", nil},
	{"and for &&", func(rule string) string { return strings.ReplaceAll(rule, " && ", " and ") }},
	{"no self", func(rule string) string { return strings.ReplaceAll(rule, "self.", "") }},
	{"length for size", func(rule string) string { return strings.ReplaceAll(rule, ".size()", ".length()") }},
	{"a bracket", func(rule string) string { return rule + ")" }},
}

var (
	fieldName = regexp.MustCompile(`\.[a-z][A-Za-z]{3,}\b`)
	hasGuard  = regexp.MustCompile(`!?has\([\w.]+\) (&&|\|\|) `)
	someBound = regexp.MustCompile(`(?m)^ *max(Items|Length|Properties): \d+\n`)
)

func rulesIn(text string) (all []position.Path) {
	doc, err := position.Parse([]byte(text))
	if err != nil {
		return nil
	}
	var below func(n *position.Node, path position.Path)
	below = func(n *position.Node, path position.Path) {
		if at, ok := editor.RuleOf(path); ok && at.Key == "rule" && n.Kind == position.Scalar && n.Known {
			all = append(all, path)
		}
		for i, item := range n.Items {
			step := position.Item(i)
			if n.Kind == position.Mapping {
				step = position.Key(n.Keys[i].Value)
			}
			below(item, append(path[:len(path):len(path)], step))
		}
	}
	below(doc.Root, nil)
	return all
}

var styles = []func(rule, indent string) string{
	func(rule, _ string) string { return rule },
	func(rule, _ string) string { return "'" + strings.ReplaceAll(rule, "'", "''") + "'" },
	func(rule, _ string) string {
		text := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "😀", `\U0001F600`, "=", `\x3D`).Replace(rule)
		return `"` + text + `"`
	},
	func(rule, indent string) string { return "|-\n" + indent + strings.ReplaceAll(rule, "\n", "\n"+indent) },
	func(rule, indent string) string {
		return ">-\n" + indent + strings.ReplaceAll(rule, " && ", "\n"+indent+"&& ")
	},
	func(rule, indent string) string {
		return "'" + strings.ReplaceAll(strings.ReplaceAll(rule, "'", "''"), " && ", "\n"+indent+"&& ") + "'"
	},
}

type fixChecker struct {
	*client
	t     *testing.T
	tried map[string]int
	most  int // limit of actions per text
	free  int // actions that fix no finding
}

// spoil returns "" if the fault cannot be introduced.
func (m *fixChecker) spoil(text string, rules []position.Path, fault *struct {
	name string
	in   func(string) string
}, n int) string {
	if fault.in == nil {
		was := text
		if text = someBound.ReplaceAllString(text, ""); text == was {
			return ""
		}
	} else {
		text = spoilRule(text, rules, fault.in, n)
	}
	if text == "" {
		return ""
	}
	if n/2%2 == 1 {
		text = "apiVersion: v1\nkind: List\nitems:\n- kind: Other\n  apiVersion: v1\n- " + strings.TrimPrefix(indented(text), "  ")
	}
	if n%2 == 1 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(text, "---\n")) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}

func spoilRule(text string, rules []position.Path, in func(string) string, n int) string {
	doc, err := position.Parse([]byte(text))
	if err != nil {
		return ""
	}
	for i := range rules {
		path := rules[(n+i)%len(rules)]
		_, node := doc.Find(path)
		if node.Kind != position.Scalar {
			continue
		}
		rule := strings.TrimSpace(node.Value)
		bad := in(rule)
		if bad == rule {
			continue
		}
		if n%3 == 0 {
			bad = "'😀' != '' && " + bad
		}
		line := text[strings.LastIndexByte(text[:node.Begin], '\n')+1 : node.Begin]
		indent := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " -"))+2)
		for k := range styles {
			after := text[:node.Begin] + styles[(n+k)%len(styles)](bad, indent) + text[node.End:]
			if doc, err := position.Parse([]byte(after)); err == nil {
				if _, now := doc.Find(path); now != nil && now.Value == bad && now.Tag == "!!str" && slices.EqualFunc(rulesIn(after), rules, sameStep) {
					return after
				}
			}
		}
	}
	return ""
}

func sameStep(a, b position.Path) bool { return a.String() == b.String() }

func (m *fixChecker) checkFixes(name, text, fault string) {
	m.t.Helper()
	const file = "crd.yaml"
	said := m.open(file, text)
	known := map[string]bool{}
	for _, d := range said {
		context := map[string]any{"diagnostics": said}
		var actions []protocol.CodeAction
		m.ask("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": m.uri(file)}, "range": d.Range, "context": context}, &actions)
		for _, a := range actions {
			key, err := json.Marshal(a)
			if err != nil {
				m.t.Fatal(err)
			}
			if known[string(key)] || len(known) == m.most {
				continue
			}
			known[string(key)] = true
			after := applied(m.t, text, m.uri(file), a)
			if what := changed(text, after); what != "" {
				m.t.Errorf("%s: %s: %s", name, a.Title, what)
			}
			m.tried[fault]++
			again := m.change(file, protocol.Change{Text: after})
			if errorsIn(again) > errorsIn(said) {
				m.t.Errorf("%s: %s: more errors than before: %v", name, a.Title, messages(again))
			}
			m.gone(name+": "+a.Title, said, again, a.Diagnostics)
			if len(a.Diagnostics) == 0 {
				// The action is one of several bounds, or a guard for a field that vet does not
				// report.
				m.free++
				if !boundOrGuard.MatchString(a.Title) {
					m.t.Errorf("%s: %s: without a finding", name, a.Title)
				}
				if slices.ContainsFunc(m.actionsAt(file, d.Range), func(b protocol.CodeAction) bool { return b.Title == a.Title }) {
					m.t.Errorf("%s: %s: offered again", name, a.Title)
				}
			}
			m.send(file, protocol.Change{Text: text})
		}
	}
	m.change(file, protocol.Change{Text: text})
	m.tell("textDocument/didClose", protocol.Params{TextDocument: protocol.TextDocument{URI: m.uri(file)}})
}

// errorsIn returns the number of errors that are not about costs. With some bounds, the API server
// reports further cost errors.
func errorsIn(list []protocol.Diagnostic) (n int) {
	for _, d := range list {
		if d.Severity == protocol.Error && !isOverLimit(&d) {
			n++
		}
	}
	return n
}

// gone checks that each fixed finding occurs less often or has moved: a rule that does not compile
// may have several faults, which are fixed one by one.
func (m *fixChecker) gone(name string, before, after []protocol.Diagnostic, fixed []json.RawMessage) {
	m.t.Helper()
	for _, raw := range fixed {
		var d protocol.Diagnostic
		if err := json.Unmarshal(raw, &d); err != nil {
			m.t.Fatal(err)
		}
		what := about(&d)
		same := func(list []protocol.Diagnostic, there func(protocol.Diagnostic) bool) (n int) {
			for _, d := range list {
				if about(&d) == what && there(d) {
					n++
				}
			}
			return n
		}
		there := func(protocol.Diagnostic) bool { return true }
		if strings.Contains(what, "ERROR: ") {
			there = func(o protocol.Diagnostic) bool {
				was, is := o.Range.Start, d.Range.Start
				return was.Line < is.Line || was.Line == is.Line && was.Character <= is.Character
			}
		}
		if same(after, there) >= same(before, there) {
			m.t.Errorf("%s: still reported: %.500s", name, what)
		}
	}
}

var (
	boundOrGuard = regexp.MustCompile(`^set |\bhas\(`)
	setTo        = regexp.MustCompile(`: \d+$`)
	failure      = regexp.MustCompile(`: Invalid value: .*: compilation failed: (ERROR: )<input>:\d+:\d+:`)
)

func about(d *protocol.Diagnostic) string {
	line, _, _ := strings.Cut(fullText(*d), "\n")
	line = failure.ReplaceAllString(line, ": $1")
	if field, _, is := strings.Cut(line, ": Invalid value: "); is {
		line = field
	}
	return d.Code + " " + setTo.ReplaceAllString(line, "")
}

func changed(before, after string) string {
	was, err := position.Parse([]byte(before))
	if err != nil {
		return err.Error()
	}
	is, err := position.Parse([]byte(after))
	if err != nil {
		return err.Error()
	}
	rules := rulesIn(before)
	if now := rulesIn(after); !slices.EqualFunc(rules, now, sameStep) {
		return "other rules"
	}
	for _, path := range rules {
		_, a := was.Find(path)
		_, b := is.Find(path)
		if a.Value == b.Value {
			continue
		}
		if before[:a.Start] != after[:b.Start] || before[a.End:] != after[b.End:] || a.Style != b.Style && a.Style != position.Plain {
			return "bytes around the rule's text: " + before[a.Start:a.End] + "\n" + after[b.Start:b.End]
		}
		return ""
	}
	if withoutBounds(before) != withoutBounds(after) || strings.Count(after, "\r\n") > 0 != strings.Contains(before, "\r\n") {
		return "more than bounds"
	}
	return ""
}

func withoutBounds(text string) string {
	return boundLine.ReplaceAllString(text, "")
}

var boundLine = regexp.MustCompile(`(?m)^[ -]*max(Items|Length|Properties): \d+\r?\n`)
