package lsp

import (
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/x/secret"
)

// A diagnostic begins with its point, because editors show the first words of a message next to the line. The
// text that the other formats of celadon have follows on its own lines.

func pointFirst(point, text string) string {
	if point == "" || strings.HasPrefix(text, point) {
		return shown(text)
	}
	return shown(point) + "\n" + shown(text)
}

func pointOf(f *finding.Finding) string {
	text, isFollowing := strings.CutPrefix(f.Text(), print.Follows)
	text = strings.TrimPrefix(text, strings.TrimSuffix(f.Title, print.FollowsTitle)+": ")
	if point, ok := editor.StrictPoint(text, f.At.Field, f.At.Hint); ok {
		return point
	}
	text, _, _ = strings.Cut(text, "\n")
	field, message, ok := strings.Cut(text, ": ")
	switch {
	case strings.Contains(f.ID, "AdmissionPolicy/"):
		if _, denial, ok := strings.Cut(text, ": "+finding.Deny+": "); ok {
			message = denial
		}
	case f.At.Field != "" && strings.HasPrefix(text, f.At.Field+": "):
		field, message = f.At.Field, text[len(f.At.Field)+2:]
	case !ok || strings.ContainsAny(field, " \"'"):
		field, message = "", text
	case editor.Point(field, message) == message:
		return "" // the words before the colon belong to the message
	}
	point := editor.Point(field, message)
	if isFollowing {
		point += " (once the errors above are fixed)"
	}
	return point
}

// strictDiagnostics returns diagnostics for the fields after the first of a message, because the server reports all
// unknown and duplicate fields in one message.
func (v *view) strictDiagnostics(p *part, f *finding.Finding, fields []finding.Location) (more []protocol.Diagnostic) {
	for _, at := range fields {
		one := *f
		one.At = at
		more = append(more, diagnostic(p.rangeOf(v.text, at), &one))
	}
	return more
}

// strictInCRD returns the locations of the unknown fields of a CRD after the first, if f is the finding about them.
func strictInCRD(p *part, f *finding.Finding) []finding.Location {
	r := p.crd.vetted.Report
	if f.Rule != nil || f.Level != "error" || p.doc.Duplicate != nil || r == nil || len(r.Strict) < 2 || f.At.Field != r.Strict[0].Field {
		return nil
	}
	return hint.Strict(r.Strict[1:min(len(r.Strict), maxFindings)], excerpt.NewExcerpts(p.doc, 0, &secret.Secrets{}, nil))
}
