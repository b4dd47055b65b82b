package lsp

import (
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

func (c *client) actionsAt(name string, rng protocol.Range, only ...string) (all []protocol.CodeAction) {
	c.t.Helper()
	c.ask("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": c.uri(name)}, "range": rng, "context": map[string]any{"diagnostics": []any{}, "only": only}}, &all)
	return all
}

func applied(t *testing.T, text, uri string, a protocol.CodeAction) string {
	t.Helper()
	txt := newText(text)
	edits := slices.Clone(a.Edit.Changes[uri])
	slices.SortFunc(edits, func(a, b protocol.TextEdit) int { return txt.offset(b.Range.Start) - txt.offset(a.Range.Start) })
	for _, e := range edits {
		var err error
		if txt, err = txt.change(protocol.Change{Range: &e.Range, Text: e.NewText}); err != nil {
			t.Fatal(err)
		}
	}
	return string(txt.bytes)
}

func TestActions(t *testing.T) {
	t.Parallel()
	crd := example(t, "crontab/crd.yaml")
	const rule = "self.replicas <= self.maxReplicas"
	for name, c := range map[string]struct{ from, to, about, want string }{
		"a wrong name":     {rule, "self.replicsa <= self.maxReplicas", "undefined field", rule},
		"= for ==":         {rule, "self.replicas = self.maxReplicas", "Syntax error", "self.replicas == self.maxReplicas"},
		"and for &&":       {rule, "self.replicas > 0 and self.maxReplicas > 1", "Syntax error", "self.replicas > 0 && self.maxReplicas > 1"},
		"constant part":    {rule, "size(self.image) >= 0 && self.replicas <= self.maxReplicas", "always true", "- rule: self.replicas <= self.maxReplicas"},
		"no self":          {rule, "replicas <= self.maxReplicas", "undeclared reference", "self.replicas <= self.maxReplicas"},
		"in single quotes": {"rule: " + rule, "rule: 'self.replicsa == 0 || ''a'' == ''😀'''", "undefined field", "rule: 'self.replicas == 0 || ''a'' == ''😀'''"},
		"in double quotes": {"rule: " + rule, `rule: "'\u0041' == '' || self.replicsa == 0"`, "undefined field", "self.replicas == 0"},
		"in a block":       {"rule: " + rule, "rule: >-\n                    '😀' == '' ||\n                    self.replicsa == 0", "undefined field", "self.replicas == 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(crd, c.from) {
				t.Fatal("not in the CRD")
			}
			for _, ends := range []string{"\n", "\r\n"} {
				e := start(t, nil, nil)
				text := "---\n" + strings.Replace(crd, c.from, c.to, 1)
				text = strings.ReplaceAll(text, "\n", ends)
				said := e.open("crd.yaml", text)
				i := slices.IndexFunc(said, func(d protocol.Diagnostic) bool { return strings.Contains(d.Message, c.about) })
				if i < 0 {
					t.Fatalf("%q is not reported: %v", c.about, messages(said))
				}
				actions := e.actionsAt("crd.yaml", said[i].Range)
				if len(actions) == 0 || !actions[0].IsPreferred || actions[0].Kind != quickFix {
					t.Fatalf("no action for %v: %+v", messages(said[i:i+1]), actions)
				}
				after := applied(t, text, e.uri("crd.yaml"), actions[0])
				if !strings.Contains(after, c.want) || otherLines(text, after) > 1 {
					t.Errorf("%s: not %q in\n%s", actions[0].Title, c.want, after)
				}
				if again := e.change("crd.yaml", protocol.Change{Text: after}); len(again) >= len(said) {
					t.Errorf("%s: still reported: %v", actions[0].Title, messages(again))
				}
				if only := e.actionsAt("crd.yaml", said[i].Range, "refactor"); len(only) > 0 {
					t.Errorf("unexpected action: %+v", only)
				}
			}
		})
	}
}

func otherLines(a, b string) (n int) {
	before, after := strings.Split(a, "\n"), strings.Split(b, "\n")
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	return max(len(before), len(after))
}

func TestBounds(t *testing.T) {
	t.Parallel()
	text := "---\n" + example(t, "costly/crd.yaml")
	c := start(t, nil, nil)
	said := c.open("crd.yaml", text)
	var advice []protocol.Diagnostic
	for _, d := range said {
		if d.Code == "advice" {
			advice = append(advice, d)
		}
	}
	if len(advice) == 0 {
		t.Fatalf("no advice: %v", messages(said))
	}
	for _, d := range advice {
		_, want, _ := strings.Cut(d.Message, ": set ")
		actions := c.actionsAt("crd.yaml", d.Range)
		if !slices.ContainsFunc(actions, func(a protocol.CodeAction) bool { return strings.HasPrefix(a.Title, "set "+want+" at ") }) {
			t.Errorf("no action for %q: %+v", d.Message, actions)
		}
		for _, a := range actions {
			after := applied(t, text, c.uri("crd.yaml"), a)
			again := c.change("crd.yaml", protocol.Change{Text: after})
			if len(again) >= len(said) {
				t.Errorf("%s: everything is still reported: %v", a.Title, messages(again))
			}
			kept := after
			for line := range strings.Lines(after) {
				if strings.Contains(line, "max") && !strings.Contains(text, line) {
					kept = strings.Replace(kept, line, "", 1)
				}
			}
			if kept != text {
				t.Errorf("%s: more than bounds has changed:\n%s", a.Title, after)
			}
		}
		c.change("crd.yaml", protocol.Change{Text: text})
	}
	all := c.actionsAt("crd.yaml", protocol.Range{End: protocol.Position{Line: 1 << 20}}, fixAll)
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	for _, d := range c.change("crd.yaml", protocol.Change{Text: applied(t, text, c.uri("crd.yaml"), all[0])}) {
		if d.Code != "unique-list" {
			t.Errorf("still reported: %v", d.Message)
		}
	}
}

// TestAsked checks hover, completion, signature help, and definition.
func TestAsked(t *testing.T) {
	t.Parallel()
	crd := example(t, "crontab/crd.yaml")
	bad := strings.Replace(cronTab, "replicas: 1", "replicas: 11", 1)
	c := start(t, nil, map[string]string{"crd.yaml": crd})
	c.open("crd.yaml", crd)
	c.open("a.yaml", bad)
	place := func(name, text, what string, after bool) protocol.Params {
		return protocol.Params{TextDocument: protocol.TextDocument{URI: c.uri(name)}, Position: find(t, text, what, after)}
	}
	labels := func(at protocol.Params) (all []string) {
		var list protocol.CompletionList
		c.ask("textDocument/completion", at, &list)
		for _, i := range list.Items {
			all = append(all, i.Label)
		}
		return all
	}
	hover := func(at protocol.Params) string {
		var h protocol.Hover
		c.ask("textDocument/hover", at, &h)
		return h.Contents.Value
	}
	if got := hover(place("crd.yaml", crd, "self.repl", true)); !strings.Contains(got, "integer") {
		t.Errorf("hover: %q", got)
	}
	if got := labels(place("crd.yaml", crd, "rule: self.", true)); !slices.Contains(got, "maxReplicas") {
		t.Errorf("completion: %v", got)
	}
	half := strings.Replace(crd, "self.replicas <= self.maxReplicas", "self.replicas <= ", 1)
	c.send("crd.yaml", protocol.Change{Text: half})
	if got := labels(place("crd.yaml", half, "self.replicas <= ", true)); !slices.Contains(got, "self") {
		t.Errorf("completion after a blank: %v", got)
	}
	c.change("crd.yaml", protocol.Change{Text: crd})
	var help protocol.SignatureHelp
	c.ask("textDocument/signatureHelp", place("crd.yaml", crd, "self.split(", true), &help)
	if len(help.Signatures) == 0 || !strings.Contains(help.Signatures[0].Label, "split") {
		t.Errorf("signatures: %+v", help)
	}
	var found []protocol.Location
	c.ask("textDocument/definition", place("crd.yaml", crd, "self.repl", true), &found)
	if len(found) != 1 || found[0].Range.Start != find(t, crd, "replicas:\n", false) {
		t.Errorf("definition: %+v", found)
	}
	c.ask("textDocument/definition", place("a.yaml", bad, "replicas", true), &found)
	if len(found) != 1 || found[0].URI != c.uri("crd.yaml") || found[0].Range.Start != find(t, crd, "replicas:\n", false) {
		t.Errorf("definition: %+v", found)
	}
	if got := hover(place("a.yaml", bad, "replicas", false)); !strings.HasPrefix(got, "spec.replicas: integer") {
		t.Errorf("hover: %q", got)
	}
	// A key that is being typed, and one in an item.
	for _, w := range []struct{ behind, with, without string }{
		{"  image: a\n  s", "suspended", "image"}, {"  env:\n  - n", "name", "replicas"}, {"  env:\n  - name: a\n    v", "value", "name"}, {"  suspended: ", "true", "image"}, {"s", "spec", "replicas"},
	} {
		text := strings.Replace(bad, "  image: a\n", "", 1) + strings.Replace(w.behind, "  image: a\n", "", 1) + "\n"
		if strings.HasPrefix(w.behind, "  image") {
			text = bad + "  s\n"
		}
		if w.behind == "s" {
			text = strings.Replace(bad, "spec:", "s", 1)
			text = text[:strings.Index(text, "\ns\n")+3]
		}
		c.send("a.yaml", protocol.Change{Text: text})
		at := newText(text).position(len(text) - 1)
		got := labels(protocol.Params{TextDocument: protocol.TextDocument{URI: c.uri("a.yaml")}, Position: at})
		if !slices.Contains(got, w.with) || slices.Contains(got, w.without) {
			t.Errorf("%q: %v", w.behind, got)
		}
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	crd := example(t, "crontab/crd.yaml")
	c := start(t, nil, nil)
	c.open("crd.yaml", crd)
	doc := protocol.Params{TextDocument: protocol.TextDocument{URI: c.uri("crd.yaml")}}
	var hints []protocol.InlayHint
	c.ask("textDocument/inlayHint", protocol.Params{TextDocument: doc.TextDocument}, &hints)
	if len(hints) != 5 {
		t.Fatalf("%d hints", len(hints))
	}
	for _, h := range hints {
		if line := strings.Split(crd, "\n")[h.Position.Line]; int(h.Position.Character) != len(line) || !strings.HasPrefix(h.Label, "cost ") {
			t.Errorf("%+v: not at the end of %q", h, line)
		}
	}
}

func TestSuites(t *testing.T) {
	t.Parallel()
	crd := example(t, "crontab/crd.yaml")
	const suite = "kind: RuleTest\napiVersion: celadon/v1\nname: a\ncrd: crd.yaml\nbase:\n  apiVersion: stable.example.com/v1\n  kind: CronTab\n  metadata: {name: a}\n  spec: {schedule: 0 5 * * *, replicas: 1, maxReplicas: 10, image: a}\ntests:\n- name: fits\n  expect: valid\n- name: too many\n  patch: {spec: {replicas: 11}}\n  expect: valid\n"
	c := start(t, nil, map[string]string{"crd.yaml": crd})
	wantLines(t, c.open("a.testsuite.yaml", suite), "15:3-9 too many")
	seen := c.seen()
	c.open("crd.yaml", strings.Replace(crd, "self.replicas <= self.maxReplicas", "self.replicas <= 10 + self.maxReplicas", 1))
	wantLines(t, c.next("a.testsuite.yaml", seen))
	wantLines(t, c.change("a.testsuite.yaml", protocol.Change{Text: strings.Replace(suite, "crd: crd.yaml", "crd: ../../etc/passwd", 1)}), "4:1-4 crd: ../../etc/passwd: a suite may only name files in the folders on the command line and their git work trees: use --crd PATH")
}
