package engine_test

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/newest"
	"github.com/celadon-cel/celadon/types"
)

// A ruleCase is one call of a rule validator, which is made to Celadon's and to upstream's.
type ruleCase struct {
	name, schema string
	// obj and old are YAML. An empty old is a create.
	obj, old string
	root     bool // the schema is the root of a resource
	strict   bool // no ratcheting
	perCall  int64
	budget   int64
	want     []string // errors, sorted
	warnings []string
	stopped  bool
	broken   bool
}

type answer struct {
	Errors    []string
	Warnings  []string
	Remaining int64
}

func runRuleCases(t *testing.T, cases []ruleCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func (c ruleCase) run(t *testing.T) {
	t.Helper()
	if c.perCall == 0 {
		c.perCall = celconfig.PerCallLimit
	}
	if c.budget == 0 {
		c.budget = celconfig.RuntimeCELCostBudget
	}
	s := structural(t, c.schema)
	obj, old := value(t, c.obj), any(nil)
	if c.old != "" {
		old = value(t, c.old)
	}
	got := c.ours(t, s, obj, old)
	if newest.Linked {
		c.compare(t, s, obj, old, got)
	}
	if !slices.Equal(got.Errors, c.want) {
		t.Errorf("errors:\ngot  %q\nwant %q", got.Errors, c.want)
	}
	if !slices.Equal(got.Warnings, c.warnings) {
		t.Errorf("warnings:\ngot  %q\nwant %q", got.Warnings, c.warnings)
	}
	if stopped := got.Remaining < 0; stopped != c.stopped {
		t.Errorf("stopped %t, want %t", stopped, c.stopped)
	}
}

func (c ruleCase) compare(t *testing.T, s *schema.Structural, obj, old any, got answer) {
	t.Helper()
	want := c.upstream(s, obj, old)
	for range 100 { // upstream iterates over Go maps in any order
		if reflect.DeepEqual(got, want) {
			break
		}
		want = c.upstream(s, obj, old)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("unlike upstream:\ngot  %s\nwant %s", got, want)
	}
}

func (c ruleCase) ours(t *testing.T, s *schema.Structural, obj, old any) answer {
	t.Helper()
	rules, err := engine.CompileRules(s, engine.Config{
		Subtree: !c.root, NoRatcheting: c.strict, Limits: cost.Limits{PerCall: c.perCall}, KubeVersion: types.Version{Minor: newest.Minor}.String(),
	})
	if rules == nil || (err != nil) != c.broken {
		t.Fatalf("compile: %v, want an error %t", err, c.broken)
	}
	w := &recorder{}
	errs, remaining := rules.Validate(w.context(), field.NewPath("root"), obj, old, c.budget)
	return newAnswer(errs, w, remaining)
}

func (c ruleCase) upstream(s *schema.Structural, obj, old any) answer {
	v := upstreamcel.NewValidator(s, c.root, uint64(c.perCall))
	var options []upstreamcel.Option
	if !c.strict && old != nil {
		options = append(options, upstreamcel.WithRatcheting(common.NewCorrelatedObject(obj, old, &model.Structural{Structural: s})))
	}
	w := &recorder{}
	if v == nil {
		return newAnswer(nil, w, c.budget)
	}
	errs, remaining := v.Validate(w.context(), field.NewPath("root"), s, obj, old, c.budget, options...)
	return newAnswer(errs, w, remaining)
}

func newAnswer(errs field.ErrorList, w *recorder, remaining int64) answer {
	a := answer{Warnings: w.texts, Remaining: remaining}
	for _, err := range errs {
		a.Errors = append(a.Errors, normal(err.Error()))
	}
	slices.Sort(a.Errors) // upstream iterates over maps in any order
	slices.Sort(a.Warnings)
	return a
}

func (a answer) String() string {
	return fmt.Sprintf("remaining %d\n\t%s\nwarnings\n\t%s", a.Remaining, strings.Join(a.Errors, "\n\t"), strings.Join(a.Warnings, "\n\t"))
}

var clockName = regexp.MustCompile(`selfType\d+`)

// Upstream's type name contains a timestamp.
func normal(text string) string { return clockName.ReplaceAllString(text, "selfType") }

type recorder struct{ texts []string }

func (r *recorder) AddWarning(_, text string) { r.texts = append(r.texts, normal(text)) }

func (r *recorder) context() context.Context {
	return warning.WithWarningRecorder(context.Background(), r)
}

func structural(t testing.TB, text string) *schema.Structural {
	t.Helper()
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(text), props); err != nil {
		t.Fatalf("schema: %v\n%s", err, text)
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, internal, nil); err != nil {
		t.Fatalf("schema: %v\n%s", err, text)
	}
	s, err := schema.NewStructural(internal)
	if err != nil {
		t.Fatalf("schema: %v\n%s", err, text)
	}
	return s
}

func value(t testing.TB, text string) any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("value: %v\n%s", err, text)
	}
	var v any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &v); err != nil {
		t.Fatalf("value: %v\n%s", err, text)
	}
	return v
}
