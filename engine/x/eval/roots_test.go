package eval

import (
	"context"
	"errors"
	"testing"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/newest"
	"github.com/celadon-cel/celadon/types"
)

// admissionRoots returns roots like those of admission policies: of several types, with a root that
// may be absent and a root that is not decoded JSON.
func admissionRoots(t testing.TB) []celenv.Root {
	object := declare(t, `{type: object, properties: {spec: {type: object, properties: {replicas: {type: integer}, image: {type: string}, ports: {type: array, items: {type: object, properties: {name: {type: string}, port: {type: integer}}}}}}}}`)
	params := declare(t, `{type: object, properties: {max: {type: integer}, images: {type: array, items: {type: string}}}}`)
	return []celenv.Root{
		{Name: "object", Decl: object},
		{Name: "oldObject", Decl: object, Optional: true},
		{Name: "params", Decl: params},
		{Name: "namespaceObject", Decl: declare(t, `{type: object, properties: {name: {type: string}}}`)},
		{Name: "operation", Type: cel.StringType},
		{Name: "variables", Type: cel.MapType(cel.StringType, cel.DynType)},
	}
}

var admissionExpressions = []string{
	"object.spec.replicas <= params.max", "object.spec.replicas <= params.max && operation == 'CREATE'", "object.spec.image in params.images",
	"params.images.exists(i, object.spec.image.startsWith(i))", "object.spec.ports.all(p, p.port > 0 && p.name != '')",
	"oldObject.hasValue() ? oldObject.value().spec.replicas <= object.spec.replicas : true", "oldObject.?spec.?image.orValue('none') == object.spec.image",
	"object == oldObject.orValue(object)", "operation.size() + variables.size()", "variables.a == 1", "variables['b']", "namespaceObject.name", "has(namespaceObject.name)",
	"[object].exists(object, object.spec.replicas == 3)", ".object.spec.replicas", "object.spec.ports.map(operation, operation.port)", "type(object) == type(params)",
	"dyn(object).spec.zz", "params.images.map(i, i + operation)", "object.spec.ports[0].name + namespaceObject.name", "operation",
}

func TestOtherRoots(t *testing.T) {
	t.Parallel()
	roots := admissionRoots(t)
	server := celenv.StoredRules(types.Version{Minor: newest.Minor})
	env, err := server.With(roots)
	if err != nil {
		t.Fatal(err)
	}
	scope, err := server.Scope()
	if err != nil {
		t.Fatal(err)
	}
	object := decode(t, `{spec: {replicas: 3, image: a/b, ports: [{name: x, port: 80}, {name: y, port: 90}]}}`)
	variables := celtypes.NewDynamicMap(celtypes.DefaultTypeAdapter, map[string]any{"a": 1})
	bindings := map[string]map[string]any{
		"all": {
			"object": object, "oldObject": decode(t, `{spec: {replicas: 2}}`), "params": decode(t, `{max: 5, images: [a/b, c]}`),
			"namespaceObject": decode(t, `{name: default}`), "operation": celtypes.String("CREATE"), "variables": variables,
		},
		"create": {"object": object, "params": decode(t, `{max: 2}`), "operation": celtypes.String("UPDATE"), "variables": variables},
		"null":   {"object": nil, "params": decode(t, `{images: [1]}`)},
		"none":   {},
	}
	planner := NewPlanner(scope.Env())
	for _, src := range admissionExpressions {
		checked, err := scope.CompileWith(roots, src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		ours, err := planner.PlanWith(checked, roots, noLimit)
		if err != nil || ours.over != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		ast, err := celenv.Check(env, src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		prog, err := env.Program(ast, cel.CostLimit(noLimit), cel.CostTracking(celcost.Estimator(nil)), cel.InterruptCheckFrequency(celconfig.CheckFrequency))
		if err != nil {
			t.Fatal(err)
		}
		theirs := &reference{prog}
		for name, values := range bindings {
			got := show(ours.Eval(context.Background(), BindRoots(roots, values)))
			if want := show(theirs.Eval(context.Background(), BindRoots(roots, values))); got != want {
				t.Errorf("%s: %s\ngot  %s\nwant %s", name, src, got, want)
			}
		}
	}
	for _, src := range []string{"self", "oldSelf == object", "object.zz", "params.spec"} {
		_, err := scope.CompileWith(roots, src)
		_, want := celenv.Check(env, src)
		var issues *celenv.IssuesError
		if !errors.As(err, &issues) || want == nil || err.Error() != want.Error() {
			t.Errorf("%s: got %v, want %v", src, err, want)
		}
	}
}
