package finding

import (
	"bytes"
	"encoding/json"
	"io"
)

// jsonPrinter writes a single document. Its summary comes first but is known last, so objects are
// kept in a spool.
type jsonPrinter struct {
	w           io.Writer
	kubeVersion string
	objects     spool
	count       int
	crds        []*CRD
}

func (p *jsonPrinter) Object(o *Object) error {
	var b bytes.Buffer
	if p.count++; p.count > 1 {
		b.WriteByte(',')
	}
	b.WriteString("\n    ")
	enc := Encoder(&b)
	enc.SetIndent("    ", "  ")
	if err := enc.Encode(o); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // remove the newline that Encode adds
	_, err := p.objects.Write(b.Bytes())
	return err
}

func (p *jsonPrinter) End(s *Summary) error {
	defer p.objects.reset()
	var b bytes.Buffer
	enc := Encoder(&b)
	enc.SetIndent("", "  ")
	err := enc.Encode(struct {
		Kind        string   `json:"kind"`
		APIVersion  string   `json:"apiVersion"`
		KubeVersion string   `json:"kubeVersion"`
		Summary     *Summary `json:"summary"`
		CRDs        []*CRD   `json:"crds,omitempty"`
	}{"CheckReport", "celadon/v1", p.kubeVersion, s, p.crds})
	if err != nil {
		return err
	}
	b.Truncate(b.Len() - len("\n}\n"))
	b.WriteString(",\n  \"objects\": [")
	if _, err := p.w.Write(b.Bytes()); err != nil {
		return err
	}
	if err := p.objects.copyTo(p.w); err != nil {
		return err
	}
	end := "]\n}\n"
	if p.count > 0 {
		end = "\n  " + end
	}
	_, err = io.WriteString(p.w, end)
	return err
}

// jsonLinesPrinter writes one line per object, then the summary.
type jsonLinesPrinter struct{ w io.Writer }

func (p *jsonLinesPrinter) Object(o *Object) error {
	return Encoder(p.w).Encode(struct {
		Object *Object `json:"object"`
	}{o})
}

func (p *jsonLinesPrinter) End(s *Summary) error {
	return Encoder(p.w).Encode(struct {
		Summary *Summary `json:"summary"`
	}{s})
}

// Encoder returns a JSON encoder that does not escape <, >, and &, so that rules stay readable.
func Encoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}
