package lsp

import (
	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/crdedit"
)

// lints offers the replacements that lints suggest for the rules of the range. A replacement that may
// validate objects differently is not preferred.
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
