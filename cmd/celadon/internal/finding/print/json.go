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

// array is a JSON array that is written value by value. It has n of them so far.
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

// end returns the end of the array. indent is of its last line.
func (a *array) end(indent string) string {
	if a.n == 0 {
		return "[]"
	}
	return "\n" + indent + "]"
}

// indented returns v as JSON with each line but the first prefixed. Values with very many levels are on one line.
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

// maxSpool is the number of bytes that a spool keeps in memory.
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
