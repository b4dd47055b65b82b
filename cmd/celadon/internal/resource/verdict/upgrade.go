package verdict

import (
	"context"
	"maps"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/secret"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// upgrade validates an object that exists under the old CRD: as a create under both CRDs, and as an
// update without changes. The update under the old CRD only determines the persisted object.
func (d *decision) upgrade(ctx context.Context) outcome {
	d.report.Operation = Create
	before := d.Before.find(d.report.GroupKind())
	if before == nil {
		return outcome{verdict: finding.Skipped, problem: "no old CRD given for " + d.report.GroupKind().String()}
	}
	create := engine.Request{Object: d.doc.Object, FieldValidation: "Ignore", Trace: d.Trace}
	update := create
	update.OldObject = d.doc.Object
	a := answers{}
	was := a.of(ctx, before, create)
	if was == nil {
		return a.end
	}
	if out := d.def.unserved(d.report.Identity); out.verdict != "" {
		if was.verdict != finding.Invalid { // otherwise the old CRD did not accept the object either
			d.report.Upgrade = &finding.Upgrade{Before: was.verdict, Now: finding.Invalid, Unchanged: finding.Invalid}
		}
		out.problem, out.limit = a.undecided.problem, a.undecided.limit
		return out
	}
	now := a.of(ctx, d.def, create)
	if now == nil {
		return a.end
	}
	unchanged := a.of(ctx, d.def, update)
	if unchanged == nil {
		return a.end
	}
	d.report.Cost, d.report.Rules = now.result.Cost, now.result.Rules
	u := &finding.Upgrade{Before: was.verdict, Now: now.verdict, Unchanged: unchanged.verdict}
	d.report.Upgrade = u
	u.Ratcheted = u.Now == finding.Invalid && u.Unchanged == finding.Valid
	u.Changes = silent(ctx, before, d.def, update, unchanged.result)
	out := outcome{verdict: finding.Valid}
	switch {
	case u.RejectedOnUpdate():
		d.report.Operation = Update
		out = *unchanged
	case u.RejectedOnCreate():
		out = *now
	case a.undecided.limit != nil:
		return a.undecided
	}
	out.problem, out.limit = a.undecided.problem, a.undecided.limit
	return out
}

// answers collects the outcomes of several requests for an object. end is the outcome of all requests if one of
// them has no result for a reason other than a limit. undecided is the first outcome that exceeds a limit, even if
// a later request is not checked.
type answers struct{ end, undecided outcome }

// of returns the outcome of a request, with an empty result if it is undecided because of a limit. Without a
// result for another reason, of sets a.end and returns nil.
func (a *answers) of(ctx context.Context, def *Definition, req engine.Request) *outcome {
	out := validate(ctx, def.engine, req)
	switch limited := a.undecided.limit != nil; {
	case out.result != nil:
		return &out
	case out.verdict == finding.Skipped && limited:
		a.end = a.undecided
		return nil
	case out.verdict != finding.Undecided || out.limit == nil && !limited:
		a.end = out
		return nil
	case !limited:
		a.undecided = out
	}
	return &outcome{verdict: finding.Undecided, result: &engine.Result{}}
}

// silent returns the differences between the object as persisted under the old CRD and under the new
// CRD, after an update without changes.
func silent(ctx context.Context, before, now *Definition, update engine.Request, unchanged *engine.Result) []finding.Change {
	was, is := kept(ctx, before.engine, now.engine, update, unchanged)
	secrets := append(secret.Of(before.CRD.ForEngine(), was).Texts, secret.Of(now.CRD.ForEngine(), is).Texts...)
	text := func(v any, absent bool) string {
		if absent {
			return ""
		}
		return finding.Preview(v, secrets)
	}
	var changes []finding.Change
	for c := range valuediff.Values(was, is) {
		changes = append(changes, finding.Change{Field: engine.FormatPath(c.Path), Before: text(c.Before, c.Added), After: text(c.After, c.Removed)})
	}
	return changes
}

// kept returns an object as the CRDs before and after a change persist it in an update that changes nothing.
// unchanged is the result of that update under the new CRD. If either CRD does not accept the update, both objects
// are returned as read. Metadata is omitted, because CRDs do not change it. The results are nil if the object cannot
// be read.
func kept(ctx context.Context, before, after *engine.Engine, update engine.Request, unchanged *engine.Result) (was, is map[string]any) {
	update.Trace = false
	is = unchanged.Object
	if res, err := before.Validate(ctx, update); err == nil {
		was = res.Object
	}
	if was == nil || is == nil {
		seenBefore, err1 := before.Prepare(update)
		seenAfter, err2 := after.Prepare(update)
		if err1 != nil || err2 != nil {
			return nil, nil
		}
		was, is = seenBefore.Self, seenAfter.Self
	}
	return withoutMetadata(was), withoutMetadata(is)
}

func withoutMetadata(obj map[string]any) map[string]any {
	obj = maps.Clone(obj)
	delete(obj, "metadata")
	return obj
}
