package verdict

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/crdcopy"
	"github.com/celadon-cel/celadon/x/secret"
	"github.com/celadon-cel/celadon/x/trace"
	"github.com/celadon-cel/celadon/x/valuediff"
)

func (d *decision) describe(ctx context.Context, out *outcome) {
	d.choose(out)
	r := d.report
	r.Verdict, r.Problem, r.Limit, r.Bug = out.verdict, out.problem, out.limit, out.bug
	r.Status, r.Resource = out.status, out.denied
	if out.operation != "" {
		r.Operation = out.operation
	}
	switch {
	case out.result == nil:
		d.describeUnknown()
	case out.result.Allowed:
		d.describeRatcheted(out)
		d.describePersisted(ctx, out)
	default:
		d.describeRejected(ctx, out)
	}
	d.describeRefused(ctx, out)
	r.Causes = append(r.Causes, out.causes...)
	d.noteImmutable()
}

// describeUnknown adds the position of the kind or version for which a server has no endpoint.
func (d *decision) describeUnknown() {
	if d.report.Status == nil || d.report.Status.Code != http.StatusNotFound || d.report.Operation != Create || !d.Locate {
		return
	}
	field := "kind"
	switch {
	case d.def != nil:
		field = "apiVersion"
	case d.absence != nil:
		field = d.absence.Field
	}
	at := engine.StrictError{Field: field, Message: d.report.Status.Message}
	d.report.Strict = excerpt.Strict(d.doc, []engine.StrictError{at}, excerpt.NewExcerpts(d.doc, d.Width, &secret.Secrets{}, nil))
}

// choose replaces the outcome if --field-selector does not select the object, or cannot be evaluated for it.
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
	p, chosen := v.parsed(), false
	err := p.errSelectable
	if err == nil {
		err = p.selectable.Check(d.Selector)
	}
	if err == nil {
		chosen, err = p.selectable.Matches(d.Selector, seen, d.report.Namespace, d.report.Name)
	}
	switch {
	case err != nil:
		fresh := newReport(d.doc)
		fresh.Key, fresh.Identity = d.report.Key, d.report.Identity
		d.report = fresh
		*out = outcome{verdict: finding.Unreadable, problem: fmt.Sprintf("--field-selector: %v", err)}
	case !chosen:
		*out = outcome{verdict: finding.Unselected}
	}
}

// excerpts hides the secrets of the document and of old.
func (d *decision) excerpts(old map[string]any) *excerpt.Excerpts {
	if d.def == nil {
		return excerpt.NewExcerpts(d.doc, d.Width, &secret.Secrets{}, d.builtin.Subject(d.doc.Object, old).Secrets)
	}
	crd := d.def.CRD.ForEngine()
	return excerpt.NewExcerpts(d.doc, d.Width, secret.Of(crd, d.doc.Object), secret.Of(crd, old).Texts)
}

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

func (d *decision) describeRejected(ctx context.Context, out *outcome) {
	res, r := out.result, d.report
	excerpts := d.excerpts(out.request.OldObject)
	r.Causes = finding.NewCauses(res.Causes)
	r.Uncompiled = d.def != nil && len(res.Causes) > 0 && !slices.ContainsFunc(res.Causes, func(cause engine.Cause) bool {
		return cause.Rule == nil || !d.def.broken[*cause.Rule]
	})
	if d.Locate {
		fields := fieldsOf(r.Causes)
		if r.Apply != "" {
			fields = d.given(fields, out.request.Object)
		}
		excerpts.Locate(r.Causes, excerpts.Doc.Locate(fields))
	}
	if d.Explain && d.def != nil {
		d.explain(ctx, res, excerpts.Texts)
	}
	// A strict server rejects only decoded objects, so its errors include the duplicate keys.
	r.Duplicate = d.doc.Duplicate != nil && out.request.FieldValidation == "Strict" && len(res.Strict) > 0
	if r.Duplicate && d.Locate {
		r.Strict = excerpt.Duplicates(d.doc, excerpts)
	}
	switch {
	case !d.Locate:
	case len(res.Causes) > 0:
		d.hints(r.Causes, excerpts)
	case len(res.Strict) > 0:
		r.Strict = append(r.Strict, excerpt.Strict(d.doc, res.Strict, excerpts)...)
	case d.def != nil:
		r.Strict = hint.Mistyped(excerpts)
	case d.builtin.Type != nil:
		r.Strict = hint.MistypedAs(excerpts, d.builtin.Type)
	}
	d.follow(ctx, out, excerpts, d.suggestions())
}

// hints adds the hints that are not about CEL.
func (d *decision) hints(causes []finding.Cause, excerpts *excerpt.Excerpts) {
	same := func(field string) string { return field }
	(&hint.Subject{Excerpts: excerpts, Path: same, Schema: d.schema(), Minor: d.minor()}).Outside(causes)
}

// schema returns the schema of the object's version, or the newest schema of a built-in kind. If it is unknown, the
// result is empty, not nil.
func (d *decision) schema() *apiextensionsv1.JSONSchemaProps {
	if d.def != nil {
		if v := d.def.views[d.report.Version()]; v != nil && v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			return v.Schema.OpenAPIV3Schema
		}
	} else if catalog, err := builtin.Newest(); err == nil {
		if props, err := catalog.Schema(d.builtin.GroupVersionKind); err == nil {
			if metadata, err := catalog.Metadata(); err == nil && props.Properties != nil {
				props.Properties["metadata"] = *metadata
			}
			return props
		}
	}
	return &apiextensionsv1.JSONSchemaProps{}
}

func (d *decision) describeRatcheted(out *outcome) {
	if causes := out.result.Ratcheted; len(causes) > 0 {
		d.report.RatchetedErrors = finding.NewCauses(causes[:min(excerpt.Shown, len(causes))])
		locate(d.excerpts(out.request.OldObject), d.report.RatchetedErrors)
	}
}

// suggestions adds hints on unknown fields. It returns the paths without a value to which fields may be renamed.
func (d *decision) suggestions() (paths []string) {
	if len(d.report.Strict) == 0 {
		return nil
	}
	fieldsAt := d.fieldsAt()
	for i := range d.report.Strict {
		at := &d.report.Strict[i]
		if d.builtin != nil && d.builtin.Exact() {
			if minor := d.Server.FieldIntroduced(d.builtin.GroupVersionKind, at.Field); minor > d.minor() {
				at.Hint = fmt.Sprintf("it needs Kubernetes 1.%d", minor)
			}
		}
		steps, err := engine.ParsePath(at.Field)
		if at.Hint != "" || err != nil || len(steps) == 0 {
			continue
		}
		if at.Hint = hint.Invisible(at.Field); at.Hint != "" {
			continue
		}
		last := len(steps) - 1
		names, near := fieldsAt(steps[:last]), ""
		if read, written := d.misreadKey(steps, names); read != "" {
			at.Hint = read
			if written != "" {
				steps[last] = engine.Step{Name: written}
				paths = append(paths, engine.FormatPath(steps))
			}
			continue
		}
		if !slices.Contains(names, steps[last].Name) { // otherwise it is a duplicate
			near = spell.Nearest(steps[last].Name, names)
		}
		if near == "" {
			at.Hint = d.misplaced(at.Field, steps)
			continue
		}
		at.Hint = "did you mean " + near + "?"
		steps[last] = engine.Step{Name: near}
		if v, _ := valuediff.At(d.doc.Object, steps...); v == nil {
			paths = append(paths, engine.FormatPath(steps))
		}
	}
	return paths
}

// misreadKey returns a hint on an unknown field that is called true or false, or that the CRD calls so, because YAML
// reads words such as y as booleans. written is the key in the source, if it is a field.
func (d *decision) misreadKey(steps []engine.Step, names []string) (words, written string) {
	last := len(steps) - 1
	name := steps[last].Name
	read := decode.Boolean(name)
	if read != "" && slices.Contains(names, read) && !slices.Contains(names, name) {
		const words = "the CRD has %s, as which YAML reads %s without quotes: write %q, in quotes, in the CRD"
		return fmt.Sprintf(words, read, name, name), ""
	}
	key := hint.BooleanKey(d.doc, steps, func(_, read string) bool { return read == name })
	switch {
	case key == "":
		return "", ""
	case slices.Contains(names, key):
		return fmt.Sprintf("YAML reads the key %s as %s: write %q, in quotes", key, name, key), key
	}
	return fmt.Sprintf("YAML reads the key %s as %s", key, name), ""
}

func (d *decision) fieldsAt() func([]engine.Step) []string {
	if d.def == nil {
		schema := d.schema()
		return func(path []engine.Step) []string {
			if props := crdcopy.At(schema, path...); props != nil {
				return slices.Sorted(maps.Keys(props.Properties))
			}
			return nil
		}
	}
	return func(path []engine.Step) []string {
		path = slices.Clone(path)
		for i := range path {
			if path[i].Item {
				path[i] = engine.Step{Any: true}
			}
		}
		if node, err := d.def.engine.At(d.report.Version(), engine.FormatPath(path)); err == nil && node.Decl != nil {
			return node.Decl.FieldNames()
		}
		return nil
	}
}

func (d *decision) misplaced(field string, steps []engine.Step) string {
	switch {
	case d.def == nil:
		return ""
	case steps[0].Name == "metadata":
		return hint.Key(field)
	}
	parent := engine.FormatPath(steps[:len(steps)-1])
	node, err := d.def.engine.At(d.report.Version(), parent)
	switch {
	case err != nil || node.Decl == nil || node.Decl.Kind == types.Object || node.Decl.Kind == types.Map:
		return ""
	case node.Decl.Kind == types.List:
		return parent + " is a list: begin each item with -"
	}
	return parent + " is a " + node.Decl.String() + ", which has no fields"
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

func (d *decision) explain(ctx context.Context, res *engine.Result, secrets secret.Texts) {
	r, first := d.report, res.Causes[:min(excerpt.Shown, len(res.Causes))]
	all, err := d.def.explainer.Explain(ctx, res.Prepared, first, d.explained.Allowance())
	for i, why := range all.Causes {
		r.Causes[i].NotShown = why.NotShown
		for _, v := range why.Values {
			r.Causes[i].Values = append(r.Causes[i].Values, finding.Value{Expr: v.Expr, Text: finding.Preview(v.Value, secrets)})
		}
	}
	r.Explained, r.Bug = all.Work, err
	hint.Failed(r.Causes)
}

// The API server checks an object in stages: unknown and duplicate fields, then the schema, then the rules. It stops
// at the first stage that rejects the object. Users want to fix everything at once, so the causes of later stages are
// also reported, as far as they do not depend on how the earlier errors are fixed.

// follow adds the causes that the server would report once the errors of the object are fixed. renamed are the
// fields to which unknown fields may be renamed.
func (d *decision) follow(ctx context.Context, out *outcome, excerpts *excerpt.Excerpts, renamed []string) {
	if d.def == nil || !d.Explain || !d.Locate || d.report.Duplicate { // which of the duplicates is right is unknown
		return
	}
	var causes []engine.Cause
	if len(out.result.Causes) > 0 {
		causes, _ = out.result.Following(ctx) // after an error, nothing is announced
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
	for _, e := range out.result.Strict {
		if e.Duplicate {
			renamed = append(renamed, e.Field)
		}
	}
	causes := slices.DeleteFunc(slices.Concat(res.Causes, more), func(c engine.Cause) bool {
		return c.Kind == engine.CauseRulesSkipped || c.Rule == nil && c.Field == "<nil>" && len(renamed) > 0
	})
	return res.Prepared.Unaffected(causes, renamed)
}
