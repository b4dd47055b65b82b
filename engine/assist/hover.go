package assist

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/internal/phrase"
)

// Hover tells of what stands at a place of an expression.
type Hover struct {
	// Start and End are the code points of what is told of, Text is it on one line.
	Start, End int
	Text       string
	// Type is what it gives, in a schema's words, and Bounds what the schema says of
	// its size and form; "" where that is not known.
	Type, Bounds string
	// Description is the schema's, or a function's: one line, or "".
	Description string
	// InObject is true for what is read of the object; then Path is where, as
	// "spec.hosts[*].name", and Schema the schema there, if the CRD has one.
	InObject bool
	Path     string
	Schema   *apiextensionsv1.JSONSchemaProps
	// Function is set for a function, method or macro.
	Function *Function
	// Part is what one evaluation of this part of the expression is estimated to
	// cost; Whole is the whole expression's price. They are nil where these do not
	// compile.
	Part  *cost.Estimate
	Whole *Price
}

// Lines are all that a hover tells, as text for people; the first names what is
// told of.
func (h *Hover) Lines() []string {
	first := h.Text
	if h.Type != "" {
		first += ": " + h.Type
	}
	lines := []string{first}
	add := func(text string) {
		if text != "" {
			lines = append(lines, text)
		}
	}
	add(h.Bounds)
	if f := h.Function; f != nil {
		for _, form := range f.Forms {
			add(form.Signature + "  (" + form.Since + ")")
		}
	}
	add(h.Description)
	if f := h.Function; f != nil {
		for _, example := range f.Examples {
			add("e.g. " + example)
		}
	}
	if h.Part != nil {
		add("estimate " + phrase.Range(h.Part.Min, h.Part.Max))
	}
	if h.Whole != nil {
		add("the rule: " + h.Whole.Words())
	}
	return lines
}

// Words are a price for people: "estimate 2 to 5 x 64 = 320, 0.1 % of the limit".
func (c *Price) Words() string {
	text := "estimate " + phrase.Range(c.Estimate.Min, c.Estimate.Max)
	if c.Total != c.Estimate.Max {
		text += " x " + phrase.Number(c.Times) + " = " + phrase.Number(c.Total)
	}
	return strings.TrimSpace(text + ", " + phrase.Share(c.Total, c.Limit) + " of the limit")
}

// Hover tells of what stands at a code point of an expression, whole or half
// written; nil where there is nothing to tell.
func (p *Place) Hover(src string, at int) *Hover {
	for i, t := range Tokens(src) {
		_ = i
		if t.Start <= at && at < t.End && (t.Class == ClassVariable) {
			h := &Hover{Start: t.Start, End: t.End, Text: string([]rune(src)[t.Start:t.End])}
			if f := p.scope(nil).parse(h.Text); f.decl != nil {
				h.Type, h.Bounds, h.InObject, h.Path, h.Schema = f.decl.String(), Bounds(f.decl, f.schema), true, p.Node.Path(), f.schema
				return h
			}
		}
	}
	return nil
}
