package conversion

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine"
)

// checked returns the converted object as the API server accepts it: with the original metadata except for labels and
// annotations. It may modify made.
func checked(q engine.Conversion, made map[string]any) (map[string]any, error) {
	of, got := kindOf(q.Object), kindOf(made)
	want, _ := runtimeschema.ParseGroupVersion(q.APIVersion)
	switch {
	case got.GroupVersion() != want:
		return nil, failed(Wrong, q, "returned invalid object at index 0: invalid groupVersion (expected %v, received %v)", want, got.GroupVersion())
	case got.Kind != of.Kind:
		return nil, failed(Wrong, q, "returned invalid object at index 0: invalid kind (expected %v, received %v)", of.Kind, got.Kind)
	}
	if err := sameIdentity(q.Object, made); err != nil {
		return nil, failed(Wrong, q, "returned invalid object: %v", err)
	}
	if err := restoreMetadata(q.Object, made); err != nil {
		return nil, failed(Wrong, q, "returned invalid metadata: %v", err)
	}
	return made, nil
}

func sameIdentity(in, out map[string]any) error {
	was, is := unstructured.Unstructured{Object: in}, unstructured.Unstructured{Object: out}
	for _, part := range []struct{ name, was, is string }{
		{"name", was.GetName(), is.GetName()},
		{"namespace", was.GetNamespace(), is.GetNamespace()},
		{"UID", string(was.GetUID()), string(is.GetUID())},
	} {
		if part.was != part.is {
			return fmt.Errorf("must have the same %s: %s != %s", part.name, part.was, part.is)
		}
	}
	return nil
}

func restoreMetadata(in, out map[string]any) error {
	raw, found := out["metadata"]
	if !found {
		return errors.New("missing metadata in converted object")
	}
	answered, ok := raw.(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata of type %T in converted object", raw)
	}
	meta := map[string]any{}
	if raw, found := in["metadata"]; found {
		if meta, ok = runtime.DeepCopyJSONValue(raw).(map[string]any); !ok {
			return fmt.Errorf("invalid metadata of type %T in input object", raw)
		}
	}
	out["metadata"] = meta
	for _, name := range []string{"labels", "annotations"} {
		v := answered[name]
		if v == nil {
			delete(meta, name)
			continue
		}
		texts, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("invalid metadata.%s of type %T in converted object", name, v)
		}
		before, ok := meta[name].(map[string]any)
		if !ok && meta[name] != nil {
			return fmt.Errorf("invalid metadata.%s of type %T in original object", name, meta[name])
		}
		if err := validTexts(name, before, texts); err != nil {
			return err
		}
		meta[name] = texts
	}
	return nil
}

// Validation continues in chunks until there are enough errors.
const (
	textChunk     = 1000
	maxTextErrors = 100
)

func validTexts(name string, before, now map[string]any) error {
	keys := slices.Sorted(maps.Keys(now))
	texts, changed := make(map[string]string, len(now)), len(before) != len(now)
	for _, key := range keys {
		text, ok := now[key].(string)
		if !ok {
			return fmt.Errorf("metadata.%s[%s] must be a string, but is %T in converted object", name, key, now[key])
		}
		texts[key] = text
		changed = changed || before[key] != now[key]
	}
	if !changed {
		return nil
	}
	path, validate := field.NewPath("metadata", "labels"), metavalidation.ValidateLabels
	if name == "annotations" { // the API server uses this path
		path, validate = field.NewPath("metadata", "annotation"), apivalidation.ValidateAnnotations
	}
	var errs field.ErrorList
	for chunk := range slices.Chunk(keys, textChunk) {
		part := make(map[string]string, len(chunk))
		for _, key := range chunk {
			part[key] = texts[key]
		}
		if errs = append(errs, validate(part, path)...); len(errs) > maxTextErrors {
			break // a hostile converter can send hundreds of thousands
		}
	}
	if name == "annotations" && len(now) > textChunk {
		if err := apivalidation.ValidateAnnotationsSize(texts); err != nil {
			errs = append(errs, field.TooLong(path, "", apivalidation.TotalAnnotationSizeLimitB))
		}
	}
	messages := make(map[*field.Error]string, len(errs))
	for _, err := range errs {
		messages[err] = err.Error()
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(messages[a], messages[b]) }) // in random order on the server
	return errs.ToAggregate()
}
