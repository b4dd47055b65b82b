package policy

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

const testWebhooks = `
apiVersion: admissionregistration.k8s.io/v1
kind: %[1]sWebhookConfiguration
metadata: {name: second}
webhooks:
- name: small.example.com
  rules: [{operations: [CREATE], apiGroups: ["*"], apiVersions: ["*"], resources: [widgets]}]
  matchConditions: [{name: small, expression: object.spec.size < 5}]
  clientConfig: {url: "https://example.com"}
  sideEffects: None
  admissionReviewVersions: [v1]
- name: last.example.com
  rules: [{operations: [CREATE], apiGroups: ["*"], apiVersions: ["*"], resources: [widgets]}]
- name: other.example.com
  rules: [{operations: [CREATE], apiGroups: ["*"], apiVersions: ["*"], resources: [gadgets]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: %[1]sWebhookConfiguration
metadata: {name: first}
webhooks:
- name: first.example.com
  rules: [{operations: [CREATE], apiGroups: ["*"], apiVersions: ["*"], resources: [widgets]}]
- name: ignored.example.com
  failurePolicy: Ignore
  rules: [{operations: [CREATE], apiGroups: ["*"], apiVersions: ["*"], resources: [widgets]}]
  matchConditions: [{name: a, expression: object.spec.missing == 1}]
`

func TestMatchWebhooks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ object, mutating, validating string }{
		{`{spec: {size: 3}}`, "first called, ignored failed, small called, last called, other: rules", "first called, ignored failed, small called, last called, other: rules"},
		{`{spec: {size: 7}}`, "first called, ignored failed, small: small, last called, other: rules", "first called, ignored failed, small: small, last called, other: rules"},
		{`{}`, "first called, ignored failed, small denied", "first not called, ignored failed, small denied"},
	} {
		for kind, want := range map[string]string{"Mutating": tt.mutating, "Validating": tt.validating} {
			set := mustCompile(t, Config{}, strings.Split(fmt.Sprintf(testWebhooks, kind), "---")...)
			list, err := set.MatchWebhooks(context.Background(), widgetRequest(t, OperationCreate, tt.object), kind+"WebhookConfiguration")
			if err != nil {
				t.Fatal(err)
			}
			got := make([]string, len(list))
			for i, m := range list {
				name := strings.TrimSuffix(m.Webhook, ".example.com")
				switch {
				case m.Denied:
					got[i] = name + " denied"
				case m.Failure != "":
					got[i] = name + " failed"
				case m.Unmatched != "":
					got[i] = name + ": " + m.Unmatched
				case m.Condition != "":
					got[i] = name + ": " + m.Condition
				case m.Called:
					got[i] = name + " called"
				default:
					got[i] = name + " not called"
				}
			}
			if got := strings.Join(got, ", "); got != want {
				t.Errorf("%s %s: got %s, want %s", kind, tt.object, got, want)
			}
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
