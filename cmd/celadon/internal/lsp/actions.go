package lsp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/crdedit"
)

const (
	quickFix = "quickfix"
	fixAll   = "source.fixAll"
)

func (v *view) codeActions(p protocol.Params) []protocol.CodeAction {
	a := actor{view: v, only: p.Context.Only, diagnostics: p.Context.Diagnostics, from: v.text.offset(p.Range.Start), to: v.text.offset(p.Range.End)}
	a.actions = []protocol.CodeAction{}
	a.expression()
	if a.known != nil && a.known.text == a.text { // otherwise, the next round publishes current findings
		a.bounds()
		a.markers()
		a.object()
	}
	return a.actions
}

type actor struct {
	*view
	only        []string
	diagnostics []json.RawMessage
	from, to    int
	actions     []protocol.CodeAction
}

func (a *actor) wants(kind string) bool {
	return len(a.only) == 0 || slices.ContainsFunc(a.only, func(only string) bool { return kind == only || strings.HasPrefix(kind, only+".") })
}

func (a *actor) add(kind, title string, p editor.Piece, after []byte, preferred bool, isFixed fixFilter) {
	if !a.wants(kind) || bytes.Equal(p.Bytes, after) {
		return
	}
	a.offer(kind, title, []protocol.TextEdit{a.edit(p, after)}, preferred, isFixed)
}

func (a *actor) edit(p editor.Piece, after []byte) protocol.TextEdit {
	from, to, text := smallestChange(p.Bytes, after)
	return protocol.TextEdit{Range: a.text.rangeOf(p.Start+from, p.Start+to), NewText: text}
}

func (a *actor) offer(kind, title string, edits []protocol.TextEdit, preferred bool, isFixed fixFilter) {
	if slices.ContainsFunc(a.actions, func(other protocol.CodeAction) bool { return other.Title == shown(title) && other.Kind == kind }) {
		return
	}
	a.actions = append(a.actions, protocol.CodeAction{
		Title: shown(title), Kind: kind, Diagnostics: a.fixedDiagnostics(isFixed), IsPreferred: preferred,
		Edit: &protocol.WorkspaceEdit{Changes: map[string][]protocol.TextEdit{a.uri: edits}},
	})
}

// smallestChange returns the range of before that differs from after, and its new text. It does not split characters.
func smallestChange(before, after []byte) (from, to int, text string) {
	least := min(len(before), len(after))
	for from < least && before[from] == after[from] {
		from++
	}
	for from > 0 && from < len(before) && !utf8.RuneStart(before[from]) {
		from--
	}
	end := 0
	for end < least-from && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	for end > 0 && !utf8.RuneStart(before[len(before)-end]) {
		end--
	}
	return from, len(before) - end, string(after[from : len(after)-end])
}

// expression offers fixes for the expression at the start of the range, or else for the expressions of the
// rule around it, because lints are reported at a rule's first key.
func (a *actor) expression() {
	if e := a.view.expression(a.from); e != nil && e.context != nil {
		a.fixExpression(e)
		return
	}
	if a.isGo() {
		return
	}
	p, within := a.trees.At(a.text.bytes, a.from)
	path := p.Tree.At(within).Path
	at, ok := editor.RuleOf(path)
	if !ok {
		return
	}
	if at.Key != "" {
		path = path[:len(path)-1]
	}
	for _, key := range []string{"rule", "messageExpression"} {
		if _, node := p.Tree.Find(append(path[:len(path):len(path)], position.Key(key))); node != nil && node.Known {
			if e := a.view.expression(p.Start + node.Start); e != nil && e.context != nil {
				a.fixExpression(e)
			}
		}
	}
}

func (a *actor) fixExpression(e *expression) {
	if e.Tree.Broken() != nil {
		return
	}
	p, _ := a.trees.At(a.text.bytes, e.Point(0))
	for _, problem := range e.context.Problems(e.Source) {
		isFixed := a.problem(e, &problem)
		for i, m := range problem.Fixes {
			if after, err := e.edited(p, m.Edits); err == nil {
				a.add(quickFix, m.Title, p, after, i == 0 && m.Certain, isFixed)
			}
		}
	}
}

// edited returns the document after edits of the expression. It changes only the edited bytes of the source if the
// result has the wanted value. Otherwise, it writes the new expression in the style of the document.
func (e *expression) edited(p editor.Piece, edits []assist.Edit) ([]byte, error) {
	want := assist.Apply(e.Source, edits)
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b assist.Edit) int { return cmp.Compare(b.Start, a.Start) })
	after := slices.Clone(p.Bytes)
	for _, edit := range edits {
		after = slices.Replace(after, e.Point(edit.Start)-p.Start, e.Point(edit.End)-p.Start, []byte(e.Style.Escape(edit.Text))...)
	}
	if tree, err := position.Parse(after); err == nil {
		if _, now := tree.Find(e.At.Path); now != nil && now.Value == want {
			return after, nil
		}
	}
	return e.Tree.Edit(position.Set(e.At.Path, want))
}

func (a *actor) bounds() {
	var all []protocol.TextEdit
	var advised []fixFilter
	for _, of := range a.known.parts {
		if of.report() == nil || of.start < 0 {
			continue
		}
		p, within := a.trees.At(a.text.bytes, max(a.from, of.start))
		source, _, isItem := of.doc.Source()
		if p.Tree.Broken() != nil || a.to < of.start || a.from > of.start+len(source) {
			continue
		}
		text := crdedit.Of(p.Tree, isItem, of.doc.Item)
		fixes := of.crd.vetted.Fixes()
		if after, n, err := text.Follow(fixes.Report, fixes.Rules...); err == nil && n > 0 {
			if n > 1 {
				a.add(quickFix, fmt.Sprintf("set all %s that make the rules fit", phrase.Count(n, "bound")), p, after, false, of.fixedBy(of.findings))
			}
			advised = append(advised, of.fixedBy(of.findings))
			all = append(all, a.edit(p, after))
		}
		a.one(of, p, within, text)
		a.lints(of, p, within, text)
		a.keys(of, p, text, fixes.Keys)
	}
	if len(all) > 0 && a.wants(fixAll) {
		a.offer(fixAll, "set the bounds that make the rules fit", all, false, func(d *protocol.Diagnostic) bool {
			return slices.ContainsFunc(advised, func(m fixFilter) bool { return m(d) })
		})
	}
}

func (a *actor) one(of *part, p editor.Piece, within int, text *crdedit.CRD) {
	at, inRule := editor.RuleOf(p.Tree.At(within).Path)
	report := of.report()
	for i := range report.Versions {
		v := &report.Versions[i]
		for _, advised := range v.Advice {
			said := slices.DeleteFunc(slices.Clone(of.findings), func(f protocol.Diagnostic) bool { return f.Advice != advised.Field+"."+advised.Set })
			here := inRule && at.Version == i && slices.ContainsFunc(v.Rules, func(r vet.Rule) bool {
				return r.Index == at.Index && r.Path == engine.FormatPath(at.Steps) && slices.Contains(r.Advice, advised)
			})
			here = here || slices.ContainsFunc(said, a.isInRange)
			if !here {
				continue
			}
			if after, _, err := text.Follow(withOnly(report, advised)); err == nil {
				a.add(quickFix, fmt.Sprintf("set %s: %d at %s", advised.Set, advised.Value, phrase.Path(advised.Path)), p, after, len(v.Advice) == 1, of.fixedBy(said))
			}
		}
	}
}

// withOnly returns a report with the advice about one bound, in each version that has it: versions with
// the same schema share their advice.
func withOnly(report *vet.Report, advised vet.Advice) *vet.Report {
	one := &vet.Report{Versions: make([]vet.Version, len(report.Versions))}
	for i := range report.Versions {
		for _, other := range report.Versions[i].Advice {
			if other.Field == advised.Field && other.Set == advised.Set {
				one.Versions[i].Advice = append(one.Versions[i].Advice, other)
			}
		}
	}
	return one
}

type fixFilter func(*protocol.Diagnostic) bool

// problem returns a filter for the findings that correspond to a problem of an expression: the API
// server's error, or a lint, which can be anywhere in the rule.
func (a *actor) problem(e *expression, p *assist.Problem) fixFilter {
	from, to := e.Point(0), e.Point(len([]rune(e.Source)))
	ruleFrom, ruleTo := from, to
	if _, rule := e.Tree.Find(e.At.Path[:len(e.At.Path)-1]); rule != nil {
		ruleFrom, ruleTo = e.Start+rule.Start, max(to, e.Start+rule.End)
	}
	return func(d *protocol.Diagnostic) bool {
		switch {
		case p.Kind == assist.Unguarded:
			return d.Data != nil && d.Data.Read == p.Read && overlaps(a.text, d.Range, ruleFrom, ruleTo)
		case !overlaps(a.text, d.Range, from, to):
			return false
		case p.Kind == assist.Costly:
			return false
		}
		_, isMistake := assist.Find(d.Code) // whatever its severity
		return isMistake || d.Severity == protocol.Error && d.Code == "FieldValueInvalid"
	}
}

// fixedBy returns a filter for the findings that the advised bounds fix. If these are all the bounds, and
// bounds suffice, it includes the findings that a cost exceeds its limit.
func (p *part) fixedBy(advised []protocol.Diagnostic) fixFilter {
	all := slices.DeleteFunc(slices.Clone(p.findings), func(f protocol.Diagnostic) bool { return f.Advice == "" })
	suffice := len(advised) >= len(all) && !slices.ContainsFunc(p.report().Versions, func(v vet.Version) bool { return !v.Fixable })
	return func(d *protocol.Diagnostic) bool {
		return slices.ContainsFunc(p.findings, func(f protocol.Diagnostic) bool {
			isAdvised := f.Advice != "" && slices.ContainsFunc(advised, func(a protocol.Diagnostic) bool { return a.Advice == f.Advice })
			return f.Message == d.Message && f.Range == d.Range && (isAdvised || suffice && isOverLimit(d))
		})
	}
}

func isOverLimit(d *protocol.Diagnostic) bool {
	kinds := []engine.CauseKind{engine.CauseRuleCost, engine.CauseShareOfCost, engine.CauseTotalCost}
	return d.Data != nil && slices.Contains(kinds, engine.CauseKind(d.Data.Kind))
}

func (a *actor) fixedDiagnostics(isFixed fixFilter) (list []json.RawMessage) {
	for _, raw := range a.diagnostics {
		var d protocol.Diagnostic
		if json.Unmarshal(raw, &d) == nil && d.Source == source && isFixed(&d) {
			list = append(list, raw)
		}
	}
	return list
}

func (a *actor) isInRange(d protocol.Diagnostic) bool { return overlaps(a.text, d.Range, a.from, a.to) }

func overlaps(t *text, r protocol.Range, from, to int) bool {
	return t.offset(r.Start) <= to && from <= t.offset(r.End)
}

func (a *actor) lints(of *part, p editor.Piece, within int, text *crdedit.CRD) {
	at, inRule := editor.RuleOf(p.Tree.At(within).Path)
	report := of.report()
	for i := range report.Lints {
		l := &report.Lints[i]
		steps, err := engine.ParsePath(l.Path)
		if l.Fix == "" || err != nil || !inRule || l.Index != at.Index || l.Path != engine.FormatPath(at.Steps) {
			continue
		}
		version := report.Versions[at.Version].Name
		if l.Version != "" && l.Version != version {
			continue
		}
		var edits []crdedit.Text
		for v := range report.Versions {
			if l.Version == "" || v == at.Version {
				edits = append(edits, crdedit.Text{At: crdedit.SchemaNode{Version: v, Steps: steps}, Index: l.Index, Rule: l.Fix})
			}
		}
		if after, _, err := text.Follow(&vet.Report{}, edits...); err == nil {
			a.add(quickFix, "write "+l.Fix, p, after, l.Equivalent, func(d *protocol.Diagnostic) bool {
				return d.Code == l.Name && d.Data != nil && d.Data.Field == l.Field
			})
		}
	}
}

func (a *actor) keys(of *part, p editor.Piece, text *crdedit.CRD, keys []vet.UnknownKey) {
	for _, key := range keys {
		found := of.doc.Locate([]string{key.Path})[0]
		at := of.rangeOf(a.text, finding.Location{Line: found.Line, Column: found.Column})
		if !overlaps(a.text, at, a.from, a.to) {
			continue
		}
		if after, _, err := text.CorrectKeys([]vet.UnknownKey{key}); err == nil {
			a.add(quickFix, "write "+key.Known, p, after, true, func(d *protocol.Diagnostic) bool { return d.Range == at })
		}
	}
}
