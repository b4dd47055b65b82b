package find

import (
	"fmt"
	"io"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/schemawords"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// yamlPrinter writes the objects in a form that celadon check accepts.
type yamlPrinter struct {
	out  io.Writer
	o    *Options
	more bool
}

func (p *yamlPrinter) crd(part *CRDPart, crd *definition) error {
	for _, v := range part.Versions {
		name := string(untrusted.Line(part.Name) + " " + untrusted.Line(v.Name))
		if v.Accepted != nil {
			if err := p.finding(name, v.Accepted, describe(crd, v.Name, p.o)); err != nil {
				return err
			}
		}
		for _, r := range v.Rules {
			for _, a := range r.answers() {
				if err := p.finding(name+", "+ruleName(r), a.finding, nil); err != nil {
					return err
				}
			}
		}
		for _, one := range v.expressions() {
			for _, a := range one.answers() {
				f := &Finding{words: strings.TrimSuffix(a.words, ":"), Object: a.Object, Old: a.Old}
				if err := p.finding(name+", "+string(untrusted.Line(one.name())), f, nil); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (p *yamlPrinter) finding(name string, f *Finding, schema schemawords.Node) error {
	var b strings.Builder
	if p.more {
		b.WriteString("---\n")
	}
	p.more = true
	fmt.Fprintf(&b, "# %s: %s\n", name, f.words)
	for _, path := range f.MadeUp {
		fmt.Fprintf(&b, "# %s is a placeholder: its format is password\n", untrusted.Line(path))
	}
	if f.Old != nil {
		old, err := untrusted.YAML(f.Old)
		if err != nil {
			return err
		}
		b.WriteString("# old object:\n")
		for line := range strings.Lines(string(old)) {
			b.WriteString("#   " + line)
		}
	}
	if f.Object != nil {
		data, err := document(f.Object, schema)
		if err != nil {
			return err
		}
		b.Write(data)
	}
	_, err := io.WriteString(p.out, b.String())
	return err
}

func (p *yamlPrinter) end(*Report) error { return nil }
