package verdict

import (
	"context"
	"fmt"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/x/secret"
	"github.com/celadon-cel/celadon/x/trace"
)

// describe writes the outcome to the report, and what else the user wants to know about it.
func (d *decision) describe(ctx context.Context, out *outcome) {
	d.choose(out)
	r := d.report
	r.Verdict, r.Problem, r.Limit, r.Bug = out.verdict, out.problem, out.limit, out.bug
	r.Status, r.Resource = out.status, out.denied
	r.Causes = append(r.Causes, out.causes...)
	if out.operation != "" {
		r.Operation = out.operation
	}
	switch {
	case out.result == nil:
	case out.result.Allowed:
		d.describeRatcheted(out)
		d.describePersisted(out)
	default:
		d.describeRejected(ctx, out)
	}
}

// choose replaces the outcome if --field-selector does not match the object as stored, or as it would be stored. If the
// object's CRD does not declare a field of the selector, the object is unreadable.
func (d *decision) choose(out *outcome) {
	if d.Selector == nil || d.def == nil {
		return
	}
	seen := out.processed
	if seen == nil {
		seen = d.doc.Object
	}
	v := d.def.view(seen)
	if v == nil {
		return // an unknown version is reported elsewhere
	}
	chosen, err := v.chooses(d.Selector, seen, d.report.Identity)
	switch {
	case err != nil:
		key, id := d.report.Key, d.report.Identity
		d.report = newReport(d.doc)
		d.report.Key, d.report.Identity = key, id
		*out = outcome{verdict: finding.Unreadable, problem: fmt.Sprintf("--field-selector: %v", err)}
	case !chosen:
		*out = outcome{verdict: finding.Unselected}
	}
}

// excerpts returns the excerpts of the document, without the secrets of a write.
func (d *decision) excerpts(req *engine.Request) *excerpt.Excerpts {
	crd := d.def.CRD.ForEngine()
	return excerpt.NewExcerpts(d.doc, d.Width, secret.Of(crd, d.doc.Object), secret.Of(crd, req.OldObject).Texts)
}

// locate adds the positions of causes.
func locate(excerpts *excerpt.Excerpts, causes []finding.Cause) {
	excerpts.Locate(causes, excerpts.Doc.Locate(fieldsOf(causes)))
}

func fieldsOf(causes []finding.Cause) []string {
	fields := make([]string, len(causes))
	for i := range causes {
		fields[i] = causes[i].Field
	}
	return fields
}

// describeRejected adds the server's causes, their positions, and the values in the failed rules.
func (d *decision) describeRejected(ctx context.Context, out *outcome) {
	res, r := out.result, d.report
	excerpts := d.excerpts(&out.request)
	r.Causes = finding.NewCauses(res.Causes)
	r.Uncompiled = len(res.Causes) > 0 && !slices.ContainsFunc(res.Causes, func(cause engine.Cause) bool {
		return cause.Rule == nil || !d.def.broken[*cause.Rule]
	})
	if d.Locate {
		locate(excerpts, r.Causes)
	}
	if d.Explain {
		// Settle may remove the values if the objects before used up the work of the run.
		r.Explained, r.Bug = d.def.explain(ctx, res, excerpt.Shown, r.Causes, d.explained.Allowance(), excerpts.Texts)
		hint.Failed(r.Causes)
	}
	// A strict server rejects only decoded objects, so its errors include the duplicate keys.
	r.Duplicate = d.doc.Duplicate != nil && out.request.FieldValidation == "Strict" && len(res.Strict) > 0
	if r.Duplicate && d.Locate {
		r.Strict = excerpt.Duplicates(d.doc, excerpts)
	}
	if len(res.Causes) == 0 && d.Locate {
		r.Strict = append(r.Strict, excerpt.Strict(d.doc, res.Strict, excerpts)...)
	}
	d.follow(ctx, out, excerpts, d.suggestions())
}

// describeRatcheted adds the errors that the server ignores in an accepted update.
func (d *decision) describeRatcheted(out *outcome) {
	if causes := out.result.Ratcheted; len(causes) > 0 {
		d.report.RatchetedErrors = finding.NewCauses(causes[:min(excerpt.Shown, len(causes))])
		locate(d.excerpts(&out.request), d.report.RatchetedErrors)
	}
}

// suggestions adds hints for misspelled fields, and returns the paths of those fields to which they may be renamed
// and that the object does not have yet.
func (d *decision) suggestions() (paths []string) {
	for i := range d.report.Strict {
		at := &d.report.Strict[i]
		steps, err := engine.ParsePath(at.Field)
		if err != nil || len(steps) == 0 {
			continue
		}
		near := d.def.suggest(d.report.Version(), steps)
		if near == "" {
			continue
		}
		at.Hint = "did you mean " + near + "?"
		steps[len(steps)-1] = engine.Step{Name: near}
		if !hasValue(d.doc.Object, steps) {
			paths = append(paths, engine.FormatPath(steps))
		}
	}
	return paths
}

// suggest returns the field that was probably meant by an unknown field, or "".
func (def *Definition) suggest(version string, steps []engine.Step) string {
	parent := slices.Clone(steps[:len(steps)-1])
	for j := range parent {
		if parent[j].Item {
			parent[j] = engine.Step{Any: true}
		}
	}
	node, err := def.engine.At(version, engine.FormatPath(parent))
	if err != nil || node.Decl == nil {
		return ""
	}
	name, names := steps[len(steps)-1].Name, node.Decl.FieldNames()
	if slices.Contains(names, name) {
		return "" // a duplicate
	}
	return spell.Nearest(name, names)
}

// hasValue reports whether v has a value at a path.
func hasValue(v any, steps []engine.Step) bool {
	for _, step := range steps {
		switch at := v.(type) {
		case map[string]any:
			v = at[step.Name]
		case []any:
			if !step.Item || step.Index >= len(at) {
				return false
			}
			v = at[step.Index]
		default:
			return false
		}
	}
	return v != nil
}

// Settle removes the explanations of an object if they exceed the work limit of the run. It must be
// called for the objects in the order of the input.
func (d *Decider) Settle(r *finding.Object) {
	if r.Explained == 0 || d.explained.Settle(r.Explained) {
		return
	}
	for i := range r.Causes {
		if cause := &r.Causes[i]; cause.Rule != "" && i < excerpt.Shown {
			cause.Values, cause.NotShown = nil, trace.NotShown
		}
	}
}

// explain adds the values in the rules of the first causes, at most n, and returns the work that this took.
func (def *Definition) explain(
	ctx context.Context, res *engine.Result, n int, to []finding.Cause, allowance uint64, secrets secret.Texts,
) (work uint64, err error) {
	all, err := def.explainer.Explain(ctx, res.Prepared, res.Causes[:min(n, len(res.Causes))], allowance)
	for i, why := range all.Causes {
		to[i].NotShown = why.NotShown
		for _, v := range why.Values {
			to[i].Values = append(to[i].Values, finding.Value{Expr: v.Expr, Text: finding.Preview(v.Value, secrets)})
		}
	}
	return all.Work, err
}
