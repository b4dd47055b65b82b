package vet

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/spell"
)

// How it works: strict decoding reports unknown keys, but not inside of types that decode themselves,
// because they call a decoder that is not strict. In a CRD, these are the schemas of items,
// additionalProperties, additionalItems, and dependencies: a server drops unknown keys below them.

// UnknownKey is a key of a CRD that is not a field of apiextensions.k8s.io/v1.
type UnknownKey struct {
	// Path is the path of the key in the CRD, in the form of engine.FormatPath.
	Path string
	// Known is the only similar key that servers know, or "". It is also "" if the object has that key.
	Known string
	// Dropped is set if servers drop the key without an error even with strict field validation.
	Dropped bool

	steps []engine.Step
	near  []string // the known keys that are most similar
}

const droppedKey = "dropped-key"

func unknownKeys(raw []byte) []UnknownKey {
	var crd map[string]any
	if kjson.UnmarshalCaseSensitivePreserveInts(raw, &crd) != nil {
		return nil
	}
	w := typeWalk{fields: fieldTable{}, seeksKeys: true}
	if spec, ok := crd["spec"]; ok && crd["apiVersion"] == apiextensionsv1.SchemeGroupVersion.String() {
		w.value(spec, reflect.TypeFor[apiextensionsv1.CustomResourceDefinitionSpec](), []engine.Step{{Name: "spec"}}, false)
	}
	return w.keys
}

// The types that hold a schema or another value decode themselves; the result is then the type of the schema.
func schemaType(t reflect.Type) (_ reflect.Type, decodesItself bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if strings.HasPrefix(t.Name(), "JSONSchemaPropsOr") {
		f, _ := t.FieldByName("Schema")
		return f.Type.Elem(), true
	}
	return t, false
}

type fieldTable map[reflect.Type]map[string]reflect.Type

func (t fieldTable) of(of reflect.Type) map[string]reflect.Type {
	if known := t[of]; known != nil {
		return known
	}
	fields := map[string]reflect.Type{}
	for i := range of.NumField() {
		f := of.Field(i)
		switch name, _, _ := strings.Cut(f.Tag.Get("json"), ","); {
		case name != "":
			fields[name] = f.Type
		case f.Anonymous:
			maps.Copy(fields, t.of(f.Type))
		}
	}
	t[of] = fields
	return fields
}

// The name is "" for an item of a list. The result is any for an unknown field.
func (t fieldTable) part(of reflect.Type, name string) reflect.Type {
	of, decodesItself := schemaType(of)
	switch {
	case name == "" && decodesItself:
		return of
	case of.Kind() == reflect.Map || of.Kind() == reflect.Slice:
		return of.Elem()
	case of.Kind() == reflect.Struct && t.of(of)[name] != nil:
		return t.of(of)[name]
	}
	return reflect.TypeFor[any]()
}

// NearestKey returns the known key that is most similar to the last step of a path in a CRD, such as spec.scpe. It
// returns "" if the key is known or no key is similar.
func NearestKey(path string) string {
	steps, err := engine.ParsePath(path)
	if err != nil || len(steps) == 0 {
		return ""
	}
	table, of := fieldTable{}, reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]()
	for ; len(steps) > 1; steps = steps[1:] {
		of = table.part(of, steps[0].Name)
	}
	if of, _ = schemaType(of); of.Kind() != reflect.Struct || table.of(of)[steps[0].Name] != nil {
		return ""
	}
	return spell.Nearest(steps[0].Name, sortedKeys(table.of(of)))
}

// CorrectKeys returns a CRD with the known key instead of each unknown key that has a similar known key. If there is
// nothing to correct, it returns raw itself.
func CorrectKeys(raw []byte, keys []UnknownKey) []byte {
	var crd map[string]any
	if !slices.ContainsFunc(keys, UnknownKey.isMisspelled) || kjson.UnmarshalCaseSensitivePreserveInts(raw, &crd) != nil {
		return raw
	}
	for _, key := range slices.Backward(keys) { // a path does not depend on later keys
		if !key.isMisspelled() {
			continue
		}
		var v any = crd
		last := len(key.steps) - 1
		for _, step := range key.steps[:last] {
			switch in := v.(type) {
			case map[string]any:
				v = in[step.Name]
			case []any:
				v = in[step.Index]
			}
		}
		if parent, ok := v.(map[string]any); ok {
			parent[key.Known] = parent[key.steps[last].Name]
			delete(parent, key.steps[last].Name)
		}
	}
	corrected, err := json.Marshal(crd)
	if err != nil {
		return raw
	}
	return corrected
}

func (k UnknownKey) isMisspelled() bool { return k.Known != "" }

func (r *Report) addKeys(ctx context.Context, raw []byte, cfg Config) error {
	if cfg.Stored || r.Undecided != nil {
		return nil
	}
	r.Keys = unknownKeys(raw)
	rejected := r.Status != nil && len(r.Strict) > 0 && len(r.Causes) == 0
	if !rejected && !slices.ContainsFunc(r.Keys, UnknownKey.isMisspelled) {
		return nil
	}
	cfg.FieldValidation, cfg.DuplicateKeys, cfg.VerdictOnly, cfg.KubeVersions = metav1.FieldValidationIgnore, nil, true, nil
	next := &Report{}
	crd := next.decode(CorrectKeys(raw, r.Keys), cfg)
	if crd != nil {
		var err error
		if next, err = next.vet(ctx, crd, cfg); err != nil {
			return err
		}
	}
	for _, c := range next.Causes {
		if c.Field = r.original(Place(c.Field)); !slices.ContainsFunc(r.Causes, func(known engine.Cause) bool { return r.original(Place(known.Field)) == c.Field }) {
			r.Following = append(r.Following, c)
		}
	}
	return nil
}

func (r *Report) original(field string) string {
	steps, err := engine.ParsePath(field)
	if err != nil {
		return field
	}
	for _, key := range r.Keys { // a key precedes the keys below it
		last := len(key.steps) - 1
		if key.Known != "" && len(steps) > last && steps[last].Name == key.Known && slices.Equal(steps[:last], key.steps[:last]) {
			steps[last].Name = key.steps[last].Name
		}
	}
	return engine.FormatPath(steps)
}

func keyLints(keys []UnknownKey, cfg Config) (list []Lint) {
	if slices.Contains(cfg.WithoutLints, droppedKey) || cfg.VerdictOnly {
		return nil
	}
	for _, key := range keys {
		if !key.Dropped {
			continue
		}
		what := "unknown key " + key.steps[len(key.steps)-1].Name
		if len(key.near) > 0 {
			what += ", did you mean " + key.near[0] + "?"
		} else {
			what += ":"
		}
		list = append(list, Lint{Name: droppedKey, Field: key.Path, KnownKey: key.Known, Message: what + " servers drop it without an error, because strict decoding does not reach schemas below items and additionalProperties"})
	}
	return list
}
