package verdict

import (
	"context"
	"maps"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/secret"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// upgrade decides an object that exists under the old CRD: as a create under both CRDs, and as an
// update without changes. The update under the old CRD only determines the persisted object.
func (c *Decider) upgrade(ctx context.Context, def *Definition, doc *input.Document, rep *finding.Object) {
	rep.Operation = "create"
	before := c.Before.find(rep.GroupKind())
	if before == nil {
		rep.Verdict, rep.Problem = finding.Skipped, "no old CRD given for "+rep.GroupKind().String()
		return
	}
	create := engine.Request{Object: doc.Object, FieldValidation: "Ignore", Trace: c.Trace}
	update := create
	update.OldObject = doc.Object
	was, ok := answered(ctx, before, create, rep)
	if !ok {
		return
	}
	if unserved(def, rep) {
		if was.verdict != finding.Invalid { // otherwise the old CRD did not accept the object either
			rep.Upgrade = &finding.Upgrade{Before: was.verdict, Now: finding.Invalid, Unchanged: finding.Invalid}
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
	u := &finding.Upgrade{Before: was.verdict, Now: now.verdict, Unchanged: unchanged.verdict}
	rep.Upgrade = u
	u.Ratcheted = u.Now == finding.Invalid && u.Unchanged == finding.Valid
	u.Changes = silent(ctx, before, def, update, unchanged.Result)
	switch {
	case u.RejectedOnUpdate():
		rep.Operation = "update"
		c.reject(ctx, def, update, doc, unchanged.Result, rep)
	case u.RejectedOnCreate():
		c.reject(ctx, def, create, doc, now.Result, rep)
	case rep.Limit != nil:
		rep.Verdict = finding.Undecided
	}
}

// An answer is a verdict and its result, which is empty if the verdict is undecided.
type answer struct {
	*engine.Result
	verdict string
}

// answered returns the verdict on req. If req cannot be decided, it records the reason in rep and
// returns false. If several verdicts are undecided, rep keeps the first reason, even if a later
// request is not checked.
func answered(ctx context.Context, def *Definition, req engine.Request, rep *finding.Object) (answer, bool) {
	problem, limit := rep.Problem, rep.Limit
	res, ok := validate(ctx, def.engine, req, rep)
	switch {
	case ok && res.Allowed:
		return answer{res, finding.Valid}, true
	case ok:
		return answer{res, finding.Invalid}, true
	case rep.Verdict == finding.Skipped && limit != nil:
		rep.Verdict, rep.Problem = finding.Undecided, problem
		return answer{}, false
	case rep.Verdict != finding.Undecided || rep.Limit == nil: // not decided at all
		return answer{}, false
	}
	if limit != nil {
		rep.Problem, rep.Limit = problem, limit
	}
	return answer{&engine.Result{}, finding.Undecided}, true
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

// kept returns an object as the CRDs before and after a change persist it in an update that changes
// nothing. unchanged is the result of that update under the new CRD. If either CRD rejects the
// update, both objects are returned as read. Metadata is omitted, because CRDs do not change it.
// The results are nil if the object cannot be read.
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
