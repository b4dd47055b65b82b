package service_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground/service"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

type pageExample struct{ Title, CRD, Object, Old, Policies string }

func pageExamples(t *testing.T) (list []pageExample) {
	t.Helper()
	data, err := os.ReadFile("../page/src/examples.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &list); err != nil || len(list) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for i := range list {
		e := &list[i]
		for _, text := range []*string{&e.CRD, &e.Object, &e.Old, &e.Policies} {
			if *text != "" {
				*text = read(t, *text)
			}
		}
	}
	return list
}

// TestPrefixes tries each 17th prefix; with -short fewer, and with CELADON_LEVEL=long all of them.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	step := 17
	switch {
	case level.Long():
		step = 1
	case testing.Short():
		step = 41
	}
	for _, e := range pageExamples(t) {
		t.Run(e.Title, func(t *testing.T) {
			t.Parallel()
			n := 0
			full := service.Request{CRD: e.CRD, Object: e.Object, Old: e.Old, Policies: e.Policies}
			for name, pane := range map[string]func(*service.Request, string){
				"crd":      func(q *service.Request, text string) { q.CRD = text },
				"object":   func(q *service.Request, text string) { q.Object = text },
				"old":      func(q *service.Request, text string) { q.Old = text },
				"policies": func(q *service.Request, text string) { q.Policies = text },
			} {
				text := map[string]string{"crd": e.CRD, "object": e.Object, "old": e.Old, "policies": e.Policies}[name]
				r := service.New()
				for at := 0; at <= len(text); at += step {
					q := full
					pane(&q, text[:at])
					n++
					if !shownPrefix(t, r, q, name == "crd") {
						t.Fatalf("after %d bytes of the pane %s:\n%s", at, name, text[max(0, at-200):at])
					}
				}
			}
			t.Logf("%d prefixes", n)
		})
	}
}

func shownPrefix(t *testing.T, r *service.Service, q service.Request, isCRD bool) bool {
	t.Helper()
	q.Do = "check"
	var check checkReply
	if !strictly(t, r, q, &check) {
		return false
	}
	if len(check.Objects) < len(check.Report.Objects) || check.Report.Objects == nil || check.Problems == nil {
		t.Errorf("%d objects, and details of %d", len(check.Report.Objects), len(check.Objects))
		return false
	}
	for i, o := range check.Report.Objects {
		d := check.Objects[i]
		if o.Causes == nil || d.Causes == nil || len(d.Points) != len(o.Causes) || len(d.Strict) != len(o.Strict) || d.Rules == nil || d.Runs == nil {
			t.Errorf("object %d: %+v, %+v", i, o, d)
			return false
		}
		if o.Verdict != "valid" && o.Verdict != "ignored" && o.Problem == "" && d.Kubectl == "" {
			t.Errorf("object %d is %s without a reason", i, o.Verdict)
			return false
		}
	}
	return !isCRD || shownCRD(t, r, q)
}

type checkReply struct {
	Report struct {
		Objects []struct {
			Verdict, Problem string
			Line             int
			Causes, Strict   []struct{ Message string }
		}
	}
	Objects []struct {
		Causes         []int
		Points, Strict []string
		Kubectl        string
		Rules, Runs    []json.RawMessage
	}
	Problems []string
}

func shownCRD(t *testing.T, r *service.Service, q service.Request) bool {
	t.Helper()
	q.Do = "vet"
	type problem struct {
		Message string
		Line    int
	}
	var vet struct {
		Report struct {
			CRDs []struct {
				Accepted                          bool
				Causes, Warnings, Lints, Versions []json.RawMessage
			}
		}
		Kubectl         []string
		Places          []json.RawMessage
		Points          [][]string
		Problems, Notes []problem
	}
	if !strictly(t, r, q, &vet) {
		return false
	}
	lines := strings.Count(q.CRD, "\n") + 1
	crds := vet.Report.CRDs
	if crds == nil || vet.Places == nil || vet.Problems == nil || vet.Notes == nil || len(vet.Kubectl) != len(crds) || len(vet.Points) != len(crds) {
		t.Errorf("got %+v", vet)
		return false
	}
	if len(crds) == 0 && len(vet.Problems) == 0 {
		t.Error("no CRD, and no reason")
		return false
	}
	for i, crd := range crds {
		if crd.Causes == nil || crd.Warnings == nil || crd.Lints == nil || crd.Versions == nil || len(vet.Points[i]) != len(crd.Causes) {
			t.Errorf("got %+v", crd)
			return false
		}
		if !crd.Accepted && len(crd.Causes) == 0 && len(vet.Problems) == 0 {
			t.Error("a CRD is rejected without a reason")
			return false
		}
	}
	for _, p := range append(vet.Problems, vet.Notes...) {
		if p.Line < 1 || p.Line > lines || p.Message == "" {
			t.Errorf("%+v in %d lines", p, lines)
			return false
		}
	}
	return true
}

// strictly decodes a response. It reports false for an error, which the page would show instead of a verdict.
func strictly(t *testing.T, r *service.Service, q service.Request, into any) bool {
	t.Helper()
	question, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	reply := struct {
		Value any
		Error string
	}{Value: into}
	if err := json.Unmarshal(r.Answer(t.Context(), question), &reply); err != nil || reply.Error != "" {
		t.Errorf("%s: %v %s", q.Do, err, reply.Error)
		return false
	}
	return true
}
