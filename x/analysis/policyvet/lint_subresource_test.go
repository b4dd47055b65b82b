package policyvet_test

import "testing"

func TestSubresourceObjects(t *testing.T) {
	t.Parallel()
	name := expressions("object.metadata.name != 'a'")
	const lint = "subresource-object validations[0].expression"
	testLints(t, []lintTest{
		{"CONNECT core pods/exec", name, []string{lint}},
		{"CONNECT core pods/exec,pods/attach,services/proxy", name, []string{lint}},
		{"CONNECT core pods/exec", expressions("request.name != 'a' && (!has(object.command) || object.command.size() < 5)"), nil},
		{"CONNECT core pods/exec", expressions("!has(object.metadata) || true"), nil},
		{"CREATE core pods/eviction", name, nil},
		{"CREATE core pods/eviction", expressions("object.spec.nodeName != 'a'"), []string{lint}},
		{"CREATE core pods,pods/eviction", expressions("!has(object.spec.nodeName) || object.spec.nodeName != 'a'"), []string{lint}},
		{"CREATE core pods,pods/eviction", expressions("object.kind == 'Eviction' || !has(object.spec.nodeName)"), nil},
		{"CREATE core pods/binding", expressions("object.target.name != 'a' && object.metadata.name != 'a'"), nil},
		{"CREATE core serviceaccounts/token", expressions("object.spec.audiences.size() > 0"), nil},
		{"CONNECT core pods/exec", expressions("object.spec.x == 1"), []string{lint}},
		{"UPDATE apps deployments/scale", expressions("object.spec.template.spec.containers.all(c, c.image != 'a')"), []string{lint}},
		{"UPDATE apps deployments/scale", "matchConditions: [{name: a, expression: \"request.subResource == ''\"}]\n" + expressions("object.spec.template.spec.nodeName != 'a'"), nil},
		{"CREATE,UPDATE apps deployments,deployments/scale", expressions("!has(object.spec.template) || object.spec.template.spec.containers.size() > 0"), nil},
		{"UPDATE apps deployments/scale", expressions("object.spec.replicas < 5 && oldObject.spec.replicas < 5 && object.metadata.name != 'a' && object.status.replicas < 5"), nil},
		{"UPDATE apps deployments/scale", expressions("oldObject.spec.template.spec.nodeName != 'a'"), []string{lint}},
		{"CREATE apps deployments/scale", expressions("object.spec.template.spec.nodeName != 'a'"), nil},
		{"UPDATE example.com widgets/scale", expressions("object.spec.size > 1"), []string{lint}},
		{"CREATE core pods/exec,pods", name, nil},
		{"CREATE,CONNECT core pods/exec,pods", name, []string{lint}},
		{"CREATE,CONNECT core pods/exec,pods", "variables: [{name: meta, expression: object.metadata}]\n" + expressions("variables.meta.name != 'a'"), []string{lint}},
		{"CREATE,CONNECT core pods/exec,pods", expressions("request.operation == 'CONNECT' || object.metadata.name != 'a'"), nil},
		{"UPDATE apps deployments/scale", "matchConditions: [{name: a, expression: \"object.apiVersion == 'apps/v1'\"}]\n" + expressions("object.spec.template.spec.nodeName != 'a'"), nil},
		{"UPDATE apps deployments/scale", "matchConditions: [{name: a, expression: \"request.kind.group == 'apps'\"}]\n" + expressions("object.spec.template.spec.nodeName != 'a'"), nil},
		{"CREATE core pods/eviction", "matchConditions: [{name: a, expression: \"!request.subResource.startsWith('evict')\"}]\n" + expressions("object.spec.nodeName != 'a'"), nil},
		{"CREATE,CONNECT core pods/exec,pods", expressions("request.subResource == 'exec' || object.metadata.name != 'a'"), nil},
		{"CREATE,CONNECT core pods/exec,pods", expressions("!has(object.metadata) || object.metadata.name != 'a'"), nil},
		{"CREATE,CONNECT core pods/exec,pods", expressions("object.?metadata.?name.orValue('') != 'a'"), nil},
		{"UPDATE core pods/status", name, nil},
		{"CONNECT example.com gadgets/exec", name, nil},
		{"CREATE admissionregistration.k8s.io validatingwebhookconfigurations", name, nil},
		{"CREATE admissionregistration.k8s.io validatingadmissionpolicies", name, []string{"unknown-resource matchConstraints.resourceRules[0].resources[0]"}},
	})
}

func TestSubresourceMessages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rule, expression, want string }{
		{"UPDATE apps deployments/scale", "object.spec.template.spec.nodeName != 'a'", "in requests to deployments/scale, object is a Scale, which has no spec.template, so the expression fails: test it with has(), or write another policy for deployments"},
		{"UPDATE apps deployments/scale", "oldObject.spec.template.spec.nodeName != 'a'", "in requests to deployments/scale, oldObject is a Scale, which has no spec.template, so the expression fails: test it with has(), or write another policy for deployments"},
		{"CREATE core pods/eviction", "object.spec.nodeName != 'a'", "in requests to pods/eviction, object is an Eviction, which has no spec, so the expression fails: test it with has(), or write another policy for pods"},
		{"CONNECT core pods/exec", "object.metadata.name != 'a'", "in requests to pods/exec, object is a PodExecOptions, which has no metadata, so the expression fails: use request.name and request.namespace"},
	} {
		for _, r := range vet(t, policyOf(tt.rule, expressions(tt.expression))) {
			for _, l := range r.Lints {
				if l.Name == "subresource-object" && l.Message != tt.want {
					t.Errorf("%s: got %q, want %q", tt.expression, l.Message, tt.want)
				}
			}
		}
	}
}

func TestQuantityNumbers(t *testing.T) {
	t.Parallel()
	const lint = "quantity-number validations[0].expression"
	var tests []lintTest
	for expression, want := range map[string][]string{
		"object.spec.containers.all(c, int(c.resources.limits.cpu) <= 2)":                                              {lint},
		"object.spec.containers.all(c, double(c.resources.limits['memory']) <= 2.0)":                                   {lint},
		"object.spec.containers.all(c, quantity(c.resources.limits.cpu).asApproximateFloat() <= 2)":                    nil,
		"object.spec.containers.all(c, c.resources.limits.cpu.endsWith('m') || int(c.resources.limits.cpu) < 2)":       nil,
		"object.spec.containers.all(c, int(c.resources.limits.cpu.replace('m', '')) <= 2)":                             nil,
		"object.spec.containers.all(c, c.resources.limits.cpu.find('[a-z]') != '' || int(c.resources.limits.cpu) < 2)": nil,
		"int(object.metadata.labels.a) < 2":                                                                            nil,
		"object.spec.containers.all(c, c.ports.all(p, int(p.containerPort) < 2))":                                      nil,
	} {
		tests = append(tests, lintTest{"CREATE,UPDATE core pods,pods/resize", expressions(expression), want})
	}
	testLints(t, tests)
}
