package check

import (
	"context"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/compare"
	"github.com/celadon-cel/celadon/internal/secret"
)

// upgrade decides an object that exists under the old CRD: a create under both,
// and under both an update that changes nothing.
func (c *checker) upgrade(ctx context.Context, def *definition, doc *input.Document, rep *report.Object) {
	rep.Operation = "create"
	before := c.before.find(report.Identify(doc.Object).GroupKind())
	if before == nil {
		rep.Verdict, rep.Problem = report.Skipped, "no old CRD given for "+report.Identify(doc.Object).GroupKind().String()
		return
	}
	create := engine.Request{Object: doc.Object, FieldValidation: "Ignore", Trace: c.options.Summary}
	update := create
	update.OldObject = doc.Object
	was, ok := answered(ctx, before, create, rep)
	if !ok {
		return
	}
	if unserved(def.engine, rep) {
		if was.verdict != report.Invalid { // else it was no version before either
			rep.Upgrade = &report.Upgrade{Before: was.verdict, Now: report.Invalid, Unchanged: report.Invalid}
		}
		return
	}
	now, ok := answered(ctx, def, create, rep)
	if !ok {
		return
	}
	unchanged, ok := answered(ctx, def, update, rep)
	if !ok {
		return
	}
	rep.Cost, rep.Rules = now.Cost, now.Rules
	u := &report.Upgrade{Before: was.verdict, Now: now.verdict, Unchanged: unchanged.verdict}
	rep.Upgrade = u
	u.Ratcheted = u.Now == report.Invalid && u.Unchanged == report.Valid
	u.Changes = silent(ctx, before, def, update, unchanged.Result)
	switch {
	case u.RefusedOnUpdate():
		rep.Operation = "update"
		c.refuse(ctx, def, update, doc, unchanged.Result, rep)
	case u.RefusedOnCreate():
		c.refuse(ctx, def, create, doc, now.Result, rep)
	case rep.Limit != nil:
		rep.Verdict = report.Undecided
	}
}

// answer is a verdict and its result, which is empty where it is undecided.
type answer struct {
	*engine.Result
	verdict string
}

// answered is false where there is no answer at all; the report then says why.
// Of what is undecided the report keeps the first, whatever else is not checked.
func answered(ctx context.Context, def *definition, req engine.Request, rep *report.Object) (answer, bool) {
	problem, limit := rep.Problem, rep.Limit
	res, ok := validate(ctx, def.engine, req, rep)
	switch {
	case ok && res.Allowed:
		return answer{res, report.Valid}, true
	case ok:
		return answer{res, report.Invalid}, true
	case rep.Verdict == report.Skipped && limit != nil:
		rep.Verdict, rep.Problem = report.Undecided, problem
		return answer{}, false
	case rep.Verdict != report.Undecided || rep.Limit == nil: // there was no answer
		return answer{}, false
	}
	if limit != nil {
		rep.Problem, rep.Limit = problem, limit
	}
	return answer{&engine.Result{}, report.Undecided}, true
}

// silent are the differences between the object as it is kept under the old CRD
// and under the new one, by an update that changes nothing.
func silent(ctx context.Context, before, now *definition, update engine.Request, unchanged *engine.Result) []report.Change {
	was, is := compare.Kept(ctx, before.engine, now.engine, update, unchanged)
	secrets := append(secret.Of(before.crd.ForEngine(), was).Texts, secret.Of(now.crd.ForEngine(), is).Texts...)
	text := func(v any, absent bool) string {
		if absent {
			return ""
		}
		return report.Preview(v, secrets)
	}
	var changes []report.Change
	for c := range compare.Values(was, is) {
		changes = append(changes, report.Change{Field: engine.FormatPath(c.Path), Before: text(c.Before, c.Added), After: text(c.After, c.Removed)})
	}
	return changes
}
