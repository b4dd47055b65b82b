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
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
	"github.com/celadon-cel/celadon/x/ruletest"
)

// An analysis is the result of a round for a document.
type analysis struct {
	text        *text
	parts       []*part
	diagnostics []protocol.Diagnostic
	// good holds the last valid CRDs by position. They provide the schema while the user is editing.
	good map[spot]*part
	// by is the number of changes to CRDs when the analysis was made.
	by int
	// golang is the result for a Go file; nil for other files.
	golang []finding.Finding
}

// A spot is the index of a YAML document in its file, and the index of an item in a List.
type spot struct{ index, item int }

// maxFindings limits the findings of a document that are published.
const maxFindings = 1000

// A docFinding is a finding in a document.
type docFinding struct {
	diagnostic protocol.Diagnostic
	// rule is the rule that the finding is about; nil if no rule is concerned. Of is the kind of
	// its CRD.
	rule *engine.RuleRef
	of   schema.GroupKind
	// advice is the path in the CRD of the advised bound, or "".
	advice string
}

// analyze analyzes the whole document. Its CRDs are in force afterwards. It adds the kinds whose CRD
// changed to changed.
func (v *view) analyze(ctx context.Context, changed map[schema.GroupKind]bool) *analysis {
	a := &analysis{by: v.crds.changes(), text: v.text, diagnostics: []protocol.Diagnostic{}, good: map[spot]*part{}}
	if len(v.text.bytes) > editor.MaxText {
		return a
	}
	if v.isGo() {
		v.ofGo(ctx, a)
		return a
	}
	a.parts = split(v.name, v.text)
	if (v.known == nil || len(v.known.good) == 0) && template(v.name, v.language, v.text, a.parts) {
		a.parts = nil
	}
	v.crdsOf(ctx, a, changed)
	a.by = v.crds.changes()
	v.ofPolicies(ctx, a.parts)
	for _, p := range a.parts {
		if ctx.Err() != nil {
			return a
		}
		switch p.documentType {
		case crd:
			v.ofCRD(p)
		case object:
			v.ofObject(ctx, p)
		case suite:
			v.ofSuite(ctx, p)
		case broken:
			v.ofBroken(p)
		}
		for _, f := range p.findings {
			if len(a.diagnostics) < maxFindings {
				a.diagnostics = append(a.diagnostics, f.diagnostic)
			}
		}
	}
	a.more(a.findings() - len(a.diagnostics))
	return a
}

// more adds a diagnostic with the number of findings that are not published.
func (a *analysis) more(n int) {
	if n > 0 {
		a.diagnostics = append(a.diagnostics, protocol.Diagnostic{Severity: protocol.Error, Source: source, Message: "and " + phrase.Count(n, "more finding")})
	}
}

const source = "celadon"

func (a *analysis) findings() (n int) {
	for _, p := range a.parts {
		n += len(p.findings) + p.omitted
	}
	return n
}

// crdsOf reads the CRDs of a document and puts them in force.
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
		p.crd = newCRDPart(p.doc)
		p.crd.vetted = vetted
		if p.crd.read.CRD != nil {
			r := p.crd.known(v.name)
			p.kind = kindOf(r)
			p.crd.compile = v.compiler(p.crd)
			reads = append(reads, r)
			a.good[spot{p.index, p.doc.Item}] = p
		}
		for _, doc := range p.also {
			if c := newCRDPart(doc); c.read.CRD != nil {
				reads = append(reads, c.known(v.name))
			}
		}
	}
	v.crds.set(v.name, append(reads, v.kept(a, reads)...), changed)
}

// kept returns the CRDs that are invalid while the user is editing them. Their last valid form stays
// in force.
func (v *view) kept(a *analysis, reads []read) (kept []read) {
	if v.known == nil {
		return nil
	}
	for _, p := range a.parts {
		for at, old := range v.known.good {
			if p.documentType != broken && (p.crd == nil || p.crd.read.CRD != nil) || at.index != p.index || a.good[at] != nil {
				continue
			}
			r := old.crd.known(v.name)
			a.good[at] = old
			if !slices.ContainsFunc(reads, func(other read) bool { return other.CRD.Name == r.CRD.Name }) {
				kept = append(kept, r)
			}
		}
	}
	return kept
}

// compiler returns a function that compiles a CRD once.
func (s *server) compiler(c *crdPart) func() (*engine.Engine, error) {
	return sync.OnceValues(func() (*engine.Engine, error) { return s.crds.engine(c.read.CRD) })
}

// ofCRD adds the findings of celadon vet.
func (v *view) ofCRD(p *part) {
	if p.crd.vetted == nil {
		return
	}
	findings := p.crd.vetted.Findings
	for i, repeats := range editor.Repeats(crdErrors(findings)) {
		f := findings[i]
		if repeats {
			continue
		}
		more := strictInCRD(p, &f)
		d := diagnostic(p.rangeOf(v.text, f.At), &f)
		rule := p.crd.first(f.Rule)
		if rule != nil && f.Level == "error" {
			if at, reason, ok := p.within(v.text, rule, f.At.Field); ok {
				d.Range = at
				compilePoint(&d, reason, f.Text())
			}
		}
		one := docFinding{diagnostic: d, rule: rule, of: p.kind}
		if f.ID == "advice" {
			one.advice = f.At.Field
		}
		p.findings = append(append(p.findings, one), v.strictDiagnostics(p, &f, more)...)
	}
}

// crdErrors returns the positions and messages of findings.
func crdErrors(findings []finding.Finding) []editor.CRDError {
	list := make([]editor.CRDError, len(findings))
	for i := range findings {
		f := &findings[i]
		message := strings.TrimPrefix(f.Text(), f.At.Field+": ")
		list[i] = editor.CRDError{
			Line: f.At.Line, Column: f.At.Column, Field: f.At.Field, Message: message, Kind: f.Kind,
		}
	}
	return list
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

// shown returns text with untrusted characters escaped.
func shown(text string) string { return string(untrusted.Text(text)) }

// within returns the range of the word at which an expression fails to compile, and the reason.
func (p *part) within(t *text, rule *engine.RuleRef, field string) (at protocol.Range, reason string, ok bool) {
	name := partOf(field)
	bad := p.crd.broken(rule, name)
	ruleAt, ok := p.crd.at(rule, name)
	if bad == nil || !ok || bad.Line == 0 {
		return protocol.Range{}, "", false
	}
	_, node := p.ruleNode(ruleAt)
	whole := ruleAt
	whole.Key = ""
	_, inText := p.ruleNode(whole)
	exprContext := p.crd.expressionContext(&ruleAt, editor.OptionalOldSelf(inText), nil)
	words, ok := p.words(node)
	if !ok || exprContext == nil {
		return protocol.Range{}, "", false
	}
	problem := exprContext.ProblemOf(bad)
	return t.rangeOf(p.start+words.SourcePoint(problem.Start), p.start+words.SourcePoint(problem.End)), editor.CompilePoint(&problem), true
}

// ofObject adds the findings of celadon check if the object's CRD is known or its kind is built in. A patch of kustomize
// is an incomplete object, so it has none.
func (v *view) ofObject(ctx context.Context, p *part) {
	builtin := !v.crds.live().Knows(p.kind)
	if builtin && (!v.crds.decider().Serves(p.doc.Identity()) || resource.NewKustomizations(v.folders()...).IsPatch(v.name)) {
		return
	}
	p.verdict = v.crds.decider().Decide(ctx, p.doc)
	if p.verdict == nil {
		return
	}
	if p.verdict.Bug != nil {
		v.log(protocol.Error, fmt.Sprintf("%s: internal error in celadon: %v", p.doc.Location(), p.verdict.Bug))
	}
	for f := range print.Findings(p.verdict) {
		if len(p.findings) > maxFindings {
			p.omitted++
			continue
		}
		p.findings = append(p.findings, v.objectFinding(p, &f))
		if strict := p.verdict.Strict; f.Rule == nil && len(strict) > 1 && f.At == strict[0] {
			p.findings = append(p.findings, v.strictDiagnostics(p, &f, strict[1:min(len(strict), maxFindings)])...)
		}
	}
}

func (v *view) objectFinding(p *part, f *finding.Finding) docFinding {
	out := docFinding{diagnostic: diagnostic(p.rangeOf(v.text, f.At), f), rule: f.Rule, of: p.kind}
	if f.Rule != nil {
		if at, ok := v.ruleIn(p.kind, f.Rule); ok {
			out.diagnostic.Related = []protocol.Related{{Location: at, Message: "the rule"}}
		}
	}
	return out
}

// ofBroken adds an error for a document that cannot be read, if it appears to be a CRD, an object of
// a known CRD, or a test suite.
func (v *view) ofBroken(p *part) {
	var apiVersion, kind string
	for line := range bytes.Lines(v.text.bytes[p.line:]) {
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
	ours := kind == resource.Kind || kind == ruletest.Kind && apiVersion == ruletest.APIVersion || v.crds.live().Knows(id.GroupKind())
	if !ours {
		return
	}
	d := protocol.Diagnostic{Range: p.whole(v.text), Severity: protocol.Error, Code: "unreadable", Source: source, Message: shown(p.doc.Err.Error())}
	p.findings = append(p.findings, docFinding{diagnostic: d})
}

// word returns the value of a plain or quoted scalar.
func word(value []byte) string {
	text, _, _ := strings.Cut(string(value), " #")
	return strings.Trim(strings.TrimSpace(text), `"'`)
}
