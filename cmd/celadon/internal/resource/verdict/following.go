package verdict

import (
	"context"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
)

// The API server checks an object in stages: unknown and duplicate fields, then the schema, then the rules.
// It stops at the first stage that rejects the object. Users want to fix everything at once, so the causes
// of later stages are reported too, as far as they do not depend on how the earlier errors are fixed.

// follow adds the causes that the server would report once the errors of the object are fixed. renamed are the
// fields to which unknown fields may be renamed.
func (c *Decider) follow(ctx context.Context, def *Definition, req engine.Request, doc *input.Document, res *engine.Result, excerpts *excerpt.Excerpts, rep *finding.Object, renamed []string) {
	if !c.Explain || !c.Locate || rep.Duplicate { // which of the duplicates is right is unknown
		return
	}
	var causes []engine.Cause
	if len(res.Causes) > 0 {
		causes, _ = res.Following(ctx) // an error means that nothing can be announced
	} else if len(res.Strict) > 0 {
		causes = followStrict(ctx, def, req, res.Strict, renamed)
	}
	if len(causes) == 0 {
		return
	}
	causes = causes[:min(excerpt.Shown, len(causes))]
	rep.Following = finding.NewCauses(causes)
	fields := make([]string, len(causes))
	for i, cause := range causes {
		fields[i] = cause.Field
	}
	excerpts.Locate(rep.Following, doc.Locate(fields))
}

// followStrict returns the causes of a write that is rejected for unknown and duplicate fields. It omits causes that
// depend on the fields to which unknown fields may be renamed, and on the fields that are given twice.
func followStrict(ctx context.Context, def *Definition, req engine.Request, strict []engine.StrictError, renamed []string) []engine.Cause {
	req.FieldValidation, req.Observe, req.Trace = "Ignore", nil, false
	res, err := def.engine.Validate(ctx, req)
	if err != nil || res.Allowed || res.Prepared == nil {
		return nil
	}
	more, _ := res.Following(ctx)
	causes := slices.DeleteFunc(slices.Concat(res.Causes, more), func(c engine.Cause) bool { return c.Rule == nil && c.Field == "<nil>" })
	for _, e := range strict {
		if e.Duplicate {
			renamed = append(renamed, e.Field)
		}
	}
	return res.Prepared.Unaffected(causes, renamed)
}

// suggestions adds hints for misspelled fields, and returns the paths of those fields to which they may be renamed
// and that the object does not have yet.
func (def *Definition) suggestions(doc *input.Document, rep *finding.Object) (paths []string) {
	for i := range rep.Strict {
		near := def.suggest(rep, &rep.Strict[i])
		steps, err := engine.ParsePath(rep.Strict[i].Field)
		if near == "" || err != nil {
			continue
		}
		steps[len(steps)-1] = engine.Step{Name: near}
		if !hasValue(doc.Object, steps) {
			paths = append(paths, engine.FormatPath(steps))
		}
	}
	return paths
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
