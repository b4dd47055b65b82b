package main

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine/admission"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/repl"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// serve compares the decision of a webhook with the verdict of check. The API server sends it the object that
// review has.
func (s *stage) serve(sc *scene, want *decision, review *policyrequest.Review) {
	s.Helper()
	var req policy.Request
	kind := schema.FromAPIVersionAndKind(sc.Object["apiVersion"].(string), sc.Object["kind"].(string))
	sub := s.builtins.Subresource(kind)
	switch {
	case review != nil && review.Denied != nil && (review.Evaluated == nil || review.Evaluated.Allowed), review == nil && sub == nil && sc.Subresource == "":
		return // the server does not call the webhook
	case review == nil && sub != nil && want.Verdict == "undecided":
		return // the server sets the audiences of a TokenRequest first
	case review != nil:
		req = review.Request
	case sub != nil:
		to, object := sub.Subject(), sub.Object(sc.Object)
		name, _ := input.Metadata(sc.Object)["name"].(string)
		r := policyrequest.Review{Operation: sub.Operation(), Subresource: sub.Name, Name: name, Namespace: "default", User: policyrequest.User("", nil)}
		req = r.Form(&to, object, nil)
	default:
		to := policyrequest.NewCustom(s.crd, s.engine).Subject(s.Context(), sc.Object["apiVersion"].(string))
		r := policyrequest.Review{Operation: policy.OperationUpdate, Subresource: sc.Subresource, Namespace: "default", User: policyrequest.User("", nil)}
		req = r.Form(&to, sc.Object, sc.Old)
	}
	asked := &admissionv1.AdmissionRequest{
		UID: "1", Kind: metav1.GroupVersionKind(req.Kind), Resource: metav1.GroupVersionResource(req.Resource), SubResource: req.Subresource,
		Name: req.Name, Namespace: req.Namespace, Operation: admissionv1.Operation(req.Operation),
		UserInfo: authenticationv1.UserInfo{Username: req.User.Name, Groups: req.User.Groups},
		Object:   raw(s.T, req.Object), OldObject: raw(s.T, req.OldObject), Options: raw(s.T, req.Options),
	}
	d, err := s.set.Validate(s.Context(), asked)
	if err != nil {
		s.Fatal(err)
	}
	got := &decision{Verdict: map[admission.Verdict]string{admission.Rejected: "invalid", admission.Undecided: "undecided"}[d.Verdict]}
	if got.Verdict == "undecided" {
		s.compare("serve", want, got)
		return
	}
	got.Verdict = cmp.Or(got.Verdict, "valid")
	if d.Response.Result != nil {
		got.Status = d.Response.Result.Message
	}
	got.evaluated(s, req, d.Policies)
	s.compare("serve", want, got)
}

func raw(t *testing.T, object map[string]any) runtime.RawExtension {
	t.Helper()
	if object == nil {
		return runtime.RawExtension{}
	}
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: data}
}

// shell skips scenes with a user, a Scale, or a kind of a subresource.
func (s *stage) shell(sc *scene, want *decision) {
	s.Helper()
	kind := schema.FromAPIVersionAndKind(sc.Object["apiVersion"].(string), sc.Object["kind"].(string))
	if sc.User != "" || sc.Subresource == policyrequest.ScaleName || s.builtins.Subresource(kind) != nil {
		return
	}
	session, err := repl.NewSession(repl.Config{Subresource: sc.Subresource, Host: repl.Host{Builtins: s.builtins}})
	if err != nil {
		s.Fatal(err)
	}
	load := func(err error) {
		if err != nil {
			s.Fatal(err)
		}
	}
	if kind.Group == "example.com" {
		load(session.LoadCRD(document(s.T, "crd.yaml", s.crdText)))
	} else if crd, ok := repl.BuiltinCRD(kind.GroupKind()); ok {
		load(session.LoadCRD(crd))
	}
	_, err = session.LoadPolicies(s.documents())
	load(err)
	load(session.LoadObject(documentOf(s.T, sc.Object)))
	if sc.Old != nil {
		load(session.LoadOld(documentOf(s.T, sc.Old)))
	}
	reply := session.Do(s.Context(), strings.TrimSpace(":policy "+sc.Operation)).Text
	first, rest, _ := strings.Cut(reply, "\n")
	verdicts := map[string]string{"denied": "invalid", "undecided": "undecided", "accepted": "valid", "none matches": "valid"}
	_, word, _ := strings.Cut(first, "policies, ")
	got := cmp.Or(verdicts[word], "invalid") // the object is rejected
	if got != want.Verdict {
		s.Errorf("shell: want %s\n%s", want.Verdict, reply)
	}
	for _, one := range want.Policies {
		if message := one[strings.LastIndex(one, "Deny")+len("Deny"):]; strings.Contains(one, " Deny ") && !strings.Contains(rest, strings.TrimSpace(message)) {
			s.Errorf("shell: want %s\n%s", message, reply)
		}
	}
}

func (s *stage) documents() (docs []repl.Document) {
	for _, object := range s.policies.Documents() {
		docs = append(docs, documentOf(s.T, object))
	}
	return slices.Clip(docs)
}

func documentOf(t *testing.T, object map[string]any) repl.Document {
	t.Helper()
	data, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return document(t, "object.yaml", data)
}

func document(t *testing.T, file string, text []byte) repl.Document {
	t.Helper()
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return repl.Document{File: file, Line: 1, Text: text, JSON: data}
}
