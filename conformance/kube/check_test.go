package kube

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/builtin/testing/seen"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/testing/exchange"
)

// canCheck reports whether celadon check --policy can express a request. It has no options, no UID and
// extra fields of users, no CONNECT, and no subresource of a built-in kind. It has no dry runs either,
// which only the scene named options can distinguish.
func canCheck(scene *exchange.Scene, r *exchange.Request) bool {
	builtin := !strings.HasPrefix(r.APIVersion, "example.com/")
	return len(r.Options) == 0 && !(r.DryRun && scene.Name == "options") && r.User.UID == "" && len(r.User.Extra) == 0 && r.Operation != policy.OperationConnect && (r.Subresource == "" || !builtin)
}

// check runs celadon check --policy for a request and returns its result in the form of an answer. The
// verdict is empty if it is undecided.
func (s *stage) check(scene *exchange.Scene, r *exchange.Request) (got exchange.Answer, decided bool) {
	s.t.Helper()
	var crds, policies []exchange.Object
	for _, doc := range scene.Documents {
		if doc["kind"] == "CustomResourceDefinition" {
			crds = append(crds, doc)
		} else {
			policies = append(policies, doc)
		}
	}
	object, args := r.Object, []string{"check", "-o", "json", "--validate", "warn", "--crd", s.list("crds.json", crds), "--policy", s.list("policies.json", policies),
		"--operation", strings.ToLower(string(r.Operation)), "--as", r.User.Name}
	for _, group := range r.User.Groups {
		args = append(args, "--as-group", group)
	}
	if r.Operation == policy.OperationDelete {
		object = r.Old
	} else if r.Old != nil {
		args = append(args, "--old", s.write("old.json", encoded(r.Old)))
	}
	if r.Subresource != "" {
		args = append(args, "--subresource", r.Subresource)
	}
	out, _ := s.celadon("", append(args, s.write("object.json", encoded(object)))...)
	var report struct {
		Objects []struct {
			Verdict, Problem string
			Status           *struct {
				Code            int32
				Reason, Message string
			}
			Causes           []struct{ Reason, Field, Message string }
			Warnings         []string
			AuditAnnotations map[string]string
		}
	}
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&report); err != nil || len(report.Objects) != 1 {
		s.t.Fatalf("%v: %s", err, out)
	}
	o := report.Objects[0]
	got = exchange.Answer{Code: exchange.Accepted, Warnings: o.Warnings, Annotations: o.AuditAnnotations}
	if o.Status != nil {
		got.Code, got.Reason, got.Message = o.Status.Code, o.Status.Reason, o.Status.Message
		for _, c := range o.Causes {
			got.Causes = append(got.Causes, fmt.Sprintf("%s %s %s", c.Reason, c.Field, c.Message))
		}
	}
	if o.Verdict == "undecided" {
		s.t.Logf("undecided: %s", o.Problem)
	} else if o.Status == nil && o.Verdict != "valid" {
		s.t.Errorf("%s: %s", o.Verdict, o.Problem)
	}
	return got, o.Verdict != "undecided"
}

// list writes documents as a List and returns the path of the file.
func (s *stage) list(name string, docs []exchange.Object) string {
	s.t.Helper()
	return s.write(name, encoded(exchange.Object{"apiVersion": "v1", "kind": "List", "items": docs}))
}

// compareCheck compares the results of celadon check --policy with the server's answers.
func (s *stage) compareCheck(t *testing.T, scene *exchange.Scene) (checked, undecided int) {
	t.Helper()
	sees, err := seen.In(t.Context(), scene.Documents)
	if err != nil {
		t.Fatal(err)
	}
	p, err := exchange.NewPredictor(scene, sees)
	if err != nil {
		t.Fatal(err)
	}
	for i := range scene.Exchanges {
		e := &scene.Exchanges[i]
		if !canCheck(scene, &e.Request) {
			continue
		}
		got, decided := s.check(scene, &e.Request)
		if !decided {
			undecided++
			continue
		}
		checked++
		possible, err := p.Predict(t.Context(), &e.Request)
		if err != nil {
			t.Fatal(err)
		}
		want := e.Answer
		want.Object = nil // not in the output of check
		// Any of several denials may come first in the server.
		if diff := exchange.Difference(&e.Request, want, &exchange.Prediction{Answer: got, Denials: possible.Denials}); diff != "" {
			t.Errorf("%s, request %d: %s %s %s (-server +check):\n%s", scene.Name, i, e.Request.Operation, e.Request.Resource, e.Request.Name, diff)
		}
	}
	return checked, undecided
}
