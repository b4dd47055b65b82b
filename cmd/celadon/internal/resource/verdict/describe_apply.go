package verdict

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/secret"
)

// describeRefused adds the positions of conflicts, and of unknown fields, that server-side apply or a patch reports.
func (d *decision) describeRefused(ctx context.Context, out *outcome) {
	if out.status == nil || d.report.Apply == "" || !d.Locate {
		return
	}
	if d.report.Apply == string(apply.Server) && len(out.causes) > 0 {
		locate(excerpt.NewExcerpts(d.doc, d.Width, &secret.Secrets{}, nil), out.causes)
		return
	}
	if len(d.report.Strict) > 0 || out.status.Code != http.StatusInternalServerError && out.status.Code != http.StatusUnprocessableEntity {
		return
	}
	var res *engine.Result
	switch {
	case d.builtin != nil && d.builtin.Exact():
		res, _ = d.builtin.Write(ctx, policyrequest.Write{
			Object: d.doc.Object, KubeMinor: d.minor(), Name: d.report.Name, Namespace: d.report.Namespace, FieldValidation: "Strict", NoObject: true,
		})
	case d.def != nil && out.result == nil:
		res, _ = d.def.engine.Validate(ctx, engine.Request{Object: d.doc.Object, FieldValidation: "Strict"})
	}
	if res == nil || len(res.Strict) == 0 {
		return
	}
	excerpts := excerpt.NewExcerpts(d.doc, d.Width, &secret.Secrets{}, nil)
	d.report.Strict = excerpt.Strict(d.doc, res.Strict, excerpts)
	if d.builtin == nil {
		d.suggestions()
		return
	}
	d.builtinHints()
}

// given returns the fields of causes of an applied object as far as the document has them: a merge can move the items of a
// list, and keep items that the document does not have.
func (d *decision) given(fields []string, written map[string]any) []string {
	for i, field := range fields {
		steps, err := engine.ParsePath(field)
		if err != nil {
			continue
		}
		is, was := any(written), any(d.doc.Object)
		for n, step := range steps {
			if !step.Item {
				is, was = fieldOf(is, step.Name), fieldOf(was, step.Name)
				continue
			}
			items, _ := is.([]any)
			all, _ := was.([]any)
			if step.Index < 0 || step.Index >= len(items) {
				break
			}
			at := slices.IndexFunc(all, func(item any) bool { return same(item, items[step.Index]) })
			if at < 0 {
				fields[i] = engine.FormatPath(steps[:n])
				break
			}
			steps[n].Index = at
			is, was = items[step.Index], all[at]
			fields[i] = engine.FormatPath(steps)
		}
	}
	return fields
}

// same reports whether an item of a document is the written one, or what that was before defaults and other managers.
func same(item, written any) bool {
	fields, ok := item.(map[string]any)
	if !ok {
		return reflect.DeepEqual(item, written)
	}
	for name, value := range fields {
		if other := fieldOf(written, name); !reflect.DeepEqual(other, value) {
			if _, scalar := value.(string); scalar || other == nil {
				return false
			}
		}
	}
	return len(fields) > 0
}

func fieldOf(v any, name string) any {
	fields, _ := v.(map[string]any)
	return fields[name]
}

// errUntracked is the note about old objects that do not tell which tool wrote them.
var errUntracked = errors.New("some old objects have neither the annotation " + apply.LastApplied + " nor managedFields, so their updates are decided as replacements: " +
	"get the objects with kubectl get -o yaml --show-managed-fields, or choose the kind of write with --apply")

// noteImmutable records the file of an object that can only be recreated, because an immutable field changes.
func (d *decision) noteImmutable() {
	if d.report.Operation == Update && slices.ContainsFunc(d.report.Causes, isImmutable) {
		d.immutable.Store(d.report.File, true)
	}
}

func isImmutable(c finding.Cause) bool {
	switch strings.Join(strings.Fields(c.Rule), " ") {
	case "self == oldSelf", "oldSelf == self":
		return true
	}
	return strings.HasSuffix(c.Message, validation.FieldImmutableErrorMsg)
}

// applyNotes returns the remarks about updates.
func (d *Decider) applyNotes() (notes []error) {
	if d.untracked.Load() {
		notes = append(notes, errUntracked)
	}
	var files []string
	d.immutable.Range(func(file, _ any) bool {
		files = append(files, file.(string))
		return true
	})
	if len(files) > 0 {
		slices.Sort(files)
		notes = append(notes, fmt.Errorf("immutable fields change in %s: only a new object can have the new values: kubectl replace --force -f FILE", someOf(files)))
	}
	return notes
}
