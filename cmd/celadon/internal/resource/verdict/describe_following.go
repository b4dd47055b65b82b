package verdict

import (
	"context"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/engine"
)

// The API server checks an object in stages: unknown and duplicate fields, then the schema, then the rules.
// It stops at the first stage that rejects the object. Users want to fix everything at once, so the causes
// of later stages are reported too, as far as they do not depend on how the earlier errors are fixed.

// follow adds the causes that the server would report once the errors of the object are fixed. renamed are the
// fields to which unknown fields may be renamed.
func (d *decision) follow(ctx context.Context, out *outcome, excerpts *excerpt.Excerpts, renamed []string) {
	if !d.Explain || !d.Locate || d.report.Duplicate { // which of the duplicates is right is unknown
		return
	}
	var causes []engine.Cause
	if len(out.result.Causes) > 0 {
		causes, _ = out.result.Following(ctx) // an error means that nothing can be announced
	} else if len(out.result.Strict) > 0 {
		causes = d.followStrict(ctx, out, renamed)
	}
	if len(causes) > 0 {
		d.report.Following = finding.NewCauses(causes[:min(excerpt.Shown, len(causes))])
		locate(excerpts, d.report.Following)
	}
}

// followStrict returns the causes of a write that is rejected for unknown and duplicate fields. It omits causes that
// depend on the fields to which unknown fields may be renamed, and on the fields that are given twice.
func (d *decision) followStrict(ctx context.Context, out *outcome, renamed []string) []engine.Cause {
	req := out.request
	req.FieldValidation, req.Observe, req.Trace = "Ignore", nil, false
	res, err := d.def.engine.Validate(ctx, req)
	if err != nil || res.Allowed || res.Prepared == nil {
		return nil
	}
	more, _ := res.Following(ctx)
	causes := slices.DeleteFunc(slices.Concat(res.Causes, more), func(c engine.Cause) bool {
		return c.Rule == nil && c.Field == "<nil>"
	})
	for _, e := range out.result.Strict {
		if e.Duplicate {
			renamed = append(renamed, e.Field)
		}
	}
	return res.Prepared.Unaffected(causes, renamed)
}
