package check

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/where"
	"github.com/celadon-cel/celadon/engine"
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
	case rep.Verdict != report.Undecided:
		return answer{}, false
	}
	if limit != nil {
		rep.Problem, rep.Limit = problem, limit
	}
	return answer{&engine.Result{}, report.Undecided}, true
}

// silent are the differences between the object as it is kept under the old CRD
// and under the new one, by an update that changes nothing. Where either refuses
// that, the object is compared as it is read.
func silent(ctx context.Context, before, now *definition, update engine.Request, unchanged *engine.Result) []report.Change {
	update.Trace = false
	was, is := map[string]any(nil), unchanged.Object
	if res, err := before.engine.Validate(ctx, update); err == nil {
		was = res.Object
	}
	if was == nil || is == nil {
		var err1, err2 error
		was, err1 = before.engine.Prepare(update.Object)
		is, err2 = now.engine.Prepare(update.Object)
		if err1 != nil || err2 != nil {
			return nil
		}
	}
	d := differ{secrets: append(where.SecretsOf(before.crd, was).Texts, where.SecretsOf(now.crd, is).Texts...)}
	d.compare(nil, withoutMetadata(was), withoutMetadata(is)) // no CRD changes that
	return d.changes
}

func withoutMetadata(obj map[string]any) map[string]any {
	obj = maps.Clone(obj)
	delete(obj, "metadata")
	return obj
}

// differ collects the fields in which two decoded objects differ.
type differ struct {
	secrets report.Secrets
	changes []report.Change
}

type absent struct{}

func (d *differ) compare(path []engine.Step, before, after any) {
	was, wasMap := before.(map[string]any)
	is, isMap := after.(map[string]any)
	if wasMap && isMap {
		d.fields(path, was, is)
		return
	}
	wasList, ok1 := before.([]any)
	isList, ok2 := after.([]any)
	if ok1 && ok2 && len(wasList) == len(isList) {
		for i := range wasList {
			d.compare(append(slices.Clip(path), engine.Step{Item: true, Index: i}), wasList[i], isList[i])
		}
		return
	}
	if !reflect.DeepEqual(before, after) {
		d.changes = append(d.changes, report.Change{Field: engine.FormatPath(path), Before: d.text(before), After: d.text(after)})
	}
}

func (d *differ) fields(path []engine.Step, was, is map[string]any) {
	names := slices.Sorted(maps.Keys(was))
	for name := range is {
		if _, ok := was[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		var before, after any = absent{}, absent{}
		if v, ok := was[name]; ok {
			before = v
		}
		if v, ok := is[name]; ok {
			after = v
		}
		d.compare(append(slices.Clip(path), engine.Step{Name: name}), before, after)
	}
}

func (d *differ) text(v any) string {
	if _, ok := v.(absent); ok {
		return ""
	}
	return report.Preview(v, d.secrets)
}
