package lsp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/crdedit"
)

// The kinds of actions.
const (
	quickFix = "quickfix"
	fixAll   = "source.fixAll"
)

// codeAction offers what mends a finding in a range, and what mends all that vet --fix
// does.
func (s *server) codeAction(p protocol.CodeActionParams) func(context.Context) (any, error) {
	v := s.view(p.TextDocument.URI)
	return func(ctx context.Context) (any, error) {
		actions := []protocol.CodeAction{}
		if v == nil {
			return actions, nil
		}
		if err := v.wait(ctx, func(d *document) bool { return analyzed(d) && s.usable(d) }); err != nil && err != errLate {
			return nil, err
		}
		a := actor{view: v, only: p.Context.Only, diagnostics: p.Context.Diagnostics, from: v.text.offset(p.Range.Start), to: v.text.offset(p.Range.End)}
		a.expression()
		a.bounds()
		a.markers()
		a.object()
		return append(actions, a.actions...), ctx.Err()
	}
}

// actor gathers actions.
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

// add offers a text in place of a piece of the document.
func (a *actor) add(kind, title string, p editor.Piece, after []byte, preferred bool, mends fixFilter) {
	if !a.wants(kind) || bytes.Equal(p.Bytes, after) {
		return
	}
	a.offer(kind, title, []protocol.TextEdit{a.edit(p, after)}, preferred, mends)
}

func (a *actor) edit(p editor.Piece, after []byte) protocol.TextEdit {
	edit := least(p.Bytes, after)
	return protocol.TextEdit{Range: a.text.rangeOf(p.Start+edit.from, p.Start+edit.to), NewText: edit.text}
}

// offer adds an action, of each title one.
func (a *actor) offer(kind, title string, edits []protocol.TextEdit, preferred bool, mends fixFilter) {
	if slices.ContainsFunc(a.actions, func(other protocol.CodeAction) bool { return other.Title == shown(title) && other.Kind == kind }) {
		return
	}
	a.actions = append(a.actions, protocol.CodeAction{
		Title: shown(title), Kind: kind, Diagnostics: a.fixedDiagnostics(mends), IsPreferred: preferred,
		Edit: &protocol.WorkspaceEdit{Changes: map[string][]protocol.TextEdit{a.uri: edits}},
	})
}

// change is a text in place of bytes.
type change struct {
	from, to int
	text     string
}

// least is the least that makes one text another.
func least(before, after []byte) change {
	from := 0
	for from < len(before) && from < len(after) && before[from] == after[from] {
		from++
	}
	for from > 0 && from < len(before) && !utf8.RuneStart(before[from]) {
		from--
	}
	end := 0
	for end < len(before)-from && end < len(after)-from && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	for end > 0 && !utf8.RuneStart(before[len(before)-end]) {
		end--
	}
	return change{from, len(before) - end, string(after[from : len(after)-end])}
}

// expression offers the mends of what is wrong with the expression around the range, or
// else with those of the rule around it: lints stand at a rule's first key.
func (a *actor) expression() {
	if e := a.view.expression(a.from); e != nil && e.judged() {
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
			if e := a.view.expression(p.Start + node.Start); e != nil && e.judged() {
				a.fixExpression(e)
			}
		}
	}
}

// judged is true of an expression of which problems can be told.
func (e *expression) judged() bool {
	return e.place != nil && (e.At.Key == "rule" || e.At.Key == "messageExpression")
}

func (a *actor) fixExpression(e *expression) {
	switch {
	case e.Tree == nil:
		a.inGo(e)
		return
	case e.Tree.Broken() != nil:
		return
	}
	p, _ := a.trees.At(a.text.bytes, e.Point(0))
	for _, problem := range e.place.Problems(e.Source) {
		mends := a.problem(e, &problem)
		for i, m := range problem.Fixes {
			if len(m.Edits) > 0 {
				if after, err := e.edited(p, m.Edits); err == nil {
					a.add(quickFix, m.Title, p, after, i == 0, mends)
				}
			}
			if len(m.Bounds) > 0 {
				a.set(m.Title, e.At, p, advised(m.Bounds), i == 0, mends)
			}
		}
	}
}

// edited is the document after edits of the expression: where they stand in its text,
// if that then reads so, else as the document's own style has the new expression.
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

func advised(bounds []assist.Bound) (list []vet.Advice) {
	for _, b := range bounds {
		list = append(list, vet.Advice{Path: b.Path, Set: b.Set, Value: b.Value, Now: b.Now})
	}
	return list
}

// set offers bounds in the schema of a version.
func (a *actor) set(title string, at editor.RuleAt, p editor.Piece, advice []vet.Advice, preferred bool, mends fixFilter) {
	report := &vet.Report{Versions: make([]vet.Version, at.Version+1)}
	report.Versions[at.Version].Advice = advice
	if after, _, err := crdedit.Of(p.Tree, inList(p), at.Item).Follow(report); err == nil {
		a.add(quickFix, title, p, after, preferred, mends)
	}
}

func inList(p editor.Piece) bool {
	_, items := p.Tree.Root.Get("items")
	return items != nil && items.Kind == position.Sequence
}

// bounds offers what vet advises: at a rule or a schema the bounds there, and all at
// once.
func (a *actor) bounds() {
	if a.known == nil || a.known.text != a.text {
		return // the next round has what is true now
	}
	var all []protocol.TextEdit
	var advised []fixFilter
	for _, of := range a.known.parts {
		if of.crd == nil || of.crd.vetted == nil || of.crd.vetted.Report == nil || of.start < 0 {
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
	}
	if len(all) > 0 && a.wants(fixAll) {
		a.offer(fixAll, "set the bounds that make the rules fit", all, false, func(d *protocol.Diagnostic) bool {
			return slices.ContainsFunc(advised, func(m fixFilter) bool { return m(d) })
		})
	}
}

// one offers each bound alone that bears on the place.
func (a *actor) one(of *part, p editor.Piece, within int, text *crdedit.CRD) {
	at, inRule := editor.RuleOf(p.Tree.At(within).Path)
	report := of.crd.vetted.Report
	for i := range report.Versions {
		v := &report.Versions[i]
		for _, advised := range v.Advice {
			said := slices.DeleteFunc(slices.Clone(of.findings), func(f docFinding) bool { return f.advice != advised.Field+"."+advised.Set })
			here := inRule && at.Version == i && slices.ContainsFunc(v.Rules, func(r vet.Rule) bool {
				return r.Index == at.Index && samePlace(r.Path, at) && slices.Contains(r.Advice, advised)
			})
			here = here || slices.ContainsFunc(said, func(f docFinding) bool { return overlaps(a.text, f.diagnostic.Range, a.from, a.to) })
			if !here {
				continue
			}
			if after, _, err := text.Follow(alone(report, advised)); err == nil {
				a.add(quickFix, fmt.Sprintf("set %s: %d at %s", advised.Set, advised.Value, phrase.Place(advised.Path)), p, after, len(v.Advice) == 1, of.fixedBy(said))
			}
		}
	}
}

// alone is what a report advises of one bound, in each version that it is advised of:
// versions with one schema share their advice.
func alone(report *vet.Report, advised vet.Advice) *vet.Report {
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

// fixFilter is true of the findings that an action removes.
type fixFilter func(*protocol.Diagnostic) bool

// problem are the findings that a problem of an expression is: what the API server
// refuses it for, or a lint, which stands anywhere at the rule.
func (a *actor) problem(e *expression, p *assist.Problem) fixFilter {
	from, to := e.Point(0), e.Point(len([]rune(e.Source)))
	ruleFrom, ruleTo := from, to
	if e.Tree != nil {
		if _, rule := e.Tree.Find(e.At.Path[:len(e.At.Path)-1]); rule != nil {
			ruleFrom, ruleTo = e.Start+rule.Start, max(to, e.Start+rule.End)
		}
	}
	field, _, _ := strings.Cut(p.Message, " is optional")
	return func(d *protocol.Diagnostic) bool {
		switch {
		case p.Kind == assist.Unguarded:
			return d.Code == "optional-read" && overlaps(a.text, d.Range, ruleFrom, ruleTo) && strings.HasPrefix(d.Message, shown(field)+" is optional")
		case !overlaps(a.text, d.Range, from, to):
			return false
		case p.Kind == assist.Costly:
			return overBudget(d) && strings.Contains(d.Message, "rule cost exceeds budget")
		}
		return d.Severity == protocol.Error && d.Code == "FieldValueInvalid"
	}
}

// fixedBy are the findings that bounds remove that were advised: the advice, and with all
// of it that costs are over a limit, if bounds suffice.
func (p *part) fixedBy(advised []docFinding) fixFilter {
	all := slices.DeleteFunc(slices.Clone(p.findings), func(f docFinding) bool { return f.advice == "" })
	suffice := len(advised) >= len(all) && !slices.ContainsFunc(p.crd.vetted.Report.Versions, func(v vet.Version) bool { return !v.Mendable })
	return func(d *protocol.Diagnostic) bool {
		return slices.ContainsFunc(p.findings, func(f docFinding) bool {
			if f.diagnostic.Message != d.Message || f.diagnostic.Range != d.Range {
				return false
			}
			return suffice && overBudget(d) || f.advice != "" && slices.ContainsFunc(advised, func(a docFinding) bool { return a.advice == f.advice })
		})
	}
}

// overBudget is true of what the API server says of costs.
func overBudget(d *protocol.Diagnostic) bool {
	return d.Code == "FieldValueForbidden" && strings.Contains(d.Message, "estimated rule")
}

// fixedDiagnostics are the diagnostics of the request that an action removes.
func (a *actor) fixedDiagnostics(mends fixFilter) (list []json.RawMessage) {
	for _, raw := range a.diagnostics {
		var d protocol.Diagnostic
		if json.Unmarshal(raw, &d) == nil && d.Source == source && mends(&d) {
			list = append(list, raw)
		}
	}
	return list
}

func overlaps(t *text, r protocol.Range, from, to int) bool {
	return t.offset(r.Start) <= to && from <= t.offset(r.End)
}
