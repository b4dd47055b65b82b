package apply

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/celadon-cel/celadon/engine"
)

// How it works: the libraries of kubectl and of the server encode and decode an object about ten times for a patch. Applied
// merges plain objects in one pass instead, and leaves the others to the libraries: those with nulls, with numbers that lose
// digits as JSON, or with another identity. TestApplied compares both.

// Applied returns the object of a custom resource after kubectl apply, as Patched does with the patch of Patch.
// patched returns its JSON. Applied returns nil if there is nothing to send. The error is a *PatchError. The result
// may share memory with live and object.
func Applied(live, object map[string]any) (applied map[string]any, patched func() ([]byte, error), err error) {
	if merged, ok := plainMerge(live, object); ok {
		if reflect.DeepEqual(merged, live) {
			return nil, nil, nil
		}
		return merged, func() ([]byte, error) { return json.Marshal(merged) }, nil
	}
	patch, err := Patch(live, object, nil)
	if patch == nil {
		return nil, nil, err
	}
	data, err := Patched(live, patch, nil)
	if err == nil {
		applied, err = engine.Decode(data)
	}
	if err != nil {
		return nil, nil, &PatchError{err}
	}
	return applied, func() ([]byte, error) { return data, nil }, nil
}

// plainMerge returns the object after an apply. It may decline any object, but it never returns another result than the libraries.
func plainMerge(live, object map[string]any) (merged map[string]any, ok bool) {
	var original map[string]any
	if text := Annotation(live, LastApplied); text != "" && kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &original) != nil {
		return nil, false
	}
	object, err := withLastApplied(object)
	if err != nil || !plain(object) || !plain(original) || live["apiVersion"] != object["apiVersion"] || live["kind"] != object["kind"] {
		return nil, false
	}
	merged = mergeMaps(live, original, object)
	name := func(o map[string]any) any { meta, _ := o["metadata"].(map[string]any); return meta["name"] }
	return merged, name(merged) == name(live) && merged["apiVersion"] == live["apiVersion"] && merged["kind"] == live["kind"]
}

// maxExact is the largest number whose neighbors a float64 distinguishes.
const maxExact = 1 << 53

// plain reports whether a value has no nulls and no numbers that JSON writes in another way.
func plain(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			if !plain(value) {
				return false
			}
		}
		return true
	case []any:
		for _, item := range v {
			if !plain(item) {
				return false
			}
		}
		return true
	case int64:
		return v <= maxExact && v >= -maxExact
	case string, bool:
		return true
	}
	return false
}

// mergeMaps returns live with the fields of next, and without the fields of original that next does not have.
func mergeMaps(live, original, next map[string]any) map[string]any {
	merged := maps.Clone(live)
	for name, value := range next {
		fields, isMap := value.(map[string]any)
		was, wasMap := live[name].(map[string]any)
		if isMap && wasMap {
			before, _ := original[name].(map[string]any)
			value = mergeMaps(was, before, fields)
		}
		merged[name] = value
	}
	for name := range original {
		if _, ok := next[name]; !ok {
			delete(merged, name)
		}
	}
	return merged
}

// Merged returns the object after a server-side apply to live, as Merge does, but without managedFields if the manager
// applies all fields that it applied before, and no other manager has a field that changes. Nothing must then be pruned,
// so this takes a third of the time. TestMerged compares both.
func (m *Managers) Merged(live, object map[string]any, version string, w Write) (map[string]any, *metav1.Status, error) {
	if merged, ok := m.unpruned(live, object, version, w); ok {
		whole, _ := wholeNumbers(merged)
		return whole.(map[string]any), nil, nil
	}
	return m.Merge(live, object, version, "", w)
}

// unpruned returns the merge of an apply that removes nothing. It may decline any object, but it never returns another
// object than Merge.
func (m *Managers) unpruned(live, object map[string]any, version string, w Write) (merged map[string]any, ok bool) {
	defer func() {
		if recover() != nil {
			merged, ok = nil, false
		}
	}()
	meta, _ := object["metadata"].(map[string]any)
	_, manages := meta["managedFields"]
	_, reports := object["status"]
	updates := w.migrates() && Annotation(live, LastApplied)+Annotation(object, LastApplied) != ""
	all, err := m.models()
	if err != nil || manages || reports || updates || live["apiVersion"] != object["apiVersion"] || live["kind"] != object["kind"] {
		return nil, false
	}
	own, others, ok := fieldSets(live, w.Manager)
	if !ok {
		return nil, false
	}
	from := runtime.DeepCopyJSON(live)
	unstructured.RemoveNestedField(from, "metadata", "managedFields")
	was, err := all.ObjectToTyped(&unstructured.Unstructured{Object: from}, typed.AllowDuplicates)
	if err != nil {
		return nil, false
	}
	config, err := all.ObjectToTyped(&unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)})
	if err != nil {
		return nil, false
	}
	applied, err := config.ToFieldSet()
	if err != nil || !own.Difference(applied).Empty() {
		return nil, false
	}
	is, err := was.Merge(config)
	if err != nil || reconciles(own, was) || conflicts(others, was, is) {
		return nil, false
	}
	if value.Equals(was.AsValue(), is.AsValue()) {
		return from, true
	}
	merged, ok = is.AsValue().Unstructured().(map[string]any)
	all.defaults[version].Default(merged)
	return merged, ok
}

// conflicts reports whether a change can affect fields of other managers.
func conflicts(others []*fieldpath.Set, was, is *typed.TypedValue) bool {
	if len(others) == 0 {
		return false
	}
	changes, err := was.Compare(is)
	if err != nil {
		return true
	}
	changed := changes.Modified.Union(changes.Added)
	return slices.ContainsFunc(others, func(set *fieldpath.Set) bool {
		return reconciles(set, was) || !set.Intersection(changed).Empty()
	})
}

// reconciles reports whether a set must be changed to fit a changed schema.
func reconciles(set *fieldpath.Set, was *typed.TypedValue) bool {
	changed, err := typed.ReconcileFieldSetWithSchema(set, was)
	return changed != nil || err != nil
}

// fieldSets returns the fields that a manager has applied, and those of the other managers. ok is set if there are such
// fields, and if all entries are well-formed and in the version of the object.
func fieldSets(live map[string]any, manager string) (own *fieldpath.Set, others []*fieldpath.Set, ok bool) {
	for _, e := range Managed(live) {
		entry, _ := e.(map[string]any)
		set := &fieldpath.Set{}
		if entry["apiVersion"] != live["apiVersion"] || !decodeEntry(entry, set) {
			return nil, nil, false
		}
		switch {
		case !applies(e, manager) || entry["subresource"] != nil:
			others = append(others, set)
		case own == nil && !set.Empty():
			own = set
		default:
			return nil, nil, false
		}
	}
	return own, others, own != nil
}

// decodeEntry decodes the fields of an entry of managedFields into set, and reports whether the entry is well-formed.
func decodeEntry(entry map[string]any, set *fieldpath.Set) bool {
	for name, v := range entry {
		text, isText := v.(string)
		switch {
		case name == "fieldsV1":
			continue
		case !isText || text == "":
			return false
		case name == "time":
			if _, err := time.Parse(time.RFC3339, text); err != nil {
				return false
			}
		}
	}
	operation, fields := entry["operation"], entry["fieldsV1"]
	if _, ok := fields.(map[string]any); !ok || operation != "Apply" && operation != "Update" || entry["fieldsType"] != "FieldsV1" {
		return false
	}
	data, err := json.Marshal(fields)
	return err == nil && set.FromJSON(bytes.NewReader(data)) == nil
}
