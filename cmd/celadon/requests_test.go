package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	plugins "github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/find"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/admission"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/ruletest"
)

type scene struct {
	Want, Operation, Subresource, User string
	Groups                             []string
	Object, Old                        map[string]any
}

type decision struct {
	Verdict, Status string
	Policies        []string
	Warnings        []string
}

func (d *decision) add(list []policyrequest.Decision) {
	for _, one := range list {
		d.Policies = append(d.Policies, fmt.Sprintf("%s %s %s %d %s %s", one.Policy, one.Binding, one.Params, one.Validation, one.Action, one.Message))
	}
}

func (d *decision) String() string {
	if len(d.Warnings) > 0 {
		return d.Verdict + "; " + strings.Join(d.Warnings, "; ")
	}
	return cmp.Or(d.Status, d.Verdict)
}

type stage struct {
	*testing.T
	policies *policies.Policies
	crd      *apiextensionsv1.CustomResourceDefinition
	engine   *engine.Engine
	crds     *verdict.CRDs
	server   policyrequest.Server
	builtins *policyrequest.Builtins
	set      *admission.Set
	crdText  []byte
	text     []byte // of the policies
}

func TestOneRequest(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	data, err := os.ReadFile("testdata/requests/scenes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var scenes []scene
	if err := yaml.Unmarshal(data, &scenes); err != nil {
		t.Fatal(err)
	}
	for i, sc := range scenes {
		t.Run(fmt.Sprintf("%d %s", i, sc.Want), func(t *testing.T) {
			s.T = t
			sc.Object, sc.Old = decoded(t, sc.Object), decoded(t, sc.Old)
			checked := s.check(&sc)
			if got := checked.String(); got != sc.Want && !(sc.Want != "valid" && strings.Contains(got, sc.Want)) {
				t.Errorf("check: %q\n%+v", got, checked)
			}
			s.compare("test", checked, s.test(&sc))
			review := s.find(&sc, checked)
			s.serve(&sc, checked, review)
			s.shell(&sc, checked)
		})
	}
}

func decoded(t *testing.T, object map[string]any) map[string]any {
	t.Helper()
	if object == nil {
		return nil
	}
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if object, err = engine.Decode(data); err != nil {
		t.Fatal(err)
	}
	return object
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{T: t}
	var err error
	if s.text, err = os.ReadFile("testdata/requests/policies.yaml"); err != nil {
		t.Fatal(err)
	}
	if s.crdText, err = os.ReadFile("testdata/requests/crd.yaml"); err != nil {
		t.Fatal(err)
	}
	s.crd = &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(s.crdText, s.crd); err != nil {
		t.Fatal(err)
	}
	if s.engine, err = engine.Compile(s.crd, engine.Config{}); err != nil {
		t.Fatal(err)
	}
	source := func(_ func(), yield func(input.Chunk) bool) { input.SplitText("crd.yaml", s.crdText, yield) }
	s.crds, err = verdict.Read(t.Context(), source, &resource.Filter{Named: []string{"crd.yaml"}}, verdict.Use{}, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	docs := slices.Collect(input.Text{File: "policies.yaml", Data: s.text}.Documents)
	s.policies, err = policies.FromDocuments(docs, []string{"policies.yaml"}, policy.Config{})
	if err != nil || len(s.policies.Problems) > 0 {
		t.Fatal(err, s.policies.Problems)
	}
	s.server = builtins.New(plugins.Plugins(true), func() ([]map[string]any, error) { return s.policies.Documents(), nil })
	s.builtins = &policyrequest.Builtins{Server: s.server}
	s.set = admission.NewSet(admission.Config{})
	if err := s.set.Put(s.crd); err != nil {
		t.Fatal(err)
	}
	s.set.SetPolicies(s.policies.Set)
	return s
}

func (s *stage) compare(command string, want, got *decision) {
	s.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		s.Errorf("%s (-check +%s):\n%s", command, command, diff)
	}
}

func (s *stage) check(sc *scene) *decision {
	s.Helper()
	olds := verdict.NewOlds()
	olds.Server = s.server
	each(s.T, sc.Old, func(doc *input.Document) { olds.Take(verdict.ReadOld(doc), s.crds, nil) })
	d := verdict.New(verdict.Config{
		Validation: "Strict", Subresource: sc.Subresource, Server: s.server, Olds: olds,
		Admission: &verdict.Admission{Policies: s.policies, User: policyrequest.User(sc.User, sc.Groups), Operation: sc.Operation},
	}, s.crds)
	out := &decision{}
	each(s.T, sc.Object, func(doc *input.Document) {
		r := d.Decide(s.Context(), doc)
		if out.Verdict = r.Verdict; r.Status != nil {
			out.Status = r.Status.Message
		}
		out.Warnings = append(out.Warnings, r.Warnings...)
		if out.Verdict != "undecided" {
			out.add(r.Policies)
		}
	})
	return out
}

func each(t *testing.T, object map[string]any, work func(*input.Document)) {
	t.Helper()
	if object == nil {
		return
	}
	data, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	for doc := range (input.Text{File: "object.yaml", Data: data}).Documents {
		work(doc)
	}
}

func (s *stage) test(sc *scene) *decision {
	s.Helper()
	one := map[string]any{"name": "a", "object": sc.Object, "expect": map[string]any{"policies": []any{}}}
	for key, value := range map[string]string{"operation": sc.Operation, "subresource": sc.Subresource} {
		if value != "" {
			one[key] = value
		}
	}
	if sc.Old != nil {
		one["old"] = sc.Old
	}
	if sc.User != "" {
		one["user"] = map[string]any{"name": sc.User, "groups": sc.Groups}
	}
	suite := map[string]any{
		"kind": ruletest.Kind, "apiVersion": ruletest.APIVersion, "name": "s", "policies": []any{"p"}, "tests": []any{one},
		"fieldValidation": "Strict",
	}
	var crds []*ruletest.CRD
	if strings.HasPrefix(sc.Object["apiVersion"].(string), "example.com/") {
		suite["crd"], crds = "crd.yaml", []*ruletest.CRD{{File: "crd.yaml", Definition: s.crd}}
	}
	data, err := yaml.Marshal(suite)
	if err != nil {
		s.Fatal(err)
	}
	given := &ruletest.Policies{Documents: s.policies.Documents(), Set: s.policies.Set, Validation: s.policies.Validation}
	report := ruletest.New(ruletest.Config{Server: s.server, Policies: func(*ruletest.Suite) (*ruletest.Policies, []error) { return given, nil }}).
		Run(s.Context(), ruletest.Parse("s.yaml", 1, data), crds, nil)
	if len(report.Cases) != 1 {
		s.Fatalf("%v", report.Errors)
	}
	c := report.Cases[0]
	if c.Outcome == ruletest.Error {
		s.Log("test: ", c.Message)
		return &decision{Verdict: "undecided"}
	}
	out := &decision{Verdict: c.Got.Verdict}
	if c.Got.Status != nil {
		out.Status = c.Got.Status.Message
	}
	out.Warnings = append(out.Warnings, c.Got.Warnings...)
	out.add(c.Got.Policies)
	return out
}

// find returns nil for a request that it cannot form, or that is rejected before policies.
func (s *stage) find(sc *scene, want *decision) *policyrequest.Review {
	s.Helper()
	if sc.Subresource != "" {
		return nil
	}
	crd, e, cfg := s.crd, s.engine, requests.Config{Set: s.policies.Set}
	kind := schema.FromAPIVersionAndKind(sc.Object["apiVersion"].(string), sc.Object["kind"].(string))
	if kind.Group != "example.com" {
		catalog, err := builtin.Newest()
		if err != nil {
			s.Fatal(err)
		}
		if cfg.Builtin, err = s.builtins.Kind(kind, engine.Config{}); cfg.Builtin == nil || err != nil {
			return nil
		}
		if crd, err = catalog.CRD(kind.GroupKind()); err != nil {
			s.Fatal(err)
		}
		if e, err = engine.Compile(crd, engine.Config{}); err != nil {
			s.Fatal(err)
		}
	}
	f, err := requests.New(s.Context(), crd, e, kind.Version, cfg)
	if err != nil {
		s.Fatal(err)
	}
	object, old := sc.Object, sc.Old
	operation := policyrequest.OperationOf(object, old)
	if sc.Operation == verdict.Delete {
		operation, object, old = policy.OperationDelete, nil, object
	}
	if old != nil && cfg.Builtin == nil {
		if old, err = e.Convert(s.Context(), old, kind.Version); err != nil {
			s.Fatal(err)
		}
	}
	r, err := f.Judge(s.Context(), operation, policyrequest.User(sc.User, sc.Groups), object, old)
	if err != nil {
		s.Fatal(err)
	}
	got := &decision{Verdict: "valid"}
	switch {
	case r == nil || r.Denied == nil && r.Undecided == "" && r.Evaluated == nil:
		if want.Verdict != "invalid" || len(want.Policies) > 0 {
			s.Errorf("find rejects the object, but check decides %s", want)
		}
		return nil
	case r.Denied != nil:
		got.Verdict, got.Status = "invalid", r.Denied.Message
	case r.Undecided != "":
		s.compare("find", want, &decision{Verdict: "undecided"})
		return r
	}
	got.evaluated(s, r.Request, r.Evaluated)
	s.compare("find", want, got)
	return r
}

// res can be nil.
func (d *decision) evaluated(s *stage, req policy.Request, res *policy.Result) {
	if res == nil {
		return
	}
	describer := policyrequest.Describer{Set: s.policies.Set, Validation: s.policies.Validation}
	list, err := describer.Decisions(context.Background(), req, res, nil)
	if err != nil {
		s.Error(err)
	}
	d.add(list)
	d.Warnings = append(d.Warnings, res.Warnings...)
}

func TestFindAndCheck(t *testing.T) {
	t.Parallel()
	const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}}}
          status: {type: object, properties: {phase: {type: string}}}
`
	for _, tt := range []struct{ resources, expression string }{
		{"widgets", "object.status.?phase.orValue('') != 'Busy' || object.spec == oldObject.spec"},
		{"widgets", "!has(object.status) || !has(oldObject.spec) || oldObject.spec.?size.orValue(0) < 3"},
		{"widgets", "oldObject.metadata.namespace != object.metadata.namespace || has(object.spec)"},
		{"widgets/status", "object.status.?phase.orValue('') != 'Done' || oldObject.status.?phase.orValue('') == 'Busy'"},
		{"widgets/status", "has(oldObject.status) || !has(oldObject.spec) || !has(object.status)"},
	} {
		dir := tree(t, map[string]string{"crd.yaml": crd, "p.yaml": fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: [UPDATE], resources: [%s]}]}
  validations: [{expression: %q, message: as found}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: p}
spec: {policyName: p, validationActions: [Deny]}
`, tt.resources, tt.expression)})
		out, _ := run(t, "find", "--crd", dir+"/crd.yaml", "--policy", dir+"/p.yaml", "-o", "json")
		var report find.Report
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatal(err, out)
		}
		found := report.CRDs[0].Versions[0].Policies[0].Denied
		if found.Old == nil {
			t.Errorf("%s: nothing found", tt.expression)
			continue
		}
		files := map[string]string{}
		for name, obj := range map[string]map[string]any{"old.yaml": found.Old, "new.yaml": found.Object} {
			data, err := yaml.Marshal(obj)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(data)
		}
		objects := tree(t, files)
		args := []string{"check", "--crd", dir + "/crd.yaml", "--policy", dir + "/p.yaml", "--old", objects + "/old.yaml", objects + "/new.yaml"}
		if found.Subresource != "" {
			args = append(args, "--subresource", found.Subresource)
		}
		if got, code := run(t, args...); code != command.Findings || !strings.Contains(got, "as found") {
			t.Errorf("%s: got %d: %s\n%s", tt.expression, code, got, out)
		}
	}
}
