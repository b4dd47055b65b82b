package print

import (
	"encoding/json"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// linesPrinter writes JSON lines: a line for each object, then the summary. If isPart is set, the lines can be merged.
type linesPrinter struct {
	enc    *json.Encoder
	isPart bool
	head   *finding.PartHead // nil after it is written
}

// write writes a line, preceded by the head if it is the first. The head is still incomplete when
// the printer is created.
func (p *linesPrinter) write(l finding.PartLine) error {
	if head := p.head; head != nil {
		p.head = nil
		if err := p.enc.Encode(finding.PartLine{Report: head}); err != nil {
			return err
		}
	}
	return p.enc.Encode(l)
}

// CRD omits accepted CRDs without warnings, because consumers of JSON lines expect objects.
func (p *linesPrinter) CRD(c *finding.CRD) error {
	if !p.isPart {
		if c.Quiet() {
			return nil
		}
		return p.write(finding.PartLine{CRD: c})
	}
	part := partOf(c.Causes, c.Strict, c.Bug)
	part.Update = c.Update
	return p.write(finding.PartLine{CRD: c, Part: part})
}

func (p *linesPrinter) Object(o *finding.Object) error {
	if !p.isPart {
		return p.write(finding.PartLine{Object: o})
	}
	part := partOf(o.Causes, o.Strict, o.Bug)
	part.At, part.Duplicate, part.Resource = o.At, o.Duplicate, o.Resource
	if o.Key != o.Called() {
		part.Key = o.Key
	}
	part.Following = partCauses(o.Following)
	if o.Limit != nil {
		part.Limit = &finding.PartRef{Version: o.Limit.Rule.Version, Path: o.Limit.Rule.Path, Index: o.Limit.Rule.Index, Rule: o.Limit.Rule.Rule}
	}
	return p.write(finding.PartLine{Object: o, Part: part})
}

func (p *linesPrinter) End(s *finding.Summary) error {
	return p.write(finding.PartLine{Summary: s, End: s.End})
}

func partOf(causes []finding.Cause, strict []finding.Location, bug error) *finding.Part {
	p := &finding.Part{Causes: partCauses(causes)}
	for i := range strict {
		p.Strict = append(p.Strict, strict[i].Excerpt)
	}
	if bug != nil {
		p.Bug = bug.Error()
	}
	return p
}

func partCauses(causes []finding.Cause) (list []finding.PartCause) {
	for i := range causes {
		c := &causes[i]
		var one finding.PartCause
		if c.Ref != nil {
			one.Ref = &finding.PartRef{Version: c.Ref.Version, Path: c.Ref.Path, Index: c.Ref.Index}
		}
		if c.Excerpt != (finding.Excerpt{}) {
			one.Excerpt = &c.Excerpt
		}
		list = append(list, one)
	}
	return list
}

// yamlPrinter writes accepted objects as they would be stored. Findings go to stderr, so that the output can be piped.
type yamlPrinter struct {
	*textPrinter // on stderr
	w            *untrusted.Writer
	begun        bool
}

func (p *yamlPrinter) Object(o *finding.Object) error {
	if o.Persisted != nil {
		text, err := untrusted.YAML(o.Persisted)
		if err != nil {
			return err
		}
		if p.begun {
			text = append([]byte("---\n"), text...)
		}
		p.begun = true
		if _, err := p.w.Write(text); err != nil {
			return err
		}
	}
	return p.textPrinter.Object(o)
}

// diff writes how the persisted object differs from the input, in color on a terminal.
func (p *textPrinter) diff(b *strings.Builder, diff []byte) {
	for line := range strings.Lines(string(diff)) {
		text := untrusted.Sprintf("%s\n", strings.TrimSuffix(line, "\n"))
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			b.WriteString(p.paint(untrusted.Bold, text))
		case line[0] == '-':
			b.WriteString(p.paint(untrusted.Red, text))
		case line[0] == '+':
			b.WriteString(p.paint(untrusted.Green, text))
		default:
			b.WriteString(string(text))
		}
	}
}
