package trace_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/trace"
)

const whyCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, properties: {count: {type: integer}}}
          spec:
            type: object
            properties:
              count: {type: integer}
              m: {type: integer}
              s: {type: string}
              d: {type: string, format: duration}
              list: {type: array, items: {type: integer}}
              nested:
                type: array
                items: {type: object, properties: {ports: {type: array, items: {type: integer}}}}
              keyed:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [k]
                items:
                  type: object
                  required: [k]
                  properties: {k: {type: string}, v: {type: integer}}
                  %s
              labels:
                type: object
                additionalProperties:
                  type: string
                  %s
            %s
`

func TestWhy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		at, rule, obj, old string
		want               []string
	}{
		{"spec", "self.count <= self.m", "{count: 20, m: 10}", "", []string{"self.count=20", "self.m=10"}},
		{"spec", "self.count <= self.m && self.count > 100", "{count: 20, m: 30}", "", []string{"self.count=20"}},
		{"spec", "self.count > 30 || self.m > 30", "{count: 20, m: 10}", "", []string{"self.count=20", "self.m=10"}},
		{"spec", "!(self.count > 3)", "{count: 20}", "", []string{"self.count=20"}},
		{"spec", "self.count > 3 ? self.m == 3 : self.m == 4", "{count: 20, m: 7}", "", []string{"self.count=20", "self.m=7"}},
		{"spec", "has(self.count)", "{m: 7}", "", []string{"has(self.count)=false"}},
		{"spec", "self.count == 3", "{m: 7}", "", []string{"self=map[m:7]"}},
		{"spec", "self.list.all(x, x < 3)", "{list: [1, 2, 3, 4]}", "", []string{"x (self.list[2])=3"}},
		{"spec", "self.list.exists(x, x > 30)", "{list: [1, 2]}", "", []string{"self.list=[1 2]"}},
		{"spec", "!self.list.exists(x, x == 1)", "{list: [7, 1]}", "", []string{"x (self.list[1])=1"}},
		{"spec", "self.list.exists_one(x, x == 1)", "{list: [1, 1]}", "", []string{"self.list=[1 1]"}},
		{"spec", "self.list.map(x, x * 2).sum() < 3", "{list: [1, 2]}", "", []string{"self.list.map(x, x * 2).sum()=6", "self.list=[1 2]"}},
		{"spec", "self.nested.all(p, p.ports.all(x, x > 0))", "{nested: [{ports: [1]}, {ports: [5, 0]}]}", "",
			[]string{"p (self.nested[1])=map[ports:[5 0]]", "x (p.ports[1])=0"}},
		{"spec", "self.list.all(i, v, v > i)", "{list: [5, 1]}", "", []string{"i=1", "v (self.list[1])=1"}},
		{"keyed", "self.v > 0", "{keyed: [{k: a, v: 1}, {k: b}]}", "", []string{"self=map[k:b]"}},
		{"spec", "self.keyed.all(x, x.v > 0)", "{keyed: [{k: a, v: 1}, {k: b}, {k: c, v: 3}]}", "", []string{"x (self.keyed[1])=map[k:b]"}},
		{"spec", "self.nested.all(p, self.keyed.exists(x, x.v == p.ports[0]))", "{nested: [{ports: [1]}, {ports: []}], keyed: [{k: a, v: 1}, {k: b, v: 2}]}", "",
			[]string{"p (self.nested[1])=map[ports:[]]", "x (self.keyed[0])=map[k:a v:1]", "x.v=1", "p.ports=[]"}},
		{"spec", "self.nested.map(p, p.ports[0]).sum() > 0", "{nested: [{ports: [1]}, {ports: []}, {ports: [2]}]}", "",
			[]string{"p (self.nested[1])=map[ports:[]]", "p.ports=[]"}},
		{"spec", "has(self.nested[0].ports)", "{nested: []}", "", []string{"self.nested=[]"}},
		{"spec", "self.list[5] == 1 || self.m == 2", "{list: [1], m: 3}", "", []string{"self.list=[1]"}},
		{"spec", "self.list[self.m] == 1", "{list: [1], m: 3}", "", []string{"self.list=[1]", "self.m=3"}},
		{"spec", "self.m == 3 && (self.count > 3 || self.list[1] == 1) ", "{list: [1], m: 3, count: 1}", "", []string{"self.list=[1]"}},
		{"spec", "self == oldSelf", "{list: [1, 2]}", "{list: [1, 3]}", []string{"self.list[1]=2", "oldSelf.list[1]=3"}},
		{"spec", "self.?s.orValue('x') == 'y'", "{m: 1}", "", []string{"self.?s.orValue('x')=x", "self.?s=<nil>"}},
		{"spec", "self.labels.all(k, k.startsWith('x'))", "{labels: {xa: a, b: b}}", "", []string{"k=b"}},
		{"spec", "duration(self.d) < duration('1h')", "{d: 2h}", "", []string{"duration(self.d)=7200s", "self.d=7200s"}},
		{"spec", "self.d < duration('1h')", "{d: 2h}", "", []string{"self.d=7200s"}},
		{"spec", "self.count >= oldSelf.count", "{count: 1}", "{count: 2}", []string{"self.count=1", "oldSelf.count=2"}},
		{"keyed", "self.v >= oldSelf.v", "{keyed: [{k: a, v: 9}, {k: b, v: 1}]}", "{keyed: [{k: b, v: 2}]}", []string{"self.v=1", "oldSelf.v=2"}},
		{"labels", "self != 'bad'", "{labels: {a.b: ok, 'c/d': bad}}", "", []string{"self=bad"}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, whyOf(t, test.at, test.rule, test.obj, test.old)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestExplainerIsShared(t *testing.T) {
	t.Parallel()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	rules := "x-kubernetes-validations: [{rule: 'self.list.all(x, x < 3)'}, {rule: self.count > 3}]"
	if err := yaml.Unmarshal(fmt.Appendf(nil, whyCRD, "", "", rules), crd); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	x := trace.NewExplainer(e)
	var group sync.WaitGroup
	for n := range 16 {
		group.Go(func() {
			req := engine.Request{Object: whyObject(t, fmt.Sprintf("{list: [1, %d], count: -%d}", n+3, n))}
			res, err := e.Validate(t.Context(), req)
			if err != nil || len(res.Causes) != 2 {
				t.Errorf("%+v %v", res, err)
				return
			}
			whys, err := x.Why(t.Context(), res.Prepared, res.Causes)
			if err != nil {
				t.Error(err)
			}
			got := fmt.Sprint(whys)
			element, count := fmt.Sprintf("{x (self.list[1]) %d}", n+3), fmt.Sprintf("{self.count %d}", -n)
			if !strings.Contains(got, element) || !strings.Contains(got, count) {
				t.Errorf("%s, want %s and %s", got, element, count)
			}
		})
	}
	group.Wait()
}

func whyOf(t *testing.T, at, rule, obj, old string) []string {
	t.Helper()
	validation := fmt.Sprintf("x-kubernetes-validations: [{rule: %q}]", rule)
	places := map[string]string{"keyed": "", "labels": "", "spec": ""}
	places[at] = validation
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(fmt.Appendf(nil, whyCRD, places["keyed"], places["labels"], places["spec"]), crd); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	req := engine.Request{Object: whyObject(t, obj)}
	if old != "" {
		req.OldObject = whyObject(t, old)
	}
	res, err := e.Validate(context.Background(), req)
	if err != nil || res.Allowed {
		t.Fatalf("allowed: %v", err)
	}
	whys, err := trace.NewExplainer(e).Why(t.Context(), res.Prepared, res.Causes)
	if err != nil {
		t.Fatal(err)
	}
	if len(whys) != 1 || whys[0] == nil {
		t.Fatalf("no explanation of %+v", res.Causes)
	}
	var got []string
	for _, v := range whys[0] {
		got = append(got, fmt.Sprintf("%s=%v", v.Expr, v.Value))
	}
	return got
}

func whyObject(t *testing.T, spec string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte("{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, spec: " + spec + "}"))
	if err != nil {
		t.Fatal(err)
	}
	obj, err := engine.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return obj
}
