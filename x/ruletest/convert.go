package ruletest

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
	"github.com/celadon-cel/celadon/x/roundtrip"
)

// conversion reads the conversion of a case.
func (r *reader) conversion(b *own, convert, patch field, decoded map[string]any) {
	b.convert = r.text(convert)
	b.convertPatch, _ = r.object(patch, decoded)
	switch {
	case patch.given() && !convert.given():
		r.addProblem(patch.key, "convertPatch: set convert to the version in which it changes the object")
	case convert.given() && b.convert == "":
		r.addProblem(convert.key, "convert: want a version of the CRD")
	case convert.given():
		b.convertAt = r.positionOf(convert.key)
	}
}

// checkConversion converts the accepted object to the other version and back.
func (b *own) checkConversion(t *trial) {
	c, converter := t.on.crd.Spec.Conversion, t.cfg.Converter
	switch webhook := c != nil && c.Strategy == apiextensionsv1.WebhookConverter; {
	case webhook && converter == nil:
		t.problem = "not checked: the CRD converts with a webhook: use --convert URL or --exec COMMAND"
		return
	case converter == nil || c != nil && !webhook:
		converter = conversion.None()
	}
	found, err := t.on.trips.trip(t, converter, b)
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
		t.wrongAt(b.convertAt, fmt.Sprintf("the object unchanged after conversion to %s and back", b.convert), f.Text)
	}
}

// trips is the converter of a target, created on first use.
type trips struct {
	once sync.Once
	made *roundtrip.Trips
	err  error
}

func (r *trips) trip(t *trial, converter engine.Converter, b *own) ([]*roundtrip.Finding, error) {
	r.once.Do(func() { r.made, r.err = roundtrip.NewTrips(t.on.crd, converter) })
	if r.err != nil {
		return nil, r.err
	}
	return r.made.Trip(t.ctx, b.request().Object, b.convert, b.convertPatch)
}
