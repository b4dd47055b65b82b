package lsp

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/test"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
	"github.com/celadon-cel/celadon/x/ruletest"
)

type documentType uint8

const (
	irrelevant documentType = iota // not relevant to Celadon
	crd
	object // of any kind
	suite
	admission // a policy, a binding, or a webhook configuration
	broken
)

type part struct {
	doc *input.Document
	// also holds further CRDs that are generated from the document.
	also         []*input.Document
	start        int // offset of the document's source in the file, or -1 if unknown
	yaml, index  int // offset and index of the YAML document in the file
	documentType documentType
	kind         schema.GroupKind

	crd      *crdPart
	findings []protocol.Diagnostic
	omitted  int

	uri  string
	text *text
}

// split splits a file as vet and check do.
func split(name, uri string, t *text) (parts []*part) {
	var starts, ends []int
	for start, end := range decode.Documents(t.bytes) {
		starts, ends = append(starts, start), append(ends, end)
	}
	// indexAt returns the index of the YAML document with an offset. A separator line belongs to the next document.
	indexAt := func(offset int) int { return min(sort.SearchInts(ends, offset+1), len(ends)-1) }
	next := 0 // the earliest start of the next document
	for doc := range (input.Text{File: name, Data: t.bytes}).Documents {
		p := &part{doc: doc, start: -1, text: t, uri: uri}
		source, line, inList := doc.Source()
		from := t.startOfLine(line)
		switch {
		case source == nil:
			// The line of a document that cannot be read is the line of the error, which may be after its end.
			p.index = indexAt(t.startOfLine(doc.Line) - 1)
			next = max(next, starts[p.index])
		case inList && doc.Item > 0 && len(parts) > 0:
			p.start, p.index = parts[len(parts)-1].start, parts[len(parts)-1].index
		default:
			from = max(from, next)
			p.index = indexAt(from)
			if at := bytes.Index(t.bytes[min(from, len(t.bytes)):], source); at >= 0 {
				p.start, p.index = from+at, indexAt(from+at)
				next = p.start
			}
		}
		p.yaml = starts[p.index]
		p.documentType = p.is()
		if parts = append(parts, p); len(parts) == editor.MaxParts {
			break
		}
	}
	return parts
}

func (p *part) is() documentType {
	if p.doc.Err != nil {
		return broken
	}
	resource.Complete(p.doc)
	crds := resource.Definitions(p.doc)
	p.doc, p.also = crds[0], crds[1:]
	switch id := p.doc.Identity(); {
	case ruletest.Holds(p.doc.Object):
		return suite
	case policyvet.IsVetted(p.doc.Object):
		return admission
	case resource.NoObject(p.doc) != "":
		return irrelevant
	case id.Kind == resource.Kind:
		return crd
	default:
		p.kind = id.GroupKind()
		return object
	}
}

func (p *part) whole(t *text) protocol.Range { return t.line(p.doc.Line) }

// rangeOf returns the range of the word at a position, or else of the rest of its line.
func (p *part) rangeOf(t *text, at finding.Location) protocol.Range {
	if at.Line == 0 {
		return p.whole(t)
	}
	if from, to, ok := p.doc.Token(input.Position{Line: at.Line, Column: at.Column}); ok && p.start >= 0 {
		return t.rangeOf(p.start+from, p.start+to)
	}
	from := t.offsetAt(at.Line, at.Column)
	return t.rangeOf(from, max(from, t.trimmedEnd(from)))
}

// action matches a template action that replaces a line or a value. An action within the words of a
// description does not match.
var action = regexp.MustCompile(`(?m)^[ \t]*(- |[\w./-]+:[ \t]+)*["']?\{\{`)

// template reports whether a file seems to be a Helm template, which is not valid YAML until Helm renders it.
func template(name, language string, t *text, parts []*part) bool {
	if language == "helm" || filepath.IsAbs(name) && resource.ChartOf(name) != "" {
		return true
	}
	return slices.ContainsFunc(parts, func(p *part) bool { return p.documentType == broken }) && action.Match(t.bytes)
}

// elsewhere lists lints about what may be in another file.
var elsewhere = []string{"no-binding", "no-policy"}

func (v *view) ofPolicies(ctx context.Context, parts []*part) {
	var policies []*part
	var documents []map[string]any
	for _, p := range parts {
		if p.documentType == admission {
			policies, documents = append(policies, p), append(documents, p.doc.Object)
		}
	}
	if len(policies) == 0 {
		return
	}
	d := v.crds.decider()
	schemas, err := policyvet.NewSchemas(d.KubeVersion, d.CRDs.Wanted(policyvet.Needs(documents)))
	var reports []*policyvet.Report
	if err == nil {
		cfg := policyvet.Config{KubeVersion: d.KubeVersion, Schemas: schemas, Without: elsewhere, Server: d.Server}
		reports, err = policyvet.Vet(ctx, documents, cfg)
	}
	if err != nil {
		if ctx.Err() == nil {
			v.log(protocol.Error, fmt.Sprintf("%s: policies were not vetted: %v", v.name, err))
		}
		return
	}
	for _, r := range reports {
		p := policies[r.Document]
		for _, e := range r.Errors {
			v.addPolicyFinding(p, e.Path, "error", "rejected", e.Message)
		}
		for _, w := range r.Warnings {
			if !w.Harmless {
				v.addPolicyFinding(p, w.Path, "warning", "type", w.Message)
			}
		}
		for _, l := range r.Lints {
			v.addPolicyFinding(p, l.Path, "warning", l.Name, l.Message)
		}
	}
}

func (v *view) addPolicyFinding(p *part, path, level, id, text string) {
	at := finding.Location{Field: path}
	if path != "" {
		position := p.doc.Locate([]string{path})[0]
		at.Line, at.Column = position.Line, position.Column
	}
	f := finding.Finding{ID: id, Level: level, At: at, Message: text}
	p.findings = append(p.findings, diagnostic(p.rangeOf(v.text, at), &f))
}

func (v *view) ofSuite(ctx context.Context, p *part) {
	runner := test.SuiteRunner{Roots: v.folders(), Open: v.openCRDs(), Known: v.crds.known()}
	r := runner.Run(ctx, p.doc)
	if r == nil || ctx.Err() != nil {
		return
	}
	add := func(at ruletest.Position, code ruletest.Outcome, message string) {
		location := finding.Location{Line: at.Line, Column: at.Column}
		d := protocol.Diagnostic{Range: p.rangeOf(v.text, location), Severity: protocol.Error, Code: string(code), Source: source, Message: shown(strings.TrimSuffix(message, "\n"))}
		p.findings = append(p.findings, d)
	}
	for _, e := range r.Errors {
		add(e.Position, ruletest.Error, e.Message)
	}
	for _, c := range r.Cases {
		if c.Outcome == ruletest.Failed || c.Outcome == ruletest.Error {
			at := c.Position
			if len(c.Mismatches) > 0 && c.Mismatches[0].Line > 0 {
				at = c.Mismatches[0].Position
			}
			add(at, c.Outcome, c.Name+"\n"+test.Why(r, c))
		}
	}
}

func (s *server) openCRDs() map[string][]byte {
	open := map[string][]byte{}
	for _, path := range s.crds.paths() {
		if v := s.opened(path); v != nil {
			open[path] = v.text.bytes
		}
	}
	return open
}
