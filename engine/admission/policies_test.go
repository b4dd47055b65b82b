package admission_test

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/admission"
	"github.com/celadon-cel/celadon/engine/policy"
)

// sizePolicy denies widgets and gadgets larger than 5, and their deletion, to all users except root. It warns
// about new widgets that are larger than 3. NEEDS is a placeholder for a condition.
const sizePolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: sizes}
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: [widgets, gadgets]}]}
  matchConditions: [{name: not-root, expression: "request.userInfo.username != 'root'"}]
  validations:
  - {expression: "object != null && (NEEDS || object.spec.size <= 5)", message: too large, reason: Forbidden}
  auditAnnotations: [{key: size, valueExpression: "object == null ? '' : string(object.spec.size)"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: all}
spec: {policyName: sizes, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: hints}
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE], resources: [widgets]}]}
  validations: [{expression: "object.spec.size <= 3", message: large}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: hints}
spec: {policyName: hints, validationActions: [Warn]}
`

func policies(t testing.TB, needs string) *policy.Set {
	t.Helper()
	var documents []map[string]any
	for _, text := range strings.Split(strings.ReplaceAll(sizePolicy, "NEEDS", needs), "---\n") {
		var doc map[string]any
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		documents = append(documents, doc)
	}
	set, err := policy.Compile(documents, policy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func withResource(req *admissionv1.AdmissionRequest, resource, user string) *admissionv1.AdmissionRequest {
	req.Resource = metav1.GroupVersionResource{Group: req.Kind.Group, Version: req.Kind.Version, Resource: resource}
	req.UserInfo = authenticationv1.UserInfo{Username: user, Groups: []string{"devs"}}
	return req
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	gadget := func() *admissionv1.AdmissionRequest {
		return with(create(`"spec":{"size":7}`), func(req *admissionv1.AdmissionRequest) { req.Kind.Kind = "Gadget" })
	}
	deletion := func() *admissionv1.AdmissionRequest {
		return with(create(""), func(req *admissionv1.AdmissionRequest) {
			req.Operation, req.OldObject, req.Object.Raw = admissionv1.Delete, req.Object, nil
		})
	}
	for name, tt := range map[string]struct {
		req      *admissionv1.AdmissionRequest
		resource string
		user     string
		mode     admission.Mode
		needs    string
		verdict  admission.Verdict
		code     int32
		text     string
	}{
		"accepted":             {req: create(`"spec":{"size":1}`), verdict: admission.Allowed, text: `"sizes.size":"1"`},
		"warned":               {req: create(`"spec":{"size":4}`), verdict: admission.Allowed, text: "with binding 'hints': large"},
		"denied":               {req: create(`"spec":{"size":7}`), verdict: admission.Rejected, code: 403, text: "sizes all spec.validations[0]"},
		"denied, warn":         {req: create(`"spec":{"size":7}`), mode: admission.Warn, verdict: admission.Rejected, text: "celadon would reject this: widgets.example.com"},
		"denied, audit":        {req: create(`"spec":{"size":7}`), mode: admission.Audit, verdict: admission.Rejected, text: `"verdict":"refused"`},
		"rejected by the CRD":  {req: create(`"spec":{"size":11}`), verdict: admission.Rejected, code: 422, text: "too big"},
		"other user":           {req: create(`"spec":{"size":7}`), user: "root", verdict: admission.Allowed},
		"delete":               {req: deletion(), verdict: admission.Rejected, code: 403, text: "too large"},
		"without a CRD":        {req: gadget(), resource: "gadgets", verdict: admission.Rejected, code: 403, text: "too large"},
		"no policy":            {req: gadget(), resource: "others", verdict: admission.NotChecked, text: "not checked"},
		"Namespace not known":  {req: create(`"spec":{"size":7}`), needs: "namespaceObject.metadata.labels.x == 'x'", verdict: admission.Undecided, code: 504, text: "needs the Namespace ns"},
		"Namespace, but audit": {req: create(`"spec":{"size":7}`), mode: admission.Audit, needs: "namespaceObject.metadata.labels.x == 'x'", verdict: admission.Undecided},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := widgetSet(t, admission.Config{Mode: tt.mode})
			needs := tt.needs
			if needs == "" {
				needs = "false"
			}
			set.SetPolicies(policies(t, needs))
			resource, user := tt.resource, tt.user
			if resource == "" {
				resource = "widgets"
			}
			if user == "" {
				user = "jane"
			}
			d, err := set.Validate(t.Context(), withResource(tt.req, resource, user))
			if err != nil {
				t.Fatal(err)
			}
			var code int32
			if d.Response.Result != nil {
				code = d.Response.Result.Code
			}
			if d.Verdict != tt.verdict || code != tt.code || d.Response.Allowed != (code == 0) || !strings.Contains(asJSON(d.Response), tt.text) {
				t.Errorf("got %s, %s", d.Verdict, asJSON(d.Response))
			}
		})
	}
}

// Requests without a resource are errors only if policies need it.
func TestPoliciesReplaced(t *testing.T) {
	t.Parallel()
	set := widgetSet(t, admission.Config{})
	set.SetPolicies(policies(t, "false"))
	if _, err := set.Validate(t.Context(), create(`"spec":{"size":7}`)); err == nil || !strings.Contains(err.Error(), "no resource") {
		t.Errorf("without a resource: %v", err)
	}
	set.SetPolicies(nil)
	if d, err := set.Validate(t.Context(), create(`"spec":{"size":7}`)); err != nil || d.Verdict != admission.Allowed || d.Policies != nil {
		t.Errorf("without policies: %+v, %v", d, err)
	}
}
