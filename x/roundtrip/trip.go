package roundtrip

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
	"github.com/celadon-cel/celadon/x/secret"
)

type trip struct {
	*tester
	ctx      context.Context
	from, to string
	object   map[string]any
	change   *Change

	converted, back map[string]any
	found           []*Finding
}

// errEnd ends a trip early, without an error.
var errEnd = errors.New("the round trip has ended")

// run converts the object there and back. A failed conversion is a finding; an error ends the test.
func (t *trip) run() error {
	err := t.there()
	if err == nil {
		err = t.again()
	}
	if errors.Is(err, errEnd) {
		return nil
	}
	return err
}

// where is a prefix for the text of findings.
func (t *trip) convertStep(obj map[string]any, to, where string) (map[string]any, error) {
	ctx, cancel := t.ctx, context.CancelFunc(func() {})
	if t.cfg.Slow > 0 {
		ctx, cancel = context.WithTimeout(t.ctx, t.cfg.Slow)
	}
	defer cancel()
	out, err := t.forms.stored[t.from].Convert(ctx, obj, to)
	if err == nil {
		t.countAnswer()
		return out, nil
	}
	var failed *conversion.Error
	var bug *engine.InternalError
	kind := Failed
	switch {
	case t.ctx.Err() != nil:
		return nil, t.ctx.Err()
	case errors.As(err, &bug):
		return nil, err
	case errors.Is(err, context.DeadlineExceeded):
		kind, err = Slow, fmt.Errorf("no response within %s", t.cfg.Slow)
	case errors.As(err, &failed):
		kind = [...]Kind{NoAnswer, Slow, Panicked, Failed, Wrong}[failed.Failure]
	}
	if err := t.countFailure(kind, err); err != nil {
		return nil, err
	}
	t.add(kind, nil, where+err.Error())
	return nil, errEnd
}

// The maximum number of consecutive failures to respond, before the converter has responded for the
// first time and afterwards.
const (
	patience     = 3
	morePatience = 20
)

func (t *tester) countFailure(kind Kind, failed error) error {
	if kind != NoAnswer && kind != Slow {
		t.countAnswer()
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unanswered++
	if t.unanswered <= patience || t.answered && t.unanswered <= morePatience {
		return nil
	}
	return fmt.Errorf("the converter does not respond: %w", &conversion.Error{Failure: conversion.NoAnswer, Text: failed.Error()})
}

func (t *tester) countAnswer() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answered, t.unanswered = true, 0
}

func (t *trip) add(kind Kind, path []engine.Step, text string) {
	t.found = append(t.found, &Finding{
		Kind: kind, From: t.from, To: t.to, Path: engine.FormatPath(path), Text: text, Times: 1,
		Object: t.object, Change: t.change, Converted: t.converted, Back: t.back,
	})
}

func (t *trip) there() (err error) {
	if t.converted, err = t.convertStep(t.object, t.to, ""); err != nil {
		return err
	}
	_, res, err := t.forms.admits(t.ctx, t.converted)
	if err != nil {
		return err
	}
	if rejected := res != nil && !res.Allowed; rejected && t.change == nil {
		t.invalid(res)
	} else if rejected {
		return errEnd // the trip without a change reports it
	}
	if t.change != nil {
		t.converted = t.change.apply(t.converted)
		if _, res, err = t.forms.admits(t.ctx, t.converted); err != nil {
			return err
		}
		if res == nil || !res.Allowed {
			return errEnd // no client can make the change
		}
	}
	return nil
}

func (t *trip) invalid(res *engine.Result) {
	if len(res.Causes) == 0 {
		t.add(Invalid, nil, t.to+" rejects the converted object: "+res.Failure.Message)
		return
	}
	// The first cause may only report that rules did not run.
	cause := res.Causes[len(res.Causes)-1]
	path, err := engine.ParsePath(cause.Field)
	if err != nil {
		path = nil
	}
	t.add(Invalid, path, fmt.Sprintf("%s rejects the converted object: %s: %s", t.to, cause.Field, cause.Message))
}

// again converts the object back, and a second time there and back. The object must not differ.
func (t *trip) again() (err error) {
	if t.back, err = t.convertStep(t.converted, t.from, "on the way back: "); err != nil {
		return err
	}
	if t.change != nil {
		return t.stale()
	}
	t.compare(t.back, "")
	if len(t.found) > 0 {
		return nil
	}
	once := t.back
	second, err := t.convertStep(once, t.to, "the second time: ")
	if err != nil {
		return err
	}
	if second, err = t.convertStep(second, t.from, "on the second way back: "); err != nil {
		return err
	}
	t.back = second
	t.compare(second, "the second time ")
	return nil
}

// compare masks passwords.
func (t *trip) compare(back map[string]any, when string) {
	mask := sync.OnceValue(func() secret.Mask { return secret.MaskOf(t.forms.plain, t.object, t.converted, back) })
	shown := func(v any) string { return shown(mask().Value(v)) }
	for _, d := range differences(t.object, back, t.forms.schemas[t.from], t.ignore) {
		path := engine.FormatPath(d.path)
		text := ""
		switch d.kind {
		case Dropped:
			text = fmt.Sprintf("%s is lost %svia %s (was %s)", path, when, t.to, shown(d.before))
		case Added:
			text = fmt.Sprintf("%s is added %svia %s (got %s, want no value)", path, when, t.to, shown(d.after))
		case Order:
			text = fmt.Sprintf("%s is reordered %svia %s (got %s, want %s)", path, when, t.to, shown(d.after), shown(d.before))
		default:
			text = fmt.Sprintf("%s is changed %svia %s (got %s, want %s)", path, when, t.to, shown(d.after), shown(d.before))
		}
		kind := d.kind
		if when != "" {
			kind = Second
		}
		t.add(kind, d.path, text)
	}
}

// stale checks that a change is still there when the object is converted again to the version in which it was made.
// It adds a finding if the change is lost only because of data that the converter keeps in the metadata.
func (t *trip) stale() error {
	survives := func(obj map[string]any) (bool, error) {
		shown, err := t.convertStep(obj, t.to, "after a change: ")
		return err == nil && t.change.in(shown), err
	}
	ok, err := survives(t.back)
	if ok || err != nil {
		return err
	}
	clean := runtime.DeepCopyJSON(t.converted)
	meta, _ := t.object["metadata"].(map[string]any)
	clean["metadata"] = runtime.DeepCopyJSON(meta)
	back, err := t.convertStep(clean, t.from, "after a change: ")
	if err != nil {
		return err
	}
	if ok, err = survives(back); ok && err == nil {
		t.add(Stale, t.change.steps, fmt.Sprintf("%s in %s is undone by data that the converter keeps in the metadata", t.change, t.to))
	}
	return err
}
