package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

type object = map[string]any

func TestSetServerFields(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	const created = "2001-09-09T01:46:40Z"
	managed := []any{object{"manager": "celadon", "operation": "Update", "apiVersion": "v1", "time": created, "fieldsType": "FieldsV1", "fieldsV1": object{}}}
	pod, widget := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	for _, test := range []struct {
		name        string
		given, want Request
	}{
		{
			"create", Request{Operation: OperationCreate, Name: "w", Object: object{"apiVersion": "v1", "metadata": object{"name": "w", "uid": "x", "selfLink": "/"}}},
			Request{Operation: OperationCreate, Name: "w", Object: object{"apiVersion": "v1", "metadata": object{"name": "w", "uid": newUID, "creationTimestamp": created, "managedFields": managed}}},
		},
		{
			"generated name", Request{Operation: OperationCreate, Object: object{"apiVersion": "v1", "metadata": object{"generateName": "w-"}}},
			Request{Operation: OperationCreate, Name: "w-00000", Object: object{"apiVersion": "v1", "metadata": object{"generateName": "w-", "name": "w-00000", "uid": newUID, "creationTimestamp": created, "managedFields": managed}}},
		},
		{
			"update", Request{Operation: OperationUpdate, Object: object{"metadata": object{"uid": "x", "labels": object{"a": "b"}}}, OldObject: object{"metadata": object{"uid": "y", "creationTimestamp": created, "resourceVersion": "7", "managedFields": managed}}},
			Request{Operation: OperationUpdate, Object: object{"metadata": object{"uid": "y", "creationTimestamp": created, "resourceVersion": "7", "managedFields": managed, "labels": object{"a": "b"}}}, OldObject: object{"metadata": object{"uid": "y", "creationTimestamp": created, "resourceVersion": "7", "managedFields": managed}}},
		},
		{"scale", Request{Operation: OperationUpdate, Subresource: "scale", Object: object{"spec": object{}}, OldObject: object{}}, Request{Operation: OperationUpdate, Subresource: "scale", Object: object{"spec": object{}}, OldObject: object{}}},
		{"connect", Request{Operation: OperationConnect, Object: object{}}, Request{Operation: OperationConnect, Object: object{}}},
		{"delete", Request{Operation: OperationDelete, Kind: widget, OldObject: object{}}, Request{Operation: OperationDelete, Kind: widget, OldObject: object{}}},
		{
			"delete a pod without node", Request{Operation: OperationDelete, Kind: pod, OldObject: object{"spec": object{"terminationGracePeriodSeconds": int64(30)}}},
			Request{Operation: OperationDelete, Kind: pod, OldObject: object{"spec": object{"terminationGracePeriodSeconds": int64(30)}}, Options: object{"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions", "gracePeriodSeconds": int64(0)}},
		},
		{
			"delete a running pod", Request{Operation: OperationDelete, DryRun: true, Kind: pod, OldObject: object{"spec": object{"nodeName": "n"}}},
			Request{Operation: OperationDelete, DryRun: true, Kind: pod, OldObject: object{"spec": object{"nodeName": "n"}}, Options: object{"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions", "dryRun": []any{"All"}, "gracePeriodSeconds": int64(30)}},
		},
		{
			"delete a running pod with a period", Request{Operation: OperationDelete, Kind: pod, Options: object{"gracePeriodSeconds": int64(-3)}, OldObject: object{"spec": object{"nodeName": "n"}}},
			Request{Operation: OperationDelete, Kind: pod, Options: object{"gracePeriodSeconds": int64(1)}, OldObject: object{"spec": object{"nodeName": "n"}}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.given.SetServerFields(now)
			if diff := cmp.Diff(test.want, test.given); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDryRunOptions(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, Config{}, simplePolicy("has(request.options.dryRun) && request.options.dryRun == ['All']", ""), testBinding)
	req := widgetRequest(t, OperationCreate, `{}`)
	for _, dryRun := range []bool{false, true} {
		req.DryRun = dryRun
		if res := evaluate(t, set, req); res.Allowed != dryRun {
			t.Errorf("dry run: %v: got %+v", dryRun, res)
		}
	}
}

func TestManagedFields(t *testing.T) {
	t.Parallel()
	const policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints: {resourceRules: [{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"]}]}
  validations: [{expression: "!has(params.metadata.managedFields)"}]
  auditAnnotations: [{key: managed, valueExpression: "string('managedFields' in dyn(namespaceObject).metadata)"}]
`
	set := mustCompile(t, Config{}, policy, strings.Replace(testBinding, "policyName: p", "policyName: p, paramRef: {name: c, parameterNotFoundAction: Deny}", 1),
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: ns, managedFields: [{manager: m}]}}`,
		`{apiVersion: v1, kind: Namespace, metadata: {name: ns, managedFields: [{manager: m}]}}`)
	if res := evaluate(t, set, widgetRequest(t, OperationCreate, `{}`)); !res.Allowed || res.AuditAnnotations["p/managed"] != "false" {
		t.Errorf("got %+v, %v", res, res.Failure)
	}
}

func TestUnknownParamKind(t *testing.T) {
	t.Parallel()
	texts := []string{
		strings.Replace(simplePolicy("true", ""), "spec:", "spec:\n  paramKind: {apiVersion: example.com/v1, kind: Limit}", 1),
		strings.Replace(testBinding, "policyName: p", "policyName: p, paramRef: {name: c, parameterNotFoundAction: Allow}", 1),
	}
	want := "ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'"
	req := widgetRequest(t, OperationCreate, `{}`)
	if res := evaluate(t, mustCompile(t, Config{Complete: true}, texts...), req); res.Allowed || !strings.HasSuffix(res.Failure.Message, want) {
		t.Errorf("got %v, want %s", res.Failure, want)
	}
	texts = append(texts, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: limits.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Limit}}}`)
	if res := evaluate(t, mustCompile(t, Config{Complete: true}, texts...), req); !res.Allowed {
		t.Errorf("with a CRD: got %v", res.Failure)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	texts := []string{simplePolicy("object.kind != 'Widget' ||\n      false", ""), strings.Replace(testBinding, "[Deny, Audit]", "[Warn, Audit]", 1)}
	res := evaluate(t, mustCompile(t, Config{}, texts...), widgetRequest(t, OperationCreate, `{kind: Widget}`))
	if len(res.Warnings) != 0 || res.AuditAnnotations[failuresAnnotation] == "" {
		t.Errorf("got %q, %v", res.Warnings, res.AuditAnnotations)
	}
}

func TestResourcesProblem(t *testing.T) {
	t.Parallel()
	for list, invalid := range map[string]bool{
		"pods": false, "*": false, "*/*": false, "* pods/status": false, "pods/* services": false, "pods */status": false, "pods * */scale": false,
		"* */*": true, "* pods": true, "pods/* pods/exec": true, "*/status pods/status": true, "pods ": true,
	} {
		if got := resourcesProblem(strings.Split(list, " ")); (got != "") != invalid {
			t.Errorf("%q: got %q", list, got)
		}
	}
}

func TestRBACReasons(t *testing.T) {
	t.Parallel()
	r := rbac{roles: map[roleKey]*role{}}
	for _, doc := range documents(t,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: ns}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: c}, rules: [{apiGroups: [""], resources: [pods], verbs: [list]}]}`,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: a, namespace: ns}, roleRef: {kind: Role, name: r}, subjects: [{kind: Group, name: g}, {kind: ServiceAccount, name: sa}]}`,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: ns}, roleRef: {kind: ClusterRole, name: c}, subjects: [{kind: User, name: ann}]}`,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: d}, roleRef: {kind: ClusterRole, name: c}, subjects: [{kind: User, name: ann}]}`,
	) {
		h, err := headerOf(doc)
		if err == nil {
			err = r.add(h, doc)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	decide := r.authorizer()
	for _, test := range []struct {
		verb string
		user User
		want string
	}{
		{"get", User{Name: "x", Groups: []string{"g"}}, `RBAC: allowed by RoleBinding "a/ns" of Role "r" to Group "g"`},
		{"get", User{Name: "system:serviceaccount:ns:sa"}, `RBAC: allowed by RoleBinding "a/ns" of Role "r" to ServiceAccount "sa/ns"`},
		{"list", User{Name: "ann"}, `RBAC: allowed by ClusterRoleBinding "d" of ClusterRole "c" to User "ann"`},
		{"get", User{Name: "ann"}, ""},
	} {
		if got := decide(Access{Verb: test.verb, User: test.user, Resource: "pods", Namespace: "ns"}); got.Reason != test.want || got.Allowed != (test.want != "") {
			t.Errorf("%s %v: got %+v, want %q", test.verb, test.user, got, test.want)
		}
	}
}

func TestPolicyOrder(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, name := range []string{"b", "a", "c"} {
		rename := strings.NewReplacer("name: p", "name: "+name, "name: b", "name: "+name, "policyName: p", "policyName: "+name)
		texts = append(texts, rename.Replace(simplePolicy("false", "")), rename.Replace(testBinding))
	}
	res := evaluate(t, mustCompile(t, Config{}, texts...), widgetRequest(t, OperationCreate, `{}`))
	if res.Allowed || !strings.Contains(res.Failure.Message, "ValidatingAdmissionPolicy 'a' with binding 'a'") {
		t.Errorf("got %v", res.Failure)
	}
}
