package kube

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/testing/exchange"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

type former struct {
	*mutator
	s      *stage
	forms  []exchange.Object
	stored map[string]exchange.Object // by kind and name
}

var (
	formRules = []string{
		`"operations":["*"],"resources":["*/*"]`, `"operations":["*"],"resources":["*/*"]`, `"operations":["CONNECT"],"resources":["pods/exec","pods/attach","pods/proxy"]`,
		`"operations":["CREATE","UPDATE"],"resources":["*"]`, `"operations":["*"],"resources":["pods/*","*/scale"]`, `"operations":["UPDATE"],"resources":["*/status","*/approval"]`,
		`"operations":["DELETE"],"resources":["*"]`, `"operations":["*"],"resources":["*/*"],"scope":"Cluster"`, `"operations":["*"],"resources":["*/*"],"scope":"Namespaced"`,
		`"operations":["*"],"resources":["*/*"],"resourceNames":["web","new","robot"]`, `"operations":["CREATE"],"resources":["pods","pods/eviction","pods/binding","serviceaccounts/token"]`,
		`"operations":["*"],"resources":["horizontalpodautoscalers","widgets","engines"],"apiVersions":["v1"]`, `"operations":["*"],"resources":["customresourcedefinitions","namespaces","nodes"]`,
	}
	formMatches = []string{
		`{}`, `{}`, `{"namespaceSelector":{"matchLabels":{"team":"a"}}}`, `{"namespaceSelector":{"matchExpressions":[{"key":"team","operator":"NotIn","values":["a"]}]}}`,
		`{"objectSelector":{"matchLabels":{"app":"x"}}}`, `{"objectSelector":{"matchExpressions":[{"key":"app","operator":"DoesNotExist"}]}}`, `{"matchPolicy":"Exact"}`,
		`{"excludeResourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["pods/exec","services","*/scale"]}]}`,
	}
	formConditions = []string{
		"request.userInfo.username != 'bob'", "!has(request.subResource) || request.subResource != 'status'", "request.operation in ['CREATE', 'CONNECT']", "object.spec.replicas < 5",
		"authorizer.requestResource.check('breakglass').allowed()", "object == null || !has(object.metadata) || object.metadata.name != 'web'", "request.name.startsWith('w')", "oldObject != null",
	}
	formExpressions = []string{
		"request.operation != 'DELETE'", "request.operation != 'CONNECT'", "request.userInfo.username != 'ann'", "has(request.subResource) && request.subResource in ['exec', 'token', 'scale']",
		"request.name != 'web'", "request.namespace == 'ns'", "request.kind.kind in ['Pod', 'Deployment', 'Scale', 'PodExecOptions']", "request.requestKind.version == request.kind.version", "request.requestResource.resource == 'pods'",
		"object == null", "oldObject == null", "has(object.metadata) && has(object.metadata.labels)", "object.metadata.name == request.name", "object.spec.replicas <= 3", "object.spec.replicas >= oldObject.spec.replicas",
		"object.command == ['ls']", "!object.stdin", "object.container == 'c'", "object.path == '/'", "object.ports.size() > 1", "object.spec.audiences.size() == 1", "object.spec.expirationSeconds <= 3600", "object.target.kind == 'Node'",
		"object.deleteOptions.gracePeriodSeconds > 5", "object.status.phase == 'Running'", "object.status.conditions.exists(c, c.type == 'Approved')", "object.spec.containers.all(c, c.image.contains(':'))", "object.spec.ephemeralContainers.all(c, !has(c.securityContext))",
		"object.spec.names.singular != 'thing'", "namespaceObject.metadata.labels.team == 'a'", "namespaceObject == null", "authorizer.requestResource.check('delete').allowed()", "authorizer.requestResource.check('approve').allowed()",
		"authorizer.group('example.com').resource('widgets').namespace('ns').check('breakglass').allowed()", "authorizer.serviceAccount('ns', 'sa').group('example.com').resource('widgets').check('breakglass').allowed()", "authorizer.path('/metrics').check('get').allowed()",
		"variables.any.metadata.labels.app == 'x'", "variables.any.metadata.name.size() > 3", "oldObject.metadata.labels.app == object.metadata.labels.app", "oldObject.status.phase == 'Pending'", "!has(object.spec) || oldObject == null || object.spec == oldObject.spec",
	}
	formParams = []string{"params.data.limit == '3'", "params.data.user == request.userInfo.username", "params.metadata.name != 'other'", "int(params.data.limit) < 2"}
	// No reason is RequestEntityTooLarge, because the server then repeats the admission of an update without
	// managedFields.
	formMessages = []string{
		`,"message":"no"`, `,"reason":"Forbidden"`, `,"reason":"Invalid","message":"too large"`, `,"messageExpression":"request.operation + ' of ' + request.name + ' by ' + request.userInfo.username"`,
		`,"messageExpression":"object.metadata.name + ' is wrong'"`, `,"messageExpression":"'labels: %s'.format([variables.any.metadata.labels])"`, ``,
	}
	formAnnotations = []string{
		"request.kind.kind + ' ' + request.resource.resource + (has(request.subResource) ? '/' + request.subResource : '') + ' ' + request.operation", "request.userInfo.groups.join(',')", "oldObject == null ? '' : string(oldObject.metadata.name)",
		"object == null ? 'none' : object.kind + ' ' + object.apiVersion", "'%s'.format([variables.any.spec])", "has(object.metadata) && has(object.metadata.managedFields) ? '' : '%s'.format([object])", "'%s'.format([variables.any.metadata.labels])", "'%s'.format([object.status])",
		"request.requestKind.kind + request.requestKind.version + ' ' + request.name", "has(request.options) && request.options != null ? string(request.options.kind) : 'none'",
		"['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp', 'labels', 'annotations', 'managedFields'].filter(f, f in object.metadata).join(' ')",
		"['name', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'labels', 'annotations', 'managedFields'].filter(f, f in oldObject.metadata).join(' ')",
	}
	formBindings = []string{`["Deny"]`, `["Deny","Audit"]`, `["Warn"]`, `["Audit"]`, `["Warn","Audit"]`}
	formPatches  = []string{
		`"applyConfiguration":{"expression":"Object{metadata: Object.metadata{labels: {'app': 'x', 'mutated': request.userInfo.username}}}"},"patchType":"ApplyConfiguration"`,
		`"jsonPatch":{"expression":"[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'by': request.operation}}]"},"patchType":"JSONPatch"`,
		`"jsonPatch":{"expression":"has(object.spec) && has(object.spec.replicas) ? [JSONPatch{op: 'replace', path: '/spec/replicas', value: object.spec.replicas + 1}] : []"},"patchType":"JSONPatch"`,
		`"jsonPatch":{"expression":"'container' in object ? [JSONPatch{op: 'remove', path: '/container'}] : []"},"patchType":"JSONPatch"`,
	}
	formUsers = []exchange.User{
		{Name: "ann"}, {Name: "bob"}, {Name: "carl", Groups: []string{"approvers"}}, {Name: "root", Groups: []string{"system:masters"}},
		{Name: "system:serviceaccount:ns:sa", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:ns"}},
	}
)

// matching returns the fields of a policy or webhook that decide whether it matches. They do not match the namespace
// marker.
func (f *former) matching(rules string) exchange.Object {
	o := object(f.pick(formMatches))
	rule := exchange.Object{"apiGroups": []any{"*"}, "apiVersions": []any{"*"}}
	selector, _ := o["namespaceSelector"].(exchange.Object)
	expressions, _ := dig(selector, "matchExpressions").([]any)
	expressions = append(slices.Clone(expressions), object(`{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["marker"]}`))
	o["namespaceSelector"] = merged(selector, exchange.Object{"matchExpressions": expressions})
	o[rules] = []any{merged(rule, object("{"+f.pick(formRules)+"}"))}
	return o
}

func (f *former) conditions(chance int) (list []any) {
	for f.IntN(chance) == 0 && len(list) < 3 {
		list = append(list, exchange.Object{"name": fmt.Sprint("c", len(list)), "expression": f.pick(formConditions)})
	}
	return list
}

const registration = "admissionregistration.k8s.io/v1"

func (f *former) policy(name string) (docs []exchange.Object) {
	expressions, ref := formExpressions, exchange.Object(nil)
	spec := exchange.Object{"failurePolicy": f.pick([]string{"Fail", "Ignore"}), "matchConstraints": f.matching("resourceRules"), "matchConditions": f.conditions(3),
		"variables": []any{object(`{"name":"any","expression":"object == null ? oldObject : object"}`)}}
	switch f.IntN(4) {
	case 0:
		spec["paramKind"] = object(`{"apiVersion":"v1","kind":"ConfigMap"}`)
		ref = object(f.pick([]string{`{"name":"settings","namespace":"ns","parameterNotFoundAction":"Deny"}`, `{"name":"settings","parameterNotFoundAction":"Deny"}`, `{"name":"settings","parameterNotFoundAction":"Allow"}`,
			`{"selector":{"matchLabels":{"params":"yes"}},"parameterNotFoundAction":"Deny"}`}))
	case 1:
		spec["paramKind"] = object(`{"apiVersion":"example.com/v1","kind":"ClusterParams"}`)
		ref = object(f.pick([]string{`{"name":"global","parameterNotFoundAction":"Deny"}`, `{"name":"missing","parameterNotFoundAction":"Deny"}`, `{"selector":{},"parameterNotFoundAction":"Allow"}`}))
	}
	if ref != nil {
		expressions = append(slices.Clone(formParams), formExpressions[:8]...)
	}
	var validations, annotations []any
	for range 1 + f.IntN(3) {
		validations = append(validations, object(fmt.Sprintf(`{"expression":%q%s}`, f.pick(expressions), f.pick(formMessages))))
	}
	for range f.IntN(3) {
		annotations = append(annotations, exchange.Object{"key": fmt.Sprint("k", len(annotations)), "valueExpression": f.pick(formAnnotations)})
	}
	spec["validations"], spec["auditAnnotations"] = validations, annotations
	docs = append(docs, exchange.Object{"apiVersion": registration, "kind": "ValidatingAdmissionPolicy", "metadata": exchange.Object{"name": name}, "spec": spec})
	for i := range 1 + f.IntN(2) {
		binding := object(fmt.Sprintf(`{"policyName":%q,"validationActions":%s}`, name, f.pick(formBindings)))
		if ref != nil {
			binding["paramRef"] = ref
		}
		if f.IntN(4) == 0 {
			binding["matchResources"] = object(f.pick(formMatches[2:7]))
		}
		docs = append(docs, exchange.Object{"apiVersion": registration, "kind": "ValidatingAdmissionPolicyBinding", "metadata": exchange.Object{"name": fmt.Sprint(name, "-", i)}, "spec": binding})
	}
	return docs
}

func (f *former) mutation(name string) []exchange.Object {
	matching := f.matching("resourceRules")
	rule := matching["resourceRules"].([]any)[0].(exchange.Object)
	rule["operations"] = []any{"CREATE", "UPDATE", "CONNECT"} // deletions are not allowed
	spec := exchange.Object{"failurePolicy": f.pick([]string{"Fail", "Ignore"}), "reinvocationPolicy": f.pick([]string{"Never", "IfNeeded"}), "matchConstraints": matching,
		"matchConditions": f.conditions(3), "mutations": []any{object("{" + f.pick(formPatches) + "}")}}
	return []exchange.Object{
		{"apiVersion": registration, "kind": "MutatingAdmissionPolicy", "metadata": exchange.Object{"name": name}, "spec": spec},
		{"apiVersion": registration, "kind": "MutatingAdmissionPolicyBinding", "metadata": exchange.Object{"name": name}, "spec": exchange.Object{"policyName": name}},
	}
}

func (f *former) scene(index, n int) *exchange.Scene {
	scene := &exchange.Scene{Name: fmt.Sprint("forms-", index), Documents: []exchange.Object{f.s.hooks.marker("Mutating", index), f.s.hooks.marker("Validating", index)}}
	for i := range 2 + f.IntN(4) {
		scene.Documents = append(scene.Documents, f.policy(fmt.Sprint("p", i))...)
	}
	for i := range max(0, f.IntN(4)-1) {
		scene.Documents = append(scene.Documents, f.mutation(fmt.Sprint("m", i))...)
	}
	for i := range 2 + f.IntN(3) {
		fields := f.matching("rules")
		delete(fields, "excludeResourceRules")
		delete(fields["rules"].([]any)[0].(exchange.Object), "resourceNames")
		fields["failurePolicy"], fields["matchConditions"] = f.pick([]string{"Fail", "Ignore"}), f.conditions(2)
		text := encoded(fields)
		scene.Documents = append(scene.Documents, f.s.hooks.configuration(f.pick([]string{"Validating", "Mutating"}), fmt.Sprint("hook-", i), ","+text[1:len(text)-1]))
	}
	users := []exchange.User{formUsers[index%len(formUsers)], formUsers[f.IntN(len(formUsers))]}
	for range n {
		r := f.request()
		r.User = users[f.IntN(2)]
		r.User.Groups = slices.Clone(r.User.Groups)
		scene.Exchanges = append(scene.Exchanges, exchange.Exchange{Request: r})
	}
	return scene
}

func (f *former) request() (r exchange.Request) {
	form := f.forms[f.IntN(len(f.forms))]
	r.Operation, r.Subresource = policy.Operation(str(form, "operation")), str(form, "subresource")
	r.Collection, _ = form["collection"].(bool)
	r.DryRun, r.Patched = r.Operation != policy.OperationConnect, true
	if list, ok := form["objects"].([]any); ok {
		r.Object = list[f.IntN(len(list))].(exchange.Object)
	}
	of := r.Object
	if list := texts(form, "of", ""); len(list) > 0 {
		of = f.stored[f.pick(list)]
		if of == nil {
			f.s.t.Fatalf("%v: not stored", list)
		}
	} else if form["change"] == true && f.IntN(2) == 0 {
		r.Object = f.object(r.Object)
	}
	if r.Operation == policy.OperationUpdate || r.Operation == policy.OperationDelete {
		r.Old = of
	}
	r.APIVersion, r.Name, r.Namespace = str(of, "apiVersion"), str(of, "metadata", "name"), str(of, "metadata", "namespace")
	info, ok := f.s.kind(r.APIVersion, str(of, "kind"))
	if !ok {
		f.s.t.Fatalf("no resource of %v", of)
	}
	r.Resource, r.Kind = info.plural, str(of, "kind")
	if r.Subresource != "" && r.Operation != policy.OperationUpdate {
		r.Kind, r.KindVersion = str(r.Object, "kind"), str(r.Object, "apiVersion")
	}
	if r.Subresource != "" && r.Operation == policy.OperationCreate {
		r.Object = merged(r.Object, exchange.Object{"metadata": exchange.Object{"name": r.Name, "namespace": r.Namespace}}).(exchange.Object)
	}
	if r.Resource == "namespaces" {
		r.Namespace = r.Name
	}
	return r
}

// TestForms uses an API server whose default admission plugins are on.
func TestForms(t *testing.T) {
	s, f := newForms(t)
	scenes, requests := 4, 20
	if level.Long() {
		scenes, requests = 45, 26
	}
	count := map[string]int{}
	for i := range scenes {
		f.Rand = rand.New(rand.NewPCG(*firstSeed, uint64(i)))
		scene := f.scene(i, requests)
		if err := scene.FixNumbers(); err != nil {
			t.Fatal(err)
		}
		t.Run(scene.Name, func(t *testing.T) {
			for what, why := range s.in(t).run(scene) {
				t.Errorf("the server rejects %s: %s", what, why)
			}
			_, undecided := s.compareCheck(t, scene)
			count["undecided"] += undecided
			for i := range scene.Exchanges {
				e := &scene.Exchanges[i]
				count[strings.TrimSuffix(fmt.Sprint(e.Request.Operation, " ", e.Request.Resource, "/", e.Request.Subresource), "/")]++
				count[fmt.Sprint("code ", e.Answer.Code)]++
				count["requests"]++
			}
		})
	}
	s.in(t)
	t.Logf("%s", encoded(count))
}

func newForms(t *testing.T) (*stage, *former) {
	t.Helper()
	f := &former{mutator: &mutator{}, stored: map[string]exchange.Object{}}
	setup := documents(t, "testdata/policies/setup.yaml")
	for _, doc := range documents(t, "testdata/policies/forms.yaml") {
		if doc["kind"] == "Form" {
			f.forms = append(f.forms, doc)
		} else {
			setup = append(setup, doc)
		}
	}
	p := startWithAccounts(t)
	f.s = newStage(p, setup)
	f.s.whole, f.s.hooks = true, p.serveHooks()
	for _, doc := range setup {
		f.stored[str(doc, "kind")+"/"+str(doc, "metadata", "name")] = doc
		switch _, own := f.s.paths(doc); doc["kind"] {
		case "ServiceAccount", "LimitRange", "PriorityClass", "ConfigMap", "ClusterParams":
			f.s.setup = append(f.s.setup, f.s.get(own))
		}
	}
	return f.s, f
}

func (h *hooks) marker(kind string, index int) exchange.Object {
	return h.configuration(kind, strings.ToLower(fmt.Sprintf("marker-%s-%d", kind, index)), `,"failurePolicy":"Ignore",
		"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"marker"}},
		"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]`)
}

// settleHooks waits until the server calls the markers of a scene, and thus knows all its webhooks.
func (s *stage) settleHooks(scene *exchange.Scene) {
	s.t.Helper()
	var names []string
	for _, doc := range scene.Documents {
		if name := str(doc, "metadata", "name"); strings.HasPrefix(name, "marker-") {
			names = append(names, name+".example.com")
		}
	}
	s.until("webhooks are called", installed, func() error {
		s.requests++
		call := fmt.Sprint("celadon-", s.requests)
		r := &exchange.Request{Operation: policy.OperationCreate, APIVersion: "v1", Resource: "configmaps", Namespace: "marker", DryRun: true, Object: object(markerProbe),
			User: exchange.User{Name: "ann", Groups: []string{"system:authenticated"}}}
		if a := s.ask(r, call); a.Code != http.StatusCreated || !slices.Equal(s.hooks.called(call), names) {
			return fmt.Errorf("%d %s: %v", a.Code, a.message(), s.hooks.called(call))
		}
		return nil
	})
}
