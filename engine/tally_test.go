package engine_test

import (
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
)

func TestTrace(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, widgets)
	req := engine.Request{Object: object(t, widget(`{size: 7, labels: {a: 11, b: 1, c: 12}}`))}
	plain, err := e.Validate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if plain.Rules != nil {
		t.Errorf("not requested: %+v", plain.Rules)
	}
	req.Trace = true
	res, err := e.Validate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	type run struct {
		path         string
		index        int
		runs, failed int
	}
	want := []run{{"", 0, 1, 0}, {"spec", 1, 1, 0}, {"spec.labels[*]", 0, 3, 2}, {"spec.size", 0, 1, 1}}
	var got []run
	var total int64
	for _, r := range res.Rules {
		got = append(got, run{r.Path, r.Index, r.Runs, r.Failed})
		total += r.Cost
		if r.Version != "v1" || r.Rule == "" || r.Cost <= 0 {
			t.Errorf("got %+v", r)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if total != res.Cost || res.Cost != plain.Cost {
		t.Errorf("the rules' costs are %d, the object's %d, without trace %d", total, res.Cost, plain.Cost)
	}
	req.OldObject = req.Object
	if res, err = e.Validate(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for _, r := range res.Rules {
		if r.Path == "spec" && r.Index == 0 && r.Runs != 1 {
			t.Errorf("the transition rule: %+v", r)
		}
		if r.Path == "spec.size" && r.Failed != 1 {
			t.Errorf("the ratcheted rule: %+v", r)
		}
	}
}

func TestCauseRules(t *testing.T) {
	t.Parallel()
	res, err := mustCompile(t, widgets).Validate(t.Context(), engine.Request{Object: object(t, widget(`{size: 7, labels: {a: 11}, tags: [x, x]}`))})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]*engine.RuleRef{
		"spec.size":      {Version: "v1", Path: "spec.size", Rule: "self != 7"},
		"spec.labels[a]": {Version: "v1", Path: "spec.labels[*]", Rule: "self < 10"},
		"spec.tags[1]":   nil,
	}
	if len(res.Causes) != len(want) {
		t.Fatalf("got %+v", res.Causes)
	}
	for _, c := range res.Causes {
		if !reflect.DeepEqual(c.Rule, want[c.Field]) {
			t.Errorf("%s: got %+v, want %+v", c.Field, c.Rule, want[c.Field])
		}
	}
	if c := res.Causes[1]; c.Field != "spec.size" || c.Value != int64(7) || c.Detail != "never seven" {
		t.Errorf("got %+v", c)
	}
	if c := res.Causes[0]; c.Value != nil && c.Value != "" {
		t.Errorf("forbidden shows a value: %+v", c)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	obj := object(t, widget(`{size: 1, labels: {a: 1, b: 2, c: 3}}`))
	const stopped = "validation failed due to running out of cost budget, no further validation rules will be run"
	tests := []struct {
		limits  cost.Limits
		allowed bool
		detail  string
	}{
		{cost.Limits{}, true, ""},
		{cost.Limits{PerObject: 5}, false, stopped},
		{cost.Limits{PerCall: 1}, false, "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.metadata.name != 'bad'"},
		{cost.Limits{EstimatedPerRule: 1, EstimatedPerCRD: 1}, true, ""},
	}
	for _, tt := range tests {
		e, err := engine.Compile(crd(t, widgets), engine.Config{Limits: tt.limits})
		if err != nil {
			t.Fatal(err)
		}
		res, err := e.Validate(t.Context(), engine.Request{Object: obj})
		if err != nil || res.Allowed != tt.allowed {
			t.Fatalf("%+v: got %+v, %v", tt.limits, res, err)
		}
		if !tt.allowed && (len(res.Causes) != 1 || res.Causes[0].Detail != tt.detail) {
			t.Errorf("%+v: got %+v, want %q", tt.limits, res.Causes, tt.detail)
		}
	}
}

func TestNoRatcheting(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cfg    engine.Config
		strict bool
	}{
		{engine.Config{}, false},
		{engine.Config{NoRatcheting: true}, true},
		{engine.Config{KubeVersion: "1.29"}, true}, // the gate is off by default
		{engine.Config{KubeVersion: "1.30"}, false},
	} {
		e, err := engine.Compile(crd(t, widgets), tt.cfg)
		if err != nil {
			t.Fatal(err)
		}
		obj := object(t, widget(`{size: 7, tags: [too long]}`))
		res, err := e.Validate(t.Context(), engine.Request{Object: obj, OldObject: obj})
		if err != nil || res.Allowed == tt.strict {
			t.Errorf("%+v: got %+v, %v", tt.cfg, res, err)
		}
	}
}

func TestEngineFacts(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, widgets)
	if got, want := e.Info().GroupKind, (schema.GroupKind{Group: "example.org", Kind: "Widget"}); got != want {
		t.Errorf("got %v", got)
	}
	if got, want := e.Info().Versions, []string{"v1", "v1beta1", "v1alpha1"}; !reflect.DeepEqual(got, want) || !e.Info().Namespaced {
		t.Errorf("got %v, namespaced %t", got, e.Info().Namespaced)
	}
	tests := []struct{ obj, want, failure string }{
		{`{apiVersion: example.org/v1, kind: Widget}`, "v1", ""},
		{`{apiVersion: example.org/v1alpha1, kind: Widget}`, "v1alpha1", ""},
		{`{apiVersion: example.org/v2, kind: Widget}`, "", "object is example.org/v2 Widget: the CRD has Widget.example.org in v1, v1beta1, v1alpha1"},
		{`{apiVersion: other.org/v1, kind: Widget}`, "", "object is other.org/v1 Widget: the CRD has Widget.example.org in v1, v1beta1, v1alpha1"},
		{`{apiVersion: example.org/v1, kind: Gadget}`, "", "object is example.org/v1 Gadget: the CRD has Widget.example.org in v1, v1beta1, v1alpha1"},
		{`{}`, "", "object is <nil> <nil>: the CRD has Widget.example.org in v1, v1beta1, v1alpha1"},
	}
	for _, tt := range tests {
		got, err := e.VersionOf(object(t, tt.obj))
		if got != tt.want || (err == nil) != (tt.failure == "") || err != nil && err.Error() != tt.failure {
			t.Errorf("%s: got %q, %v, want %q, %q", tt.obj, got, err, tt.want, tt.failure)
		}
	}
}

func TestPrepare(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, widgets)
	in := object(t, widget(`{size: 1, x: 2, note: null, color: null}`))
	got, err := e.Prepare(engine.Request{Object: in})
	if err != nil || !reflect.DeepEqual(got.Self["spec"], value(t, `{size: 1, note: null, color: blue}`)) {
		t.Errorf("got %+v, %v", got, err)
	}
	if !reflect.DeepEqual(in, object(t, widget(`{size: 1, x: 2, note: null, color: null}`))) {
		t.Errorf("the object was modified: %v", in)
	}
	if _, err := e.Prepare(engine.Request{Object: object(t, `{apiVersion: example.org/v7, kind: Widget}`)}); err == nil {
		t.Error("no error for a version that is not there")
	}
	if _, err := e.Prepare(engine.Request{Object: map[string]any{"a": 1}}); err == nil {
		t.Error("no error for an int")
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	const crdText = `{metadata: {name: ks.g}, spec: {group: g, names: {kind: K, plural: ks}, scope: Cluster, CONVERSION versions: [
	  {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: string}, d: {type: string, default: x}}}}},
	  {name: v2, served: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: "self != 'no'"}]}, b: {type: string}}, x-kubernetes-validations: [{rule: "!has(oldSelf.a) || has(self.a)"}]}}}]}}`
	none := mustCompile(t, strings.ReplaceAll(crdText, "CONVERSION ", ""))
	webhook := mustCompile(t, strings.ReplaceAll(crdText, "CONVERSION ", "conversion: {strategy: Webhook},"))
	obj := object(t, `{apiVersion: g/v2, kind: K, metadata: {name: k}, a: "yes", b: z}`)
	res, err := none.Validate(t.Context(), engine.Request{Object: obj})
	if err != nil || !res.Allowed || res.Object["b"] != nil || res.Object["apiVersion"] != "g/v2" {
		t.Errorf("conversion None: got %+v, %v", res, err)
	}
	res, err = webhook.Validate(t.Context(), engine.Request{Object: obj})
	if err != nil || !res.Allowed || res.Object["b"] != "z" {
		t.Errorf("conversion Webhook: got %+v, %v", res, err)
	}
	old := object(t, `{apiVersion: g/v1, kind: K, metadata: {name: k}, a: "no"}`)
	req := engine.Request{Object: object(t, `{apiVersion: g/v2, kind: K, metadata: {name: k}}`), OldObject: old}
	res, err = none.Validate(t.Context(), req)
	if err != nil || len(res.Causes) != 1 {
		t.Errorf("old in another version: got %+v, %v", res, err)
	}
	res, err = webhook.Validate(t.Context(), req)
	if _, notChecked := err.(*engine.NotCheckedError); res != nil || !notChecked {
		t.Errorf("old in another version, by webhook: got %+v, %v", res, err)
	}
	res, err = none.Validate(t.Context(), engine.Request{Object: object(t, `{apiVersion: g/v2, kind: K, metadata: {name: k}, a: "no"}`), OldObject: old})
	if err != nil || !res.Allowed || len(res.Warnings) != 1 {
		t.Errorf("ratcheted across versions: got %+v, %v", res, err)
	}
}

// Under allOf, several rules can have the same path and index.
func TestTraceOrder(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, strings.ReplaceAll(widgets, "color: {type: string, default: blue}",
		`color: {type: string, default: blue, allOf: [{x-kubernetes-validations: [{rule: "self != 'a'"}]}, {x-kubernetes-validations: [{rule: "self != 'b'"}]}, {x-kubernetes-validations: [{rule: "self != 'c'"}]}]}`))
	var first []engine.RuleResult
	for range 50 {
		res, err := e.Validate(t.Context(), engine.Request{Object: object(t, widget(`{size: 1}`)), Trace: true})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = res.Rules
		}
		if !reflect.DeepEqual(res.Rules, first) {
			t.Fatalf("got %+v\nthen %+v", first, res.Rules)
		}
	}
	if len(first) < 6 {
		t.Errorf("got %+v", first)
	}
}

// Before 1.30, rules with oldSelf never run without an old value.
func TestOptionalOldSelfOld(t *testing.T) {
	t.Parallel()
	definition := crd(t, widgets)
	definition.Spec.Versions[0].Schema.OpenAPIV3Schema.XValidations = apiextensionsv1.ValidationRules{{Rule: "oldSelf.hasValue()", OptionalOldSelf: new(bool)}}
	*definition.Spec.Versions[0].Schema.OpenAPIV3Schema.XValidations[0].OptionalOldSelf = true
	for version, allowed := range map[string]bool{"1.29": true, "1.30": false, "": false} {
		e, err := engine.Compile(definition, engine.Config{KubeVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		res, err := e.Validate(t.Context(), engine.Request{Object: object(t, widget(`{size: 1}`))})
		if err != nil || res.Allowed != allowed {
			t.Errorf("%q: got %+v, %v", version, res, err)
		}
	}
}
