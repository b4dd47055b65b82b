package print

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/jsontext"
)

// jsonPrinter writes a single document. Its summary comes first but is known last, so objects are kept in a spool.
type jsonPrinter struct {
	w           io.Writer
	kubeVersion string
	objects     spool
	array       array // in objects
	crds        []*finding.CRD
}

func (p *jsonPrinter) CRD(c *finding.CRD) error {
	p.crds = append(p.crds, c)
	return nil
}

func (p *jsonPrinter) Object(o *finding.Object) error {
	return p.array.add(&p.objects, o, "    ")
}

type array struct{ n int }

func (a *array) add(w io.Writer, v any, indent string) error {
	before := ",\n"
	if a.n++; a.n == 1 {
		before = "[\n"
	}
	text, err := indented(v, indent)
	if err == nil {
		_, err = io.WriteString(w, before+indent+text)
	}
	return err
}

func (a *array) end(indent string) string {
	if a.n == 0 {
		return "[]"
	}
	return "\n" + indent + "]"
}

// indented returns v as JSON. prefix begins each line except the first.
func indented(v any, prefix string) (string, error) {
	var text, b bytes.Buffer
	if err := Encoder(&text).Encode(v); err != nil {
		return "", err
	}
	err := jsontext.Indent(&b, bytes.TrimSuffix(text.Bytes(), []byte("\n")), prefix, "  ")
	return b.String(), err
}

func (p *jsonPrinter) End(s *finding.Summary) error {
	defer p.objects.reset()
	var b bytes.Buffer
	err := JSON(&b, struct {
		Kind        string           `json:"kind"`
		APIVersion  string           `json:"apiVersion"`
		KubeVersion string           `json:"kubeVersion"`
		Summary     *finding.Summary `json:"summary"`
		CRDs        []*finding.CRD   `json:"crds,omitempty"`
	}{finding.Kind, finding.APIVersion, p.kubeVersion, s, p.crds})
	if err != nil {
		return err
	}
	b.Truncate(b.Len() - len("\n}\n"))
	b.WriteString(",\n  \"objects\": ")
	if _, err := p.w.Write(b.Bytes()); err != nil {
		return err
	}
	if err := p.objects.copyTo(p.w); err != nil {
		return err
	}
	_, err = io.WriteString(p.w, p.array.end("  ")+"\n}\n")
	return err
}

// JSON writes v as an indented document.
func JSON(w io.Writer, v any) error {
	text, err := indented(v, "")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text+"\n")
	return err
}

// Encoder returns a JSON encoder that does not escape <, >, and &, so that rules stay readable.
func Encoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

const maxSpool = 1 << 20

// spool holds output until everything before it is known. Large output is kept in a temporary file.
type spool struct {
	mem  bytes.Buffer
	file *os.File
}

func (s *spool) Write(data []byte) (int, error) {
	if s.mem.Len()+len(data) <= maxSpool {
		return s.mem.Write(data)
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "celadon-report-")
		if err != nil {
			return 0, fmt.Errorf("no temporary storage for a large report: %w", err)
		}
		s.file = f
		_ = os.Remove(f.Name()) // deleted even if the process is killed; has no effect on Windows
	}
	if _, err := s.mem.WriteTo(s.file); err != nil {
		return 0, err
	}
	return s.file.Write(data)
}

func (s *spool) copyTo(w io.Writer) error {
	if s.file != nil {
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(w, s.file); err != nil {
			return err
		}
	}
	_, err := s.mem.WriteTo(w)
	return err
}

func (s *spool) reset() {
	s.mem.Reset()
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
		s.file = nil
	}
}

// linesPrinter writes JSON lines. If isPart is set, they can be merged.
type linesPrinter struct {
	enc    *json.Encoder
	isPart bool
	head   *finding.PartHead // nil after it is written
}

// write writes the head before the first line, because the head is incomplete when the printer is created.
func (p *linesPrinter) write(l finding.PartLine) error {
	if head := p.head; head != nil {
		p.head = nil
		if err := p.enc.Encode(finding.PartLine{Report: head}); err != nil {
			return err
		}
	}
	return p.enc.Encode(l)
}

// CRD omits accepted CRDs without warnings unless the report can be merged, because consumers of JSON lines expect
// objects.
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
