package policy

import (
	"context"
	"testing"
)

const testWebhooks = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: called.example.com
  rules: [{operations: [CREATE], apiGroups: ["*"], apiVersions: ["*"], resources: [widgets]}]
  matchConditions: [{name: small, expression: object.spec.size < 5}]
  clientConfig: {url: "https://example.com"}
  sideEffects: None
  admissionReviewVersions: [v1]
- name: ignored.example.com
  failurePolicy: Ignore
  rules: [{operations: [CREATE], apiGroups: ["*"], apiVersions: ["*"], resources: [widgets]}]
  matchConditions: [{name: a, expression: object.spec.missing == 1}]
- name: other.example.com
  rules: [{operations: [CREATE], apiGroups: ["*"], apiVersions: ["*"], resources: [gadgets]}]
`

func TestMatchWebhooks(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, Config{}, testWebhooks)
	for _, tt := range []struct {
		object    string
		called    bool
		condition string
		denied    bool
	}{
		{`{spec: {size: 3}}`, true, "", false},
		{`{spec: {size: 7}}`, false, "small", false},
		{`{}`, false, "", true},
	} {
		list, err := set.MatchWebhooks(context.Background(), widgetRequest(t, OperationCreate, tt.object))
		if err != nil || len(list) != 2 {
			t.Fatalf("got %+v, %v", list, err)
		}
		if got := list[0]; got.Called != tt.called || got.Condition != tt.condition || got.Denied != tt.denied || (got.Failure != "") != tt.denied {
			t.Errorf("%s: got %+v", tt.object, got)
		}
		if got := list[1]; got.Called || got.Denied || got.Failure == "" {
			t.Errorf("failurePolicy Ignore: got %+v", got)
		}
	}
}

func TestRBAC(t *testing.T) {
	t.Parallel()
	policy := simplePolicy("authorizer.requestResource.check('update').allowed()", "")
	for role, allowed := range map[string]bool{
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: [{verbs: [update], apiGroups: [example.com], resources: [widgets]}]}`:                         true,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: [{verbs: ["*"], apiGroups: ["*"], resources: ["*"]}]}`:                                        true,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: [{verbs: [update], apiGroups: [example.com], resources: [widgets], resourceNames: [other]}]}`: false,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: [{verbs: [get], apiGroups: [example.com], resources: [widgets]}]}`:                            false,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: [{verbs: [update], apiGroups: [example.com], resources: [widgets/status]}]}`:                  false,
	} {
		for binding, binds := range map[string]bool{
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, roleRef: {kind: ClusterRole, name: r}, subjects: [{kind: User, name: ann}]}`:            true,
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: ns}, roleRef: {kind: ClusterRole, name: r}, subjects: [{kind: User, name: ann}]}`:    true,
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: other}, roleRef: {kind: ClusterRole, name: r}, subjects: [{kind: User, name: ann}]}`: false,
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, roleRef: {kind: ClusterRole, name: r}, subjects: [{kind: Group, name: admins}]}`:        false,
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, roleRef: {kind: ClusterRole, name: none}, subjects: [{kind: User, name: ann}]}`:         false,
		} {
			set := mustCompile(t, Config{}, policy, testBinding, role, binding)
			if res := evaluate(t, set, widgetRequest(t, OperationCreate, `{metadata: {name: w}}`)); res.Allowed != (allowed && binds) || len(res.Undecided) > 0 {
				t.Errorf("%s, %s: got %+v", role, binding, res)
			}
		}
	}
}
