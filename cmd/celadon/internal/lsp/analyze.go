package lsp

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
	"github.com/celadon-cel/celadon/x/ruletest"
)

type analysis struct {
	text        *text
	parts       []*part
	diagnostics []protocol.Diagnostic
	omitted     int // findings beyond maxFindings
	// good holds the last valid CRDs by position. They provide the schema while the user is editing.
	good map[spot]*part
	// by is the number of changes to CRDs when the analysis was made.
	by int64
	// golang is the result for a Go file; nil for other files.
	golang []finding.Finding
}

// A spot is the index of a YAML document in its file, and the index of an item in a List.
type spot struct{ index, item int }

const maxFindings = 1000

// analyze puts the CRDs of the document in force, and adds the kinds whose CRD changed to changed.
func (v *view) analyze(ctx context.Context, changed map[schema.GroupKind]bool) *analysis {
	a := &analysis{by: v.crds.changed.Load(), text: v.text, diagnostics: []protocol.Diagnostic{}, good: map[spot]*part{}}
	if len(v.text.bytes) > editor.MaxText {
		return a
	}
	if v.isGo() {
		v.ofGo(ctx, a)
		return a
	}
	a.parts = split(v.name, v.uri, v.text)
	if (v.known == nil || len(v.known.good) == 0) && template(v.name, v.language, v.text, a.parts) {
		a.parts = nil
	}
	v.crdsOf(ctx, a, changed)
	a.by = v.crds.changed.Load()
	v.ofPolicies(ctx, a.parts)
	isPatch := sync.OnceValue(func() bool { return resource.NewKustomizations(v.folders()...).IsPatch(v.name) })
	for _, p := range a.parts {
		if ctx.Err() != nil {
			return a
		}
		switch p.documentType {
		case crd:
			v.ofCRD(p)
		case object:
			if (v.crds.live().Knows(p.kind) || v.crds.decider().Serves(p.doc.Identity())) && !isPatch() {
				v.ofObject(ctx, p)
			}
		case suite:
			v.ofSuite(ctx, p)
		case broken:
			v.ofBroken(p)
		}
		a.publish(p.findings, p.omitted)
	}
	return a
}

func (a *analysis) publish(findings []protocol.Diagnostic, omitted int) {
	n := min(len(findings), maxFindings-len(a.diagnostics))
	a.diagnostics = append(a.diagnostics, findings[:n]...)
	a.omitted += len(findings) - n + omitted
}

const source = "celadon"

func (v *view) crdsOf(ctx context.Context, a *analysis, changed map[schema.GroupKind]bool) {
	var reads []read
	for _, p := range a.parts {
		if p.documentType != crd {
			continue
		}
		vetted, err := v.reviewer().Vet(ctx, p.doc)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			v.log(protocol.Error, fmt.Sprintf("%s: internal error in celadon: %v", p.doc.Location(), err))
		}
		p.crd = v.newCRDPart(v.name, p.doc)
		p.crd.vetted = vetted
		if p.crd.CRD != nil {
			reads = append(reads, p.crd.read)
			a.good[spot{p.index, p.doc.Item}] = p
		}
		reads = appendReads(reads, v.name, p.also...)
	}
	v.crds.set(v.name, append(reads, v.kept(a, reads)...), changed)
}

// kept returns the last valid forms of the CRDs that are invalid or unreadable while the user is editing
// them, so that they stay in force.
func (v *view) kept(a *analysis, reads []read) (kept []read) {
	if v.known == nil {
		return nil
	}
	for _, p := range a.parts {
		for at, old := range v.known.good {
			if p.documentType != broken && (p.crd == nil || p.crd.CRD != nil) || at.index != p.index || a.good[at] != nil {
				continue
			}
			a.good[at] = old
			if !slices.ContainsFunc(reads, func(other read) bool { return other.CRD.Name == old.crd.CRD.Name }) {
				kept = append(kept, old.crd.read)
			}
		}
	}
	return kept
}

func (v *view) ofCRD(p *part) {
	if p.crd.vetted == nil {
		return
	}
	var causes []finding.Cause
	for _, f := range p.crd.vetted.Findings {
		message := strings.TrimPrefix(f.Text(), f.At.Field+": ")
		causes = append(causes, finding.Cause{Line: f.At.Line, Column: f.At.Column, Field: f.At.Field, Message: message, Kind: f.Kind})
	}
	for i, repeats := range editor.Repeats(causes) {
		f := p.crd.vetted.Findings[i]
		if repeats {
			continue
		}
		more := strictInCRD(p, &f)
		d := diagnostic(p.rangeOf(v.text, f.At), &f)
		if f.Rule != nil && f.Level == "error" {
			p.within(&d, &f)
		}
		if f.ID == "advice" {
			d.Advice = f.At.Field
		}
		p.findings = append(append(p.findings, d), v.strictDiagnostics(p, &f, more)...)
	}
}

func diagnostic(at protocol.Range, f *finding.Finding) protocol.Diagnostic {
	d := protocol.Diagnostic{
		Range: at, Severity: severities[f.Level], Code: f.ID, Source: source, Message: pointFirst(pointOf(f), f.Text()),
	}
	switch {
	case f.Lint != nil:
		d.Data = &protocol.DiagnosticData{Field: f.Lint.Field, Read: f.Lint.Read}
	case f.Kind != "":
		d.Data = &protocol.DiagnosticData{Kind: string(f.Kind)}
	}
	return d
}

var severities = map[string]protocol.Severity{"error": protocol.Error, "warning": protocol.Warning, "note": protocol.Information}

func shown(text string) string { return string(untrusted.Text(text)) }

// within narrows d to the word at which the expression of a rule fails to compile, and makes the reason its point.
func (p *part) within(d *protocol.Diagnostic, f *finding.Finding) {
	rule := *f.Rule
	if crd := p.crd.CRD; rule.Version == "" && crd != nil && len(crd.Spec.Versions) > 0 {
		rule.Version = crd.Spec.Versions[0].Name // versions with the same schema share their findings
	}
	_, name, _ := strings.Cut(f.At.Field[strings.LastIndex(f.At.Field, "[")+1:], "].")
	_, errs := p.crd.compiled()
	i := slices.IndexFunc(errs, func(e *engine.CompileError) bool {
		return e.Version == rule.Version && e.Path == rule.Path && e.Index == rule.Index && e.Part == name
	})
	at, _, node := p.rulePart(&rule, name)
	_, _, whole := p.rulePart(&rule, "")
	tree, _ := p.doc.Tree()
	if i < 0 || errs[i].Line == 0 || node == nil || tree == nil {
		return
	}
	words, ok := tree.Text(node.Resolve())
	exprContext := p.crd.expressionContext(&at, editor.OptionalOldSelf(whole), nil)
	if !ok || exprContext == nil {
		return
	}
	problem := exprContext.ProblemOf(errs[i])
	d.Range = p.text.rangeOf(p.start+words.SourcePoint(problem.Start), p.start+words.SourcePoint(problem.End))
	if point := editor.CompilePoint(&problem); point != "" {
		d.Message = pointFirst(point, f.Text())
	}
}

func (v *view) ofObject(ctx context.Context, p *part) {
	verdict := v.crds.decider().Decide(ctx, p.doc)
	if verdict == nil {
		return
	}
	if verdict.Bug != nil {
		v.log(protocol.Error, fmt.Sprintf("%s: internal error in celadon: %v", p.doc.Location(), verdict.Bug))
	}
	for f := range print.Findings(verdict) {
		if len(p.findings) > maxFindings {
			p.omitted++
			continue
		}
		d := diagnostic(p.rangeOf(v.text, f.At), &f)
		if f.Rule != nil {
			d.Related = v.ruleIn(p.kind, f.Rule)
		}
		p.findings = append(p.findings, d)
		if strict := verdict.Strict; f.Rule == nil && len(strict) > 1 && f.At == strict[0] {
			p.findings = append(p.findings, v.strictDiagnostics(p, &f, strict[1:min(len(strict), maxFindings)])...)
		}
	}
}

// ofBroken adds an error for a document that cannot be read, if it appears to be a CRD, an object of
// a known CRD, or a test suite.
func (v *view) ofBroken(p *part) {
	var apiVersion, kind string
	for line := range bytes.Lines(v.text.bytes[p.yaml:]) {
		if decode.Separator(line) {
			break
		}
		if value, ok := bytes.CutPrefix(line, []byte("apiVersion:")); ok {
			apiVersion = word(value)
		} else if value, ok := bytes.CutPrefix(line, []byte("kind:")); ok {
			kind = word(value)
		}
	}
	id := input.Identity{APIVersion: apiVersion, Kind: kind}
	isSuite := kind == ruletest.Kind && apiVersion == ruletest.APIVersion
	if kind != resource.Kind && !isSuite && !v.crds.live().Knows(id.GroupKind()) {
		return
	}
	d := protocol.Diagnostic{Range: p.whole(v.text), Severity: protocol.Error, Code: "unreadable", Source: source, Message: shown(p.doc.Err.Error())}
	p.findings = append(p.findings, d)
}

func word(value []byte) string {
	text, _, _ := strings.Cut(string(value), " #")
	return strings.Trim(strings.TrimSpace(text), `"'`)
}
