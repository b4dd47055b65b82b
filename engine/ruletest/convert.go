package ruletest

import (
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
	"github.com/celadon-cel/celadon/engine/conversion/roundtrip"
)

// conversion reads where a case's object has to come back from.
func (r *reader) conversion(b *own, convert, patch field, decoded map[string]any) {
	b.convert = r.text(convert)
	b.convertPatch, _ = r.object(patch, decoded)
	switch {
	case patch.given() && !convert.given():
		r.bad(patch.key, "convertPatch: want convert too: the version that it changes the object in")
	case convert.given() && b.convert == "":
		r.bad(convert.key, "convert: want a version of the CRD")
	case convert.given():
		b.convertAt = r.place(convert.key)
	}
}

// judgeConversion sends the accepted object to the other version and back.
func (b *own) judgeConversion(t *trial) {
	crd, ask := t.on.crd, t.cfg.Converter
	if ask == nil {
		if c := crd.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter {
			t.problem = "not checked: the CRD converts by a webhook: want --convert URL or --exec COMMAND"
			return
		}
		ask = conversion.None()
	}
	found, err := roundtrip.Trip(t.ctx, crd, ask, roundtrip.Config{}, b.request().Object, b.convert, b.convertPatch)
	var bug *engine.InternalError
	switch {
	case t.ctx.Err() != nil:
		t.problem = "interrupted"
	case errors.As(err, &bug):
		t.problem, t.bug = err.Error(), err
	case err != nil:
		t.problem = "convert: " + err.Error()
	}
	for _, f := range found {
		if slices.Contains([]roundtrip.Kind{roundtrip.NoAnswer, roundtrip.Slow}, f.Kind) {
			t.problem = "not checked: " + f.Text
			return
		}
		t.wrongAt(b.convertAt, fmt.Sprintf("what %s gives back is as it was", b.convert), f.Text)
	}
}
