package builtin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/celadon-cel/celadon/engine"
)

func (w *write) decodeOld() (runtime.Object, error) {
	if w.OldObject == nil {
		return nil, nil
	}
	old, err := decodeBy(legacyscheme.Codecs.UniversalDecoder(), w.OldObject)
	if err != nil {
		return nil, fmt.Errorf("old object: %w", err)
	}
	accessor, err := meta.Accessor(old)
	if err != nil {
		return nil, fmt.Errorf("old object: %w", err)
	}
	accessor.SetResourceVersion(w.storedVersion())
	if w.kind.Namespaced() {
		accessor.SetNamespace(w.info.Namespace)
	}
	if accessor.GetUID() == "" {
		uid, _ := metadata(w.Object)["uid"].(string)
		accessor.SetUID(types.UID(cmp.Or(uid, unknownUID)))
	}
	return old, nil
}

// unknownUID replaces UIDs that are missing or random.
const unknownUID = "00000000-0000-0000-0000-000000000000"

// decoders makes decoders that record the errors of strict decoding, to which they add duplicate
// keys of YAML and fields of newer minors.
type decoders struct {
	runtime.NegotiatedSerializer
	write *write
}

func (d *decoders) DecoderToVersion(decoder runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	return &strictDecoder{d.NegotiatedSerializer.DecoderToVersion(decoder, gv), d.write}
}

// EncoderForVersion returns an encoder of responses. If the request has NoObject, it encodes only failures.
func (d *decoders) EncoderForVersion(encoder runtime.Encoder, gv runtime.GroupVersioner) runtime.Encoder {
	encoder = d.NegotiatedSerializer.EncoderForVersion(encoder, gv)
	if d.write.NoObject {
		return failureEncoder{encoder}
	}
	return encoder
}

type failureEncoder struct{ runtime.Encoder }

func (e failureEncoder) Encode(object runtime.Object, w io.Writer) error {
	if _, ok := object.(*metav1.Status); ok {
		return e.Encoder.Encode(object, w)
	}
	return nil
}

type strictDecoder struct {
	runtime.Decoder
	write *write
}

func (d *strictDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	object, kind, err := d.Decoder.Decode(data, defaults, into)
	strict, isStrict := runtime.AsStrictDecodingError(err)
	if isStrict {
		d.write.strict = strict.Errors()
	}
	if err != nil && !isStrict || d.write.FieldValidation == metav1.FieldValidationIgnore {
		return object, kind, err
	}
	if d.write.DuplicateKeys != nil {
		d.write.strict = append([]error{d.write.DuplicateKeys}, d.write.strict...)
	}
	for _, path := range d.write.newer {
		d.write.strict = append(d.write.strict, fmt.Errorf("unknown field %q", path))
	}
	if len(d.write.strict) > 0 {
		err = runtime.NewStrictDecodingError(d.write.strict)
	}
	return object, kind, err
}

// strictErrors parses the messages of strict decoding, which come from sigs.k8s.io/json.
func (w *write) strictErrors() (errs []engine.StrictError) {
	for _, err := range w.strict {
		e := engine.StrictError{Message: err.Error(), Duplicate: err == w.DuplicateKeys}
		kind, quoted, ok := strings.Cut(e.Message, " field ")
		if path, err := strconv.Unquote(quoted); ok && err == nil {
			e.Field, e.Duplicate = path, kind == "duplicate"
		}
		errs = append(errs, e)
	}
	return errs
}

func (w *write) result(sent []byte, r *response) (*engine.Result, error) {
	res := &engine.Result{Warnings: r.warnings(), Strict: w.strictErrors()}
	failed := r.code >= http.StatusBadRequest
	body := w.settled(sent, r.body.Bytes(), failed)
	if failed {
		res.Failure = &metav1.Status{}
		if err := json.Unmarshal(body, res.Failure); err != nil {
			return nil, &engine.InternalError{Reason: fmt.Sprintf("status %d: %v", r.code, err)}
		}
		res.Failure.TypeMeta = metav1.TypeMeta{}
		res.Causes = causes(res.Failure)
		return res, nil
	}
	res.Allowed = true
	if sent == nil || w.NoObject { // sent is nil for a deletion
		return res, nil
	}
	object, err := engine.Decode(body)
	if err != nil {
		return nil, &engine.InternalError{Reason: fmt.Sprintf("status %d: %v", r.code, err)}
	}
	if w.kind.GroupVersionKind == kindOfObject(object) {
		res.Object = w.persisted(object)
	}
	return res, nil
}

func causes(status *metav1.Status) (causes []engine.Cause) {
	if status.Details == nil {
		return nil
	}
	for _, c := range status.Details.Causes {
		cause := engine.Cause{Type: field.ErrorType(c.Type), Reason: c.Type, Field: c.Field, Message: c.Message, Detail: c.Message}
		if rest, ok := strings.CutPrefix(c.Message, field.ErrorTypeNotSupported.String()+": "); ok {
			if quoted, err := strconv.QuotedPrefix(rest); err == nil {
				cause.Value, _ = strconv.Unquote(quoted)
				cause.Detail = strings.TrimPrefix(rest[len(quoted):], ": ")
			}
		}
		causes = append(causes, cause)
	}
	slices.SortStableFunc(causes, func(a, b engine.Cause) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
	})
	return causes
}

// persisted removes managedFields from the persisted object and, unless the old object has them, the other fields
// that only a cluster can set.
func (w *write) persisted(object map[string]any) map[string]any {
	meta, old := maps.Clone(metadata(object)), metadata(w.OldObject)
	delete(meta, "managedFields")
	delete(meta, "selfLink") // which is not stored
	for _, name := range []string{"uid", "creationTimestamp", "resourceVersion"} {
		if delete(meta, name); old[name] != nil {
			meta[name] = old[name]
		}
	}
	object["metadata"] = meta
	if w.kind.Kind == "Service" && w.kind.Group == "" {
		withoutAllocated(object, w.Object, w.OldObject)
	}
	return object
}
