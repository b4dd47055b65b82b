package verdict

import (
	"context"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/x/secret"
	"github.com/celadon-cel/celadon/x/trace"
)

// reject records the rejection of an object: the server's status and causes, their positions, and
// the values in the failed rules.
func (c *Decider) reject(ctx context.Context, def *Definition, req engine.Request, doc *input.Document, res *engine.Result, rep *finding.Object) {
	rep.Verdict = finding.Invalid
	rep.Status = &finding.Status{Code: res.Failure.Code, Reason: string(res.Failure.Reason), Message: res.Failure.Message}
	secrets := secret.Of(def.CRD.ForEngine(), doc.Object)
	excerpts := excerpt.NewExcerpts(doc, c.Width, secrets, secret.Of(def.CRD.ForEngine(), req.OldObject).Texts)
	rep.Causes = finding.NewCauses(res.Causes)
	rep.Uncompiled = len(res.Causes) > 0 && !slices.ContainsFunc(res.Causes, func(cause engine.Cause) bool { return cause.Rule == nil || !def.broken[*cause.Rule] })
	if c.Locate {
		fields := make([]string, len(res.Causes))
		for i, cause := range res.Causes {
			fields[i] = cause.Field
		}
		excerpts.Locate(rep.Causes, doc.Locate(fields))
	}
	if c.Explain {
		rep.Bug = c.explain(ctx, def, res, rep, excerpts.Texts)
	}
	if c.Explain {
		hint.Failed(rep.Causes)
	}
	// A strict server rejects only decoded objects, so its errors include the duplicate keys.
	rep.Duplicate = doc.Duplicate != nil && req.FieldValidation == "Strict" && len(res.Strict) > 0
	if rep.Duplicate && c.Locate {
		rep.Strict = excerpt.Duplicates(doc, excerpts)
	}
	if len(res.Causes) == 0 && c.Locate {
		rep.Strict = append(rep.Strict, excerpt.Strict(doc, res.Strict, excerpts)...)
	}
	c.follow(ctx, def, req, doc, res, excerpts, rep, def.suggestions(doc, rep))
}

// locateRatcheted records the errors that the server ignores in an accepted update.
func (c *Decider) locateRatcheted(def *Definition, req engine.Request, doc *input.Document, res *engine.Result, rep *finding.Object) {
	causes := res.Ratcheted[:min(excerpt.Shown, len(res.Ratcheted))]
	if len(causes) == 0 {
		return
	}
	fields := make([]string, len(causes))
	for i, cause := range causes {
		fields[i] = cause.Field
	}
	rep.RatchetedErrors = finding.NewCauses(causes)
	crd := def.CRD.ForEngine()
	excerpts := excerpt.NewExcerpts(doc, c.Width, secret.Of(crd, doc.Object), secret.Of(crd, req.OldObject).Texts)
	excerpts.Locate(rep.RatchetedErrors, doc.Locate(fields))
}

// suggest adds a hint for an unknown field and returns the name that it suggests, or "".
func (def *Definition) suggest(rep *finding.Object, at *finding.Location) string {
	_, version, _ := strings.Cut(rep.APIVersion, "/")
	steps, err := engine.ParsePath(at.Field)
	if err != nil || len(steps) == 0 {
		return ""
	}
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
	near := spell.Nearest(name, names)
	if near != "" {
		at.Hint = "did you mean " + near + "?"
	}
	return near
}

// explain adds the values in failed rules. Settle may remove them, if the objects before used up the
// work of the run.
func (c *Decider) explain(ctx context.Context, def *Definition, res *engine.Result, rep *finding.Object, secrets secret.Texts) (err error) {
	n := min(excerpt.Shown, len(res.Causes))
	rep.Explained, err = explain(ctx, def, res.Prepared, res.Causes[:n], rep.Causes, c.Explained.Allowance(), secrets)
	return err
}

// Settle removes the explanations of an object if they exceed the work limit of the run. It must be
// called for the objects in the order of the input.
func (c *Decider) Settle(r *finding.Object) {
	if r.Explained == 0 || c.Explained.Settle(r.Explained) {
		return
	}
	for i := range r.Causes {
		if cause := &r.Causes[i]; cause.Rule != "" && i < excerpt.Shown {
			cause.Values, cause.NotShown = nil, trace.NotShown
		}
	}
}

// explain adds the values in failed rules, and returns the work that this took.
func explain(ctx context.Context, def *Definition, seen *engine.Prepared, causes []engine.Cause, to []finding.Cause, allowance uint64, secrets secret.Texts) (work uint64, err error) {
	all, err := def.explainer.Explain(ctx, seen, causes, allowance)
	for i, why := range all.Causes {
		to[i].NotShown = why.NotShown
		for _, v := range why.Values {
			to[i].Values = append(to[i].Values, finding.Value{Expr: v.Expr, Text: finding.Preview(v.Value, secrets)})
		}
	}
	return all.Work, err
}
