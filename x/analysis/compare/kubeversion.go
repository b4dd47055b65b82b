package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/crdcopy"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// How it works. If the Kubernetes version changes, nothing in the CRD shows which objects are
// affected. So writes are searched for that violate or satisfy each rule under either version, and
// samples are varied at values that versions treat differently: numbers outside of the range of
// their type, and strings with a format. The engines of both versions validate each write.

func (c *comparison) upgrade(before, after *side) {
	if !c.cfg.upgrades() || !before.version.Served || !after.version.Served {
		return
	}
	ch := &change{upgrade: true, before: before, after: after}
	ch.CRDChange = CRDChange{
		Version: after.version.Name, OldVersion: before.version.Name, Subject: kubeVersionChange,
	}
	c.changes = append(c.changes, ch)
}

const kubeVersionChange = "Kubernetes version"

// sharedRuleSteps limits the writes that are tried to find one that a rule rejects in only one of the
// Kubernetes versions. Hardly any rule has such a write.
const sharedRuleSteps = 60

const maxVaried = 4000

type upgrading struct {
	change      *change
	forth, back *goalSearch // towards the new version, and towards the old version
	seen        map[string]bool
	varied      string // path of the value that the write varies, or ""
	err         error
}

func (c *comparison) upgraded(ch *change, m *work.Meter) error {
	u := &upgrading{change: ch, seen: map[string]bool{}}
	u.forth = c.newGoalSearch(&goal{kept: true}, ch.before, ch.after, m)
	u.back = c.newGoalSearch(&goal{kept: true}, ch.after, ch.before, m)
	for _, a := range []*goalSearch{u.forth, u.back} {
		if err := u.search(a); err != nil {
			return err
		}
	}
	if len(ch.found) > 0 {
		for i := range ch.found {
			ch.found[i].Searched = u.forth.searched
		}
		return nil
	}
	ch.Effect, ch.By, ch.Searched = Unknown, BySearch, u.forth.searched
	if m.Empty() {
		ch.Limited, ch.Reason = true, m.Reason()
	}
	return u.err
}

func (u *upgrading) search(a *goalSearch) error {
	q, err := a.analyzer(a.base, analysis.Config{Steps: a.cfg.Steps, Seed: a.cfg.Seed})
	if err != nil {
		return err
	}
	if err := u.rules(a, q, false); err != nil {
		return err
	}
	// Writes that a rule rejects only in the other version.
	shared, err := a.analyzer(a.other, analysis.Config{Steps: min(a.cfg.Steps, sharedRuleSteps), Seed: a.cfg.Seed, OtherForm: q})
	if err != nil {
		return err
	}
	if err := u.rules(a, shared, true); err != nil {
		return err
	}
	for _, full := range []bool{true, false} {
		sample, err := q.Sample(a.ctx, full)
		if err != nil {
			return err
		}
		if sample.Witness != nil {
			u.try(sample.Witness.Request())
			u.vary(a, sample.Witness.Object)
		}
	}
	return u.err
}

// shared means that q only finds writes that the other Kubernetes version admits.
func (u *upgrading) rules(a *goalSearch, q *analysis.Analyzer, shared bool) error {
	wants := []search.Want{search.Rejected, search.Accepted}
	if shared {
		wants = wants[:1]
	}
	for _, rule := range q.Rules() {
		for _, want := range wants {
			if a.work.Empty() {
				return nil
			}
			found, err := q.Search(a.ctx, rule, want)
			if err != nil {
				return err
			}
			if shared {
				u.forth.searched += found.Searched
			}
			if found.Witness == nil {
				continue
			}
			u.try(found.Witness.Request())
			if !shared && found.Witness.Operation == search.Create {
				u.try(engine.Request{Object: found.Witness.Object, OldObject: found.Witness.Object})
			}
		}
	}
	return nil
}

func (u *upgrading) vary(a *goalSearch, sample map[string]any) {
	tried := 0
	leaves(nil, sample, func(path []engine.Step, v any) bool {
		if len(path) == 0 || path[0].Name == "metadata" {
			return true
		}
		for _, value := range valuesBetweenVersions(crdcopy.At(a.base.schema(), path...)) {
			obj := runtime.DeepCopyJSON(sample)
			if !put(obj, path, value) {
				continue
			}
			u.varied = pathOfField(engine.FormatPath(path))
			u.try(engine.Request{Object: obj})
			if tried++; tried == maxVaried || u.err != nil || a.work.Empty() {
				return false
			}
		}
		return a.ctx.Err() == nil
	})
	u.varied = ""
}

func valuesBetweenVersions(s *props) []any {
	switch {
	case s == nil:
		return nil
	case s.Type == "integer":
		return []any{int64(math.MaxInt32) + 1, int64(math.MinInt32) - 1, int64(math.MaxInt64), int64(math.MinInt64), int64(-1), int64(0)}
	case s.Type == "number":
		return []any{math.MaxFloat32 * 2, math.MaxFloat64, 0.1, int64(math.MaxInt32) + 1, int64(math.MaxInt64), int64(-1)}
	case s.Format != "":
		return append(samples(s), formatted(s.Format, 10)...)
	}
	return nil
}

func (u *upgrading) try(req engine.Request) {
	if u.err != nil {
		return
	}
	u.forth.searched++
	u.forth.work.Spend(2 * (countValues(req.Object) + countValues(req.OldObject)))
	req.FieldValidation = "Ignore"
	before, err := u.back.validateOther(req)
	if u.err = undecidable(err); err != nil {
		return
	}
	after, err := u.forth.validateOther(req)
	if u.err = undecidable(err); err != nil {
		return
	}
	w := &Witness{Operation: operation(req), Object: req.Object, Old: req.OldObject}
	ch := u.change.CRDChange
	ch.Effect, ch.By = Breaking, ByWitness
	switch {
	case before.Allowed && !after.Allowed:
		w.Causes, ch.Rejected = after.Causes, w
	case !before.Allowed && after.Allowed:
		w.Causes, ch.Admitted = before.Causes, w
	case before.Allowed:
		w.Kept, ch.Kept = slices.Collect(valuediff.Values(withoutMetadata(before.Object), withoutMetadata(after.Object))), w
	}
	if before.Allowed == after.Allowed && len(w.Kept) == 0 {
		return
	}
	if ch.Admitted != nil || ch.Kept != nil && !w.losesValue() {
		ch.Effect, ch.By = Loosening, BySearch // that nothing breaks is not certain
	}
	ch.Path, ch.NewField = u.place(w)
	key := string(ch.Effect) + " " + ch.Path
	if u.seen[key] {
		return
	}
	u.seen[key] = true
	if ch.Admitted == nil {
		u.err = u.forth.setVerdicts(w, req, after)
	}
	u.change.found = append(u.change.found, ch)
}

func (u *upgrading) place(w *Witness) (where, field string) {
	if len(w.Kept) > 0 {
		where = pathOfField(engine.FormatPath(w.Kept[0].Path))
		return where, u.fieldAt(where)
	}
	for _, c := range w.Causes {
		if c.Rule != nil {
			return c.Rule.Path, u.fieldAt(c.Rule.Path) + fmt.Sprintf(".x-kubernetes-validations[%d]", c.Rule.Index)
		}
		if text := fieldOf(c); text != "<nil>" && where == "" {
			where = pathOfField(text)
		}
	}
	where = cmp.Or(where, u.varied)
	return where, u.fieldAt(where)
}

func (u *upgrading) fieldAt(where string) string {
	side := u.change.after
	field := side.field(schemaField)
	steps, err := engine.ParsePath(where)
	if err != nil {
		return field
	}
	for i, step := range steps {
		s := crdcopy.At(side.schema(), steps[:i]...)
		switch {
		case s == nil:
			return field
		case s.Items != nil:
			field += ".items"
		case valuesOf(s) != nil && (step.Any || len(s.Properties) == 0):
			field += ".additionalProperties"
		default:
			field += ".properties[" + step.Name + "]"
		}
	}
	return field
}

func pathOfField(field string) string {
	steps, err := engine.ParsePath(field)
	if err != nil {
		return ""
	}
	for i, s := range steps {
		if s.Item {
			steps[i] = engine.Step{Any: true}
		}
	}
	return engine.FormatPath(steps)
}
