package check

import (
	"context"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/secret"
)

// refuse tells of a refused object what the server says, and where and why.
func (c *checker) refuse(ctx context.Context, def *definition, req engine.Request, doc *input.Document, res *engine.Result, rep *finding.Object) {
	rep.Verdict = finding.Invalid
	rep.Status = &finding.Status{Code: res.Failure.Code, Reason: string(res.Failure.Reason), Message: res.Failure.Message}
	secrets := secret.Of(def.crd.ForEngine(), doc.Object)
	excerpts := excerpt.NewExcerpts(doc, c.width, secrets, secret.Of(def.crd.ForEngine(), req.OldObject).Texts)
	places := c.locate(doc, res.Causes)
	for i, cause := range res.Causes {
		r := finding.Cause{Reason: string(cause.Reason), Field: cause.Field, Message: cause.Message, Ref: cause.Rule}
		if cause.Rule != nil {
			r.Rule = cause.Rule.Rule
		}
		if places[i].Line > 0 {
			r.File, r.Line, r.Column = doc.File, places[i].Line, places[i].Column
			if i < excerpt.Shown {
				r.Excerpt = excerpts.At(places[i])
			}
		}
		rep.Causes = append(rep.Causes, r)
	}
	if c.options.explains() {
		rep.Bug = c.explain(ctx, def, res, rep, excerpts.Texts)
	}
	if len(res.Causes) == 0 && c.options.locates() {
		rep.Strict = excerpt.Strict(doc, res.Strict, excerpts)
	}
}

func (c *checker) locate(doc *input.Document, causes []engine.Cause) []input.Position {
	if !c.options.locates() {
		return make([]input.Position, len(causes))
	}
	fields := make([]string, len(causes))
	for i, cause := range causes {
		fields[i] = cause.Field
	}
	return doc.Locate(fields)
}

// explain adds the values in the rules that failed, which the tally drops if the objects
// before took too much of the work of the run.
func (c *checker) explain(ctx context.Context, def *definition, res *engine.Result, rep *finding.Object, secrets secret.Texts) (err error) {
	n := min(excerpt.Shown, len(res.Causes))
	rep.Explained, err = explain(ctx, def, res.Prepared(), res.Causes[:n], rep.Causes, c.explained.Allowance(), secrets)
	return err
}

// explain adds the values in the rules that failed, and returns the work that it took.
func explain(ctx context.Context, def *definition, seen *engine.Prepared, causes []engine.Cause, to []finding.Cause, allowance uint64, secrets secret.Texts) (work uint64, err error) {
	all, err := def.explainer.Explain(ctx, seen, causes, allowance)
	for i, why := range all.Causes {
		to[i].NotShown = why.NotShown
		for _, v := range why.Values {
			to[i].Values = append(to[i].Values, finding.Value{Expr: v.Expr, Text: finding.Preview(v.Value, secrets)})
		}
	}
	return all.Work, err
}
