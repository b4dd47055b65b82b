package schema

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/celadon-cel/celadon/engine/internal/metadata"
	"github.com/celadon-cel/celadon/types"
)

type subject struct {
	ours       *Schema
	written    *apiextensionsv1.JSONSchemaProps
	internal   *apiextensions.JSONSchemaProps
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	status     validation.SchemaValidator // nil without a status property
	compared   *int
}

func newSubject(props *apiextensionsv1.JSONSchemaProps) (*subject, error) {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props.DeepCopy(), internal, nil); err != nil {
		return nil, err
	}
	s, err := structuralschema.NewStructural(internal)
	if err != nil {
		return nil, err
	}
	s = s.DeepCopy()
	_ = defaulting.PruneDefaults(s) // fails for roots that are not objects, equally for both
	formats := environment.DefaultCompatibilityVersion()
	ours, err := Compile(props, s, types.Newest)
	if err != nil {
		return nil, err
	}
	sub := &subject{ours: ours, written: props, internal: internal, structural: s, compared: new(int)}
	if sub.validator, _, err = validation.NewSchemaValidatorForVersion(internal, formats); err != nil {
		return nil, err
	}
	if status, ok := internal.Properties["status"]; ok {
		sub.status, _, err = validation.NewSchemaValidatorForVersion(&status, formats)
	}
	return sub, err
}

func parseSubject(t testing.TB, schema string) *subject {
	t.Helper()
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := json.Unmarshal([]byte(schema), props); err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	s, err := newSubject(props)
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return s
}

func parse(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func lines(errs field.ErrorList) []string {
	var out []string
	for _, err := range errs {
		out = append(out, fmt.Sprintf("%s | %s | %s | %#v | %s", err.Type, err.Field, err.Error(), err.BadValue, err.Origin))
	}
	slices.Sort(out)
	return out
}

func (s *subject) diff(what string, want, got any) string {
	*s.compared++
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("%s (-server +ours):\n%s", what, cmp.Diff(want, got))
}

// Of several errors with the same text, the server keeps the first in the order of a map, so want is called
// repeatedly.
func (s *subject) errors(what string, want func() field.ErrorList, got field.ErrorList) (d string) {
	for range 50 {
		if d = s.diff(what, lines(want()), lines(got)); d == "" {
			return ""
		}
		*s.compared--
	}
	return d
}

func (s *subject) value(value, old any) string {
	before := fmt.Sprintf("%#v", value)
	d := s.errors("create", func() field.ErrorList {
		return validation.ValidateCustomResource(nil, value, s.validator)
	}, s.ours.Validate(nil, value))
	d += s.errors("update", func() field.ErrorList {
		return validation.ValidateCustomResourceUpdate(nil, value, old, s.validator, validation.WithRatcheting(s.correlated(value, old)))
	}, s.ours.ValidateUpdate(nil, value, old))
	if obj, ok := value.(map[string]any); ok {
		d += s.statusUpdate(obj, old) + s.object(obj)
	}
	return d + s.diff("value left alone", before, fmt.Sprintf("%#v", value))
}

func (s *subject) correlated(value, old any) *common.CorrelatedObject {
	return common.NewCorrelatedObject(value, old, &model.Structural{Structural: s.structural})
}

func (s *subject) statusUpdate(obj map[string]any, old any) string {
	value, ok := obj["status"]
	if !ok || s.status == nil {
		return ""
	}
	oldObj, _ := old.(map[string]any)
	path := field.NewPath("status")
	return s.errors("status update", func() field.ErrorList {
		c := s.correlated(obj, old).Key("status")
		return validation.ValidateCustomResourceUpdate(path, value, oldObj["status"], s.status, validation.WithRatcheting(c))
	}, s.ours.Property("status").ValidateUpdate(path, value, oldObj["status"]))
}

func (s *subject) object(obj map[string]any) string {
	want := lines(listtype.ValidateListSetsAndMaps(nil, s.structural, obj))
	d := s.diff("list types", want, lines(s.ours.ListTypes(nil, obj)))
	for _, what := range []Preparation{{Prune: true}, {Default: true}, {Prune: true, Track: true, Default: true}} {
		wanted, unknown := s.prepare(obj, what)
		got, ours := s.ours.prepare(obj, what)
		d += s.diff(fmt.Sprintf("%+v", what), wanted, got) + s.diff("unknown fields", unknown, ours)
		d += s.sharing(obj, got)
	}
	return d + s.settled(obj) + s.embedded(obj)
}

// The server's own code must not change an object that it prepared before, not even if a root field was removed and
// then defaulted.
func (s *subject) settled(obj map[string]any) (d string) {
	if !s.ours.Settled() {
		return ""
	}
	all := Preparation{Prune: true, Default: true}
	once, _ := s.prepare(obj, all)
	twice, _ := s.prepare(once, all)
	d = s.diff("prepared twice", once, twice)
	for _, standard := range s.ours.root.defaults {
		lost := maps.Clone(once)
		delete(lost, standard.name)
		want, _ := s.prepare(lost, all)
		lost = s.ours.FillRoot(lost)
		d += s.diff("root filled without "+standard.name, want, lost)
	}
	return d
}

func (s *subject) prepare(obj map[string]any, what Preparation) (map[string]any, []string) {
	obj = runtime.DeepCopyJSON(obj)
	var unknown []string
	if what.Prune {
		unknown = pruning.PruneWithOptions(obj, s.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: what.Track})
		defaulting.PruneNonNullableNullsWithoutDefaults(obj, s.structural)
	}
	if what.Default {
		defaulting.Default(obj, s.structural)
	}
	return obj, unknown
}

func (s *subject) sharing(obj, got map[string]any) string {
	same := reflect.ValueOf(obj).Pointer() == reflect.ValueOf(got).Pointer()
	return s.diff("is the object itself", reflect.DeepEqual(obj, got), same)
}

func (s *subject) embedded(obj map[string]any) string {
	if !s.ours.Embedded() {
		return ""
	}
	d := ""
	for _, how := range []metadata.Decoding{{Track: true}, {Repair: true, Track: true}} {
		want := runtime.DeepCopyJSON(obj)
		wantErr, wantUnknown := objectmeta.CoerceWithOptions(nil, want, s.structural, false, objectmeta.CoerceOptions{DropInvalidFields: how.Repair, ReturnUnknownFieldPaths: how.Track})
		got, unknown, err := s.ours.coerceEmbedded(obj, how)
		d += s.diff("coercion fails", wantErr != nil, err != nil)
		if wantErr != nil { // the order of a map decides which of several errors
			continue
		}
		d += s.diff("coerced", want, got) + s.diff("unknown metadata", len(wantUnknown), len(unknown))
		if !slices.Equal(wantUnknown, unknown) {
			d += s.diff("unknown metadata", wantUnknown, unknown)
		}
		want2 := lines(objectmeta.Validate(context.Background(), nil, want, s.structural, false))
		d += s.diff("embedded metadata", want2, lines(s.ours.ValidateEmbedded(nil, got)))
	}
	return d
}

func check(t testing.TB, s *subject, schema string, value, old any) {
	t.Helper()
	d := s.value(value, old)
	if d == "" {
		return
	}
	t.Errorf("schema %s\nvalue %s\nold %s\n%s", strings.TrimSpace(schema), encode(value), encode(old), d)
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%#v", v)
	}
	return string(b)
}
