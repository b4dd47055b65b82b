package vet

import (
	"cmp"
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

// UnknownKey is a key of a CRD that no server knows.
type UnknownKey struct {
	// Path is the path of the key in the CRD, in the form of engine.FormatPath.
	Path string
	// Known is the only similar key that servers know, or "".
	Known string
	// Dropped is set if servers drop the key without an error. They reject other keys, unless field
	// validation is off.
	Dropped bool

	steps []engine.Step
}

// droppedKey is the name of the lint about keys that servers drop.
const droppedKey = "dropped-key"

// maxUnknownKeys limits the unknown keys that are reported, as the server limits the errors of strict decoding.
const maxUnknownKeys = 100

// unknownKeys returns the unknown keys of spec in a CRD of apiextensions.k8s.io/v1, in the order of
// their paths.
func unknownKeys(raw []byte) []UnknownKey {
	var crd map[string]any
	if kjson.UnmarshalCaseSensitivePreserveInts(raw, &crd) != nil {
		return nil
	}
	w := keyWalk{fields: fieldTable{}}
	if spec, ok := crd["spec"]; ok && crd["apiVersion"] == apiextensionsv1.SchemeGroupVersion.String() {
		w.value(spec, reflect.TypeFor[apiextensionsv1.CustomResourceDefinitionSpec](), []engine.Step{{Name: "spec"}}, false)
	}
	return w.found
}

type keyWalk struct {
	fields fieldTable
	found  []UnknownKey
}

// value looks for unknown keys at and below a value of type t. lost is set if strict decoding does not
// reach the value.
func (w *keyWalk) value(v any, t reflect.Type, path []engine.Step, lost bool) {
	t, decodesItself := schemaType(t)
	switch v := v.(type) {
	case []any:
		if t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
			t = t.Elem()
		} else if !decodesItself {
			return
		}
		for i, item := range v {
			w.value(item, t, append(path, engine.Step{Item: true, Index: i}), lost || decodesItself)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := append(path, engine.Step{Name: name})
			switch {
			case t.Kind() == reflect.Map:
				w.value(v[name], t.Elem(), at, lost)
			case t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(unmarshaler):
				return
			case w.fields.of(t)[name] == nil:
				if known := w.add(at, v, t, lost || decodesItself); known != "" {
					w.value(v[name], w.fields.of(t)[known], at, true)
				}
			default:
				w.value(v[name], w.fields.of(t)[name], at, lost || decodesItself)
			}
		}
	}
}

// add adds the key at the end of path in among, a value of type t, and returns its known key.
func (w *keyWalk) add(path []engine.Step, among map[string]any, t reflect.Type, lost bool) (known string) {
	if len(w.found) == maxUnknownKeys {
		return ""
	}
	key := UnknownKey{Path: engine.FormatPath(path), Dropped: lost, steps: slices.Clone(path)}
	if near := spell.Near(path[len(path)-1].Name, slices.Sorted(maps.Keys(w.fields.of(t)))); len(near) == 1 {
		if _, taken := among[near[0]]; !taken {
			key.Known = near[0]
		}
	}
	w.found = append(w.found, key)
	return key.Known
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// schemaType returns the type of the values of t without pointers. decodesItself is set for the types
// that hold a schema or another value; the result is then the type of the schema.
func schemaType(t reflect.Type) (_ reflect.Type, decodesItself bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray](), reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool](), reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray]():
		return reflect.TypeFor[apiextensionsv1.JSONSchemaProps](), true
	}
	return t, false
}

type fieldTable map[reflect.Type]map[string]reflect.Type

// of returns the types of a struct's fields by their names in JSON.
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

// NearestKey returns the known key that is most similar to the last step of a path in a CRD, such as
// spec.scpe. It returns "" if the key is known or no key is similar.
func NearestKey(path string) string {
	steps, err := engine.ParsePath(path)
	if err != nil || len(steps) == 0 {
		return ""
	}
	t, fields := reflect.TypeFor[apiextensionsv1.CustomResourceDefinition](), fieldTable{}
	for _, step := range steps[:len(steps)-1] {
		if t, _ = schemaType(t); t.Kind() == reflect.Slice && !step.Item {
			return ""
		}
		switch {
		case step.Item && t.Kind() != reflect.Slice: // of items that are a list of schemas
		case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
			t = t.Elem()
		case t.Kind() == reflect.Struct && fields.of(t)[step.Name] != nil:
			t = fields.of(t)[step.Name]
		default:
			return ""
		}
	}
	if t, _ = schemaType(t); t.Kind() != reflect.Struct {
		return ""
	}
	name := steps[len(steps)-1].Name
	if fields.of(t)[name] != nil {
		return ""
	}
	return spell.Nearest(name, slices.Sorted(maps.Keys(fields.of(t))))
}

// CorrectKeys returns a CRD with the known key instead of each unknown key that has one. If no
// key has one, it returns raw itself.
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

// addKeys adds the unknown keys and the causes that would follow once the keys are corrected.
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

// original returns the path of a field of the corrected CRD in the CRD itself.
func (r *Report) original(field string) string {
	steps, err := engine.ParsePath(field)
	if err != nil {
		return field
	}
	for _, key := range r.Keys { // a key precedes those below it
		last := len(key.steps) - 1
		if key.Known != "" && len(steps) > last && steps[last].Name == key.Known && slices.Equal(steps[:last], key.steps[:last]) {
			steps[last].Name = key.steps[last].Name
		}
	}
	return engine.FormatPath(steps)
}

// keyLints returns a lint for each key that servers drop.
func keyLints(keys []UnknownKey, cfg Config) (list []Lint) {
	if slices.Contains(cfg.WithoutLints, droppedKey) || cfg.VerdictOnly {
		return nil
	}
	for _, key := range keys {
		if !key.Dropped {
			continue
		}
		what := "unknown key " + key.steps[len(key.steps)-1].Name
		if near := cmp.Or(key.Known, NearestKey(key.Path)); near != "" {
			what += ", did you mean " + near + "?"
		} else {
			what += ":"
		}
		list = append(list, Lint{Name: droppedKey, Field: key.Path, KnownKey: key.Known, Message: what + " servers drop it without an error, because strict decoding does not reach schemas below items and additionalProperties"})
	}
	return list
}
