package compare

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/crdcopy"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// A Verdict is the result of a write.
type Verdict string

// The verdicts. Ratcheted writes are accepted only because they leave the invalid value unchanged. Changed writes are
// accepted, but persisted with different values. "" means that the write was not tried.
const (
	Accepted  Verdict = "accepted"
	Rejected  Verdict = "refused"
	Ratcheted Verdict = "ratcheted"
	Changed   Verdict = "changed"
	Undecided Verdict = "undecided"
)

// A Witness is an object that one CRD serves and the other does not, or that they persist differently.
// The engines of both confirm it, unless the new CRD does not serve the version.
type Witness struct {
	// Operation is the write that demonstrates the change. Object is written, and Old is the object
	// that it replaces, nil on create.
	Operation   search.Operation
	Object, Old map[string]any
	// The verdicts are from the side that rejects the object or persists it differently. Create is the
	// verdict on creating the object, ChangedUpdate on updating to it from another, similar object,
	// and UnchangedUpdate on an update of the stored object that changes nothing.
	Create, ChangedUpdate, UnchangedUpdate Verdict
	// Causes are the causes for which the write is rejected.
	Causes []engine.Cause
	// Kept lists the values that are persisted differently.
	Kept []Change
	// AlsoBreaks lists other changes that the same write demonstrates. It is empty unless no witness was
	// found that demonstrates only its own change.
	AlsoBreaks []ChangeRef
}

// show confirms a write that base admits with both sides, and returns nil if it does not demonstrate the change. The
// object is also tried as base persists it, because a changed default was applied long ago.
func (a *goalSearch) show(found *search.Witness) (*Witness, error) {
	req := found.Request()
	req.FieldValidation = "Ignore"
	before, err := a.base.engine.Validate(a.ctx, req)
	if err != nil || !before.Allowed {
		return nil, undecidable(err)
	}
	if req.OldObject != nil && found.Operation == search.Update {
		if res, err := a.base.engine.Validate(a.ctx, engine.Request{Object: req.OldObject}); err != nil || !res.Allowed {
			return nil, undecidable(err)
		}
	}
	if w, err := a.shown(req, before); w != nil || err != nil || a.defaulted { // the persisted object has the default
		return w, err
	}
	written := req.Object
	req.Object = maps.Clone(before.Object)
	req.Object["metadata"] = written["metadata"]
	return a.shown(req, before)
}

func (a *goalSearch) shown(req engine.Request, before *engine.Result) (*Witness, error) {
	after, err := a.validateOther(req)
	if err != nil || after == nil {
		return nil, undecidable(err)
	}
	w := &Witness{Operation: operation(req), Object: req.Object, Old: req.OldObject}
	due := !after.Allowed && a.due(after.Causes)
	if !after.Allowed && !due && a.defaulted {
		if due, err = a.without(append(slices.Clip(a.goal.at.steps), engine.Step{Name: a.under}), req); err != nil {
			return nil, err
		}
	}
	switch {
	case due:
		w.Causes = after.Causes
	case after.Allowed && a.kept:
		w.Kept = a.otherwise(before.Object, after.Object)
		if len(w.Kept) == 0 {
			return nil, nil
		}
	default:
		return nil, nil
	}
	return w, a.setVerdicts(w, req, after)
}

func operation(req engine.Request) search.Operation {
	switch {
	case req.Subresource != "":
		return search.Status
	case req.OldObject != nil:
		return search.Update
	}
	return search.Create
}

// undecidable drops an error that only means that the engine has no verdict on the write.
func undecidable(err error) error {
	var overwork *engine.WorkLimitError
	var unknown *engine.NotCheckedError
	if errors.As(err, &overwork) || errors.As(err, &unknown) {
		return nil
	}
	return err
}

func (a *goalSearch) validateOther(req engine.Request) (*engine.Result, error) {
	req.Object = a.versioned(req.Object)
	req.FieldValidation = "Ignore"
	return a.other.engine.Validate(a.ctx, req)
}

// versioned returns the object in the other side's version, as the conversion strategy None does.
func (a *goalSearch) versioned(obj map[string]any) map[string]any {
	if !a.relabel || obj == nil {
		return obj
	}
	obj = maps.Clone(obj)
	obj["apiVersion"] = a.other.crd.Spec.Group + "/" + a.other.version.Name
	return obj
}

func (a *goalSearch) due(causes []engine.Cause) bool {
	return a.explains(causes, a.expected(), true)
}

func (g *goal) expected() []engine.Step {
	if g.within.steps != nil {
		return g.within.steps
	}
	return g.at.steps
}

// A Change is a path at which two objects differ.
type Change = valuediff.Change

// withoutMetadata returns a shallow copy of obj without metadata, because CRDs do not change it.
func withoutMetadata(obj map[string]any) map[string]any {
	obj = maps.Clone(obj)
	delete(obj, "metadata")
	return obj
}

// explains reports whether a cause is the goal's rule or, if the goal is not about a rule of the CRD, concerns a
// value at or below steps or, if above is set, above steps.
func (g *goal) explains(causes []engine.Cause, steps []engine.Step, above bool) bool {
	if g.under != "" {
		steps = append(slices.Clip(steps), engine.Step{Name: g.under})
	}
	return slices.ContainsFunc(causes, func(c engine.Cause) bool {
		if g.from != nil {
			return c.Rule != nil && c.Rule.Path == engine.FormatPath(g.at.steps) && c.Rule.Rule == g.rule
		}
		at, err := engine.ParsePath(fieldOf(c))
		return err == nil && c.Rule == nil && (covers(steps, at) || above && covers(at, steps))
	})
}

// combined matches the API server's messages for oneOf and the like. Their causes have the path only in the message.
var combined = regexp.MustCompile(`"([^"]+)" must (?:not )?validate `)

func fieldOf(c engine.Cause) string {
	if m := combined.FindStringSubmatch(c.Message); m != nil && c.Field == "<nil>" {
		return m[1]
	}
	return c.Field
}

// covers reports whether an object path is at or below a schema path.
func covers(schema, object []engine.Step) bool {
	if len(object) < len(schema) {
		return false
	}
	for i, s := range schema {
		if o := object[i]; !s.Any && !o.Any && (s.Name != o.Name || s.Item != o.Item) {
			return false
		}
	}
	return true
}

func (a *goalSearch) otherwise(was, is map[string]any) (all []Change) {
	steps := a.expected()
	if a.under != "" && a.within.steps == nil {
		steps = append(slices.Clip(steps), engine.Step{Name: a.under})
	}
	for c := range valuediff.Values(withoutMetadata(was), withoutMetadata(is)) {
		if covers(steps, c.Path) || covers(c.Path, steps) {
			c.Before, c.After = veiled(crdcopy.At(a.base.schema(), c.Path...), c.Before), veiled(crdcopy.At(a.other.schema(), c.Path...), c.After)
			all = append(all, c)
		}
	}
	return slices.DeleteFunc(all, func(c Change) bool { return len(c.Path) == 1 && c.Path[0].Name == "apiVersion" })
}

// losesValue reports whether the write is rejected, or a persisted value is lost or changed.
func (w *Witness) losesValue() bool {
	return len(w.Kept) == 0 || slices.ContainsFunc(w.Kept, func(c Change) bool { return !c.Added })
}

// after is the result of the other side for req.
func (a *goalSearch) setVerdicts(w *Witness, req engine.Request, after *engine.Result) (err error) {
	stored := req.Object
	unchanged := engine.Request{Object: stored, OldObject: stored, Subresource: req.Subresource}
	if w.UnchangedUpdate, err = a.verdictOn(w, unchanged); err != nil {
		return err
	}
	if w.Operation != search.Status {
		if w.Create, err = a.verdictOn(w, engine.Request{Object: stored}); err != nil {
			return err
		}
	}
	if w.Operation != search.Create {
		w.ChangedUpdate = w.verdict(after)
	} else if other := a.variant(stored); other != nil {
		if w.ChangedUpdate, err = a.verdictOn(w, engine.Request{Object: stored, OldObject: other}); err != nil {
			return err
		}
	}
	if !after.Allowed { // accepted only because the object already exists
		for _, v := range []*Verdict{&w.UnchangedUpdate, &w.ChangedUpdate} {
			if *v == Accepted {
				*v = Ratcheted
			}
		}
	}
	return nil
}

func (a *goalSearch) verdictOn(w *Witness, req engine.Request) (Verdict, error) {
	res, err := a.validateOther(req)
	return w.verdict(res), undecidable(err)
}

func (w *Witness) verdict(res *engine.Result) Verdict {
	switch {
	case res == nil:
		return Undecided
	case !res.Allowed:
		return Rejected
	case len(w.Kept) > 0:
		return Changed
	}
	return Accepted
}

// variant returns an object from which base admits an update to obj, and which differs from obj in one value,
// preferably at the goal's path. It returns nil if it finds no such object.
func (a *goalSearch) variant(obj map[string]any) map[string]any {
	left := maxLeaves
	for n := len(a.goal.at.steps); n >= 0; n-- {
		var made map[string]any
		prefix := a.goal.at.steps[:n]
		leaves(nil, obj, func(path []engine.Step, v any) bool {
			if len(path) == 0 || path[0].Name == "metadata" || path[0].Name == "apiVersion" || path[0].Name == "kind" || !covers(prefix, path) {
				return true
			}
			if left--; left < 0 || a.ctx.Err() != nil {
				return false
			}
			for _, value := range others(v) {
				other := runtime.DeepCopyJSON(obj)
				if !put(other, path, value) {
					continue // an item cannot be removed
				}
				if a.admits(engine.Request{Object: other}) && a.admits(engine.Request{Object: obj, OldObject: other}) {
					made = other
					return false
				}
			}
			return true
		})
		if made != nil {
			return made
		}
	}
	return nil
}

func (a *goalSearch) admits(req engine.Request) bool {
	res, err := a.base.engine.Validate(a.ctx, req)
	return err == nil && res.Allowed
}

func others(v any) []any {
	switch v := v.(type) {
	case string:
		_, last := utf8.DecodeLastRuneInString(v)
		return []any{v + "a", v[:len(v)-last], "a" + v, absent{}}
	case int64:
		return []any{v + 1, v - 1, absent{}}
	case float64:
		return []any{v + 1, v - 1, absent{}}
	case bool:
		return []any{!v, absent{}}
	}
	return []any{absent{}}
}

// maxLeaves limits the values that variant changes, and the items of a list that leaves visits.
const maxLeaves = 200

// leaves visits all values, children before parents, until visit returns false. It skips the items of lists after the
// first maxLeaves.
func leaves(path []engine.Step, v any, visit func([]engine.Step, any) bool) bool {
	for step, child := range valuediff.Children(v) {
		if step.Item && step.Index == maxLeaves {
			break
		}
		if !leaves(append(slices.Clip(path), step), child, visit) {
			return false
		}
	}
	return visit(path, v)
}
