package verdict

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// describeRefused adds the positions of errors that server-side apply or a patch reports.
func (d *decision) describeRefused(ctx context.Context, out *outcome) {
	if out.status == nil || d.report.Apply == "" || !d.Locate {
		return
	}
	if d.report.Apply == string(apply.Server) && len(out.causes) > 0 {
		locate(d.excerpts(nil), out.causes)
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
	if res == nil {
		return
	}
	excerpts := d.excerpts(nil)
	d.report.Strict = excerpt.Strict(d.doc, res.Strict, excerpts)
	d.suggestions()
	if d.builtin == nil {
		d.report.Strict = append(d.report.Strict, d.mistyped(res.Causes, excerpts)...)
	}
}

func (d *decision) mistyped(all []engine.Cause, excerpts *excerpt.Excerpts) []finding.Location {
	causes := finding.NewCauses(slices.DeleteFunc(slices.Clone(all), func(c engine.Cause) bool {
		return c.Type != field.ErrorTypeTypeInvalid
	}))
	locate(excerpts, causes)
	d.hints(causes, excerpts)
	at := make([]finding.Location, len(causes))
	for i := range causes {
		at[i] = causes[i].Location()
		at[i].Message = causes[i].Message
	}
	return at
}

// given converts paths in the merged object to paths in the document, in place. A merge can move the
// items of a list, so their indexes change. A path to an item that the document does not have ends at
// the list.
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

// same reports whether written is probably the item of a document, perhaps with more fields from defaults and
// other managers: it has all fields of the item, and equal strings.
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

var errUntracked = errors.New("some old objects have neither the annotation " + apply.LastApplied + " nor managedFields, so their updates are decided as replacements: " +
	"get the objects with kubectl get -o yaml --show-managed-fields, or choose the kind of write with --apply")

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

const (
	// maxBody is the largest request body, in bytes, that the API server accepts.
	maxBody = 3 << 20
	// maxStored is the largest request, in bytes, that etcd accepts by default. The API server adds
	// several hundred bytes to an object, which are not counted here.
	maxStored = 3 << 19
	// fitsBelow is the input size, in bytes, below which an object is not measured. Encoding turns a
	// byte into at most six, for example "<". Defaults and YAML aliases could add more, but that
	// does not justify measuring every object.
	fitsBelow = maxStored / 6
)

func couldBeTooLarge(doc *input.Document) bool {
	if text := doc.FromJSON(); text != nil {
		return len(text) > fitsBelow
	}
	source, _, inList := doc.Source()
	return len(source) > fitsBelow && (!inList || subtractSize(doc.Object, fitsBelow) <= 0)
}

// subtractSize subtracts the approximate size of v from left. It stops when the rest is not positive.
func subtractSize(v any, left int) int {
	left--
	switch v := v.(type) {
	case string:
		return left - len(v)
	case map[string]any:
		for name, field := range v {
			if left = subtractSize(field, left-len(name)); left <= 0 {
				return left
			}
		}
	case []any:
		for _, item := range v {
			if left = subtractSize(item, left); left <= 0 {
				return left
			}
		}
	}
	return left
}

func tooLarge(sent func() ([]byte, error), res *engine.Result) []string {
	if body, err := sent(); err == nil && len(body) > maxBody {
		return []string{fmt.Sprintf("the object has %d bytes as JSON, more than the %d (3 MiB) of a request body: the API server answers 413 (Request entity too large)", len(body), maxBody)}
	}
	if stored, err := json.Marshal(res.Stored); err == nil && len(stored) > maxStored {
		return []string{fmt.Sprintf("the object has %d bytes in storage, more than the %d (1.5 MiB) that etcd accepts by default: the API server answers 500 (etcdserver: request is too large; above 2 MiB: trying to send message larger than max)", len(stored), maxStored)}
	}
	return nil
}
