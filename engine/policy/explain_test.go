package policy

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		expression string
		want       string // texts and values
	}{
		{"object.spec.size > 3", "object.spec.size=2"},
		{"has(object.spec.missing) && object.spec.missing == 1", "has(object.spec.missing)=false"},
		{"object.spec.missing == 1", "object.spec.missing(no such key: missing)"},
		{"object.spec['size'] + object.spec.size > 9", `object.spec['size'] + object.spec.size=4 object.spec['size']=2 object.spec.size=2`},
		{"object.metadata.?labels.a.orValue('x') == 'y'", "object.metadata.?labels.a=<nil>"},
		{"['a', 'b'].exists(object, object == 'c') || request.name == 'x'", "request.name=w"},
		{"object.spec.list.exists(i, i > object.spec.size)", "object.spec.list=[1 2] object.spec.size=2"},
		{"variables.double > 9 || {'a': object.spec.size}.b == 1", "variables.double=4 object.spec.size=2 {'a': object.spec.size}.b(no such key: b)"},
		{"object.spec.sise == 1", "object.spec.sise(no such key: sise; or did you mean size?)"},
		{"object.spec.size < '5'", "object.spec.size=2 object.spec.size < '5'(no such overload; < does not take int and string)"},
		{"object.spec.size.startsWith('a') && true", "object.spec.size=2 object.spec.size.startsWith('a')(no such overload; startsWith does not take int and string)"},
		{"oldObject.spec.size == 1", "oldObject.spec.size(no such key: spec; oldObject is null: compare it with null first)"},
		{"variables.absent == 1", "variables.absent(composited variable \"absent\" fails to evaluate: no such key: lost) object.spec.lost(no such key: lost; or did you mean list?)"},
		{"variables\n.absent == 1", "variables .absent(composited variable \"absent\" fails to evaluate: no such key: lost) object.spec.lost(no such key: lost; or did you mean list?)"},
		{"object.spec.list.all(i, i < object.spec.size)", "i (object.spec.list[1])=2 object.spec.size=2"},
		{"object.spec.list.all(i, v, i < 1 && v > 0)", "v (object.spec.list[1])=2 i=1"},
		{"object.spec.list.all(a, object.spec.list.exists(b, b == a + 1))", "a (object.spec.list[1])=2 object.spec.list=[1 2]"},
		{"!object.spec.list.exists(i, i == 2)", "i (object.spec.list[1])=2"},
		{"object.spec.list.all(i, i.name == 'x')", "i (object.spec.list[0])=1 i.name(no such key: name)"},
		{"object.spec.list.all(i, i.name == 'x' && i < 2)", "i (object.spec.list[1])=2"},
		{"object.spec.all(k, k != 'size')", "k=size"},
		{"object.spec.all(k, v, k != 'size' || v == 3)", "k=size v=2"},
		{"object.spec.list.filter(i, i > 1).size() == 2", "object.spec.list.filter(i, i > 1).size()=1 object.spec.list=[1 2]"},
		{"object.spec.list.map(i, string(i)).all(t, t != '2')", "object.spec.list=[1 2]"},
		{"object.spec.?list.orValue([]).filter(i, i > 1).all(i, i < 2)", "i (object.spec.?list.orValue([]).filter(i, i > 1)[0])=2"},
		{"(has(object.spec.list) ? object.spec.list : []).all(i, i < 2)", "i ((has(object.spec.list) ? object.spec.list : [])[1])=2"},
		{"(object.spec.list + [7]).all(i, i < 5)", "i ((object.spec.list + [7])[2])=7"},
		{"object.spec.list.exists(object, object > 5)", "object.spec.list=[1 2]"},
		{"has(object.spec.size) && object.spec.size == 3", "object.spec.size=2"},
		{"object.spec.size > 1 ? object.spec.size == 3 : request.name == 'x'", "object.spec.size=2"},
		{"object.text == 'x'", "object.text(too large to show)"},
	} {
		set := mustCompile(t, Config{}, simplePolicy(tt.expression, "  variables: [{name: double, expression: object.spec.size * 2}, {name: absent, expression: object.spec.lost}]"), testBinding)
		req := widgetRequest(t, OperationCreate, fmt.Sprintf(`{metadata: {name: w}, spec: {size: 2, list: [1, 2]}, text: %q}`, strings.Repeat("a", maxValueBytes)))
		res := evaluate(t, set, req)
		if res.Allowed {
			t.Fatalf("%s: allowed", tt.expression)
		}
		values, err := set.Explain(context.Background(), req, &res.Evaluations[0], 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range values {
			if v.Problem != "" {
				if _, hint, ok := strings.Cut("; "+v.Hint, "orValue(…)"); ok {
					v.Problem += hint
				} else if v.Hint != "" {
					v.Problem += "; " + v.Hint
				}
				got = append(got, fmt.Sprintf("%s(%s)", v.Expression, v.Problem))
				continue
			}
			got = append(got, fmt.Sprintf("%s=%v", v.Expression, v.Value))
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s: got %s, want %s", tt.expression, text, tt.want)
		}
		for _, absent := range []int{-1, 7} {
			if values, err := set.Explain(context.Background(), req, &res.Evaluations[0], absent); err != nil || values != nil {
				t.Errorf("validation %d: got %v, %v", absent, values, err)
			}
		}
	}
}

func TestExplainCondition(t *testing.T) {
	t.Parallel()
	conditions := "  matchConditions: [{name: one, expression: 'true'}, {name: two, expression: 'object.spec.size > 1'}, {name: three, expression: 'namespaceObject.metadata.name == oldObject.x'}]"
	set := mustCompile(t, Config{}, simplePolicy("true", conditions), testBinding)
	req := widgetRequest(t, OperationCreate, `{metadata: {name: w}}`)
	res, err := set.Evaluate(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	e := &res.Evaluations[0]
	if len(e.Decisions) != 1 || e.Decisions[0].Condition != "two" || e.Decisions[0].Validation != -1 {
		t.Fatalf("got %+v", e.Decisions)
	}
	values, err := set.Explain(context.Background(), req, e, -1)
	want := []Value{{Expression: "object.spec.size", Problem: "no such key: spec", Hint: "test has(object.spec) first, or use object.?spec.orValue(…)"}}
	if err != nil || !reflect.DeepEqual(values, want) {
		t.Errorf("got %v, %v, want %v", values, err, want)
	}
}

func TestExplainHostile(t *testing.T) {
	t.Parallel()
	var reads []string
	for i := range 100 {
		reads = append(reads, fmt.Sprintf("variables.v%d", i%20))
	}
	var variables []string
	for i := range 20 {
		variables = append(variables, fmt.Sprintf(`{name: v%d, expression: "object.text.replace('', object.text).size() + %d"}`, i, i))
	}
	set := mustCompile(t, Config{}, simplePolicy(strings.Join(reads, " + ")+" == 0", "  variables: ["+strings.Join(variables, ", ")+"]"), testBinding)
	req := widgetRequest(t, OperationCreate, `{metadata: {name: w}}`)
	req.Object["text"] = strings.Repeat("a", 5000)
	e := &Evaluation{Policy: "p", of: set.policies[0]}
	values, err := set.Explain(context.Background(), req, e, 0)
	if err != nil || len(values) > maxValues {
		t.Errorf("got %d values, %v", len(values), err)
	}
}

func TestEval(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, Config{}, simplePolicy("variables.double > params.data.size()", "  paramKind: {apiVersion: v1, kind: ConfigMap}\n  variables: [{name: double, expression: object.spec.size * 2}]"),
		strings.Replace(testBinding, "policyName", "paramRef: {name: x, parameterNotFoundAction: Deny}, policyName", 1), "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: ns}, data: {a: b}}")
	req := widgetRequest(t, OperationCreate, `{metadata: {name: w}, spec: {size: 2}}`)
	for _, tt := range []struct{ expression, want string }{
		{"variables.double", "4 int"},
		{"object.spec", "map[size:2] dyn"},
		{"params.data", "map[a:b] dyn"},
		{"request.operation + '!'", "CREATE! string"},
		{"oldObject == null", "true bool"},
		{"object.missing", "no such key: missing"},
		{"object.", "Syntax error"},
		{"nothing", "undeclared reference to 'nothing'"},
	} {
		got := ""
		switch out, err := set.Eval(context.Background(), req, "p", tt.expression); {
		case err != nil:
			got = err.Error()
		case out.Failure != "":
			got = out.Failure
		default:
			got = fmt.Sprintf("%v %s", out.Value, out.Type)
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.expression, got, tt.want)
		}
	}
	if _, err := set.Eval(context.Background(), req, "q", "true"); err == nil {
		t.Error("a policy that does not exist: no error")
	}
	if got := set.VariableNames("p"); len(got) != 1 || got[0] != "double" || set.VariableNames("q") != nil {
		t.Errorf("got variables %v", got)
	}
}

func TestExplainMutation(t *testing.T) {
	t.Parallel()
	const rest = "\n  variables: [{name: lost, expression: object.spec.lost}]"
	for _, tt := range []struct{ mutation, want string }{
		{apply("Object{spec: Object.spec{size: object.spec.sise + 1}}"), "object.spec.sise@31(no such key: sise; test has(object.spec.sise) first, or use object.spec.?sise.orValue(…); or did you mean size?)"},
		{jsonPatch("[JSONPatch{op: 'add', path: '/spec/a', value: object.spec.name.size() + object.spec.size}]"), "object.spec.name@46(no such key: name; test has(object.spec.name) first, or use object.spec.?name.orValue(…)) object.spec.size@72=2"},
		{jsonPatch("object.spec.ports.map(p, JSONPatch{op: 'add', path: p.path, value: p.port})"), "object.spec.ports@0=[map[port:80]]"},
		{jsonPatch("[JSONPatch{op: 'add', path: '/a/' + request.name, value: variables.lost}]"),
			`request.name@36=w variables.lost@57(composited variable "lost" fails to evaluate: no such key: lost) object.spec.lost@-1(no such key: lost; test has(object.spec.lost) first, or use object.spec.?lost.orValue(…))`},
		{jsonPatch("[JSONPatch{op: 'add', path: '/spec/a/b', value: object.spec.size}]"), "object.spec.size@48=2"},
		{apply("Object{spec: Object.spec{size: 7}}") + "\n  - " + jsonPatch("object.spec.size == 7 ? [JSONPatch{op: 'test', path: string(object.spec.size)}, JSONPatch{op: object.x}] : []"),
			"object.spec.size@0=7 object.x@94(no such key: x; test has(object.x) first, or use object.?x.orValue(…))"},
		{apply("Object{spec: Object.spec{size: x}}"), ""},
		{apply("Object{}") + "\n  matchConditions: [{name: a, expression: 'object.spec.wise == 1'}]", "object.spec.wise@0(no such key: wise; test has(object.spec.wise) first, or use object.spec.?wise.orValue(…))"},
	} {
		set, _ := Compile(documents(t, mutatingPolicy("p", tt.mutation+rest), mutatingBinding("p")), Config{})
		res := mutate(t, set, mutableRequest(t, "{size: 2, ports: [{port: 80}]}"))
		if res.Allowed || len(res.Evaluations) != 1 {
			t.Fatalf("%s: got %+v", tt.mutation, res)
		}
		req, e, index, ok := res.Evaluations[0].Failing()
		if !ok {
			t.Fatalf("%s: no error", tt.mutation)
		}
		values, err := set.Explain(context.Background(), req, e, index)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range values {
			text := fmt.Sprintf("%s@%d=%v", v.Expression, v.Offset, v.Value)
			if v.Problem != "" {
				text = fmt.Sprintf("%s@%d(%s)", v.Expression, v.Offset, strings.TrimSuffix(v.Problem+"; "+v.Hint, "; "))
			}
			got = append(got, text)
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s: got  %s\nwant %s", tt.mutation, text, tt.want)
		}
	}
}
