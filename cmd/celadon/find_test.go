package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/findingtest"
)

const kindsCRD = "internal/find/testdata/kinds.yaml"

type foundReport struct {
	CRDs []struct {
		Versions []struct {
			Accepted *foundObject
			Rules    []struct {
				Rejected                *foundObject `json:"refused"`
				Accepted, Error, Budget *foundObject
			}
		}
	}
}

type foundObject struct {
	Status, Operation, Message string
	Object, Old                json.RawMessage
}

func TestFindReport(t *testing.T) {
	t.Parallel()
	for _, crd := range []string{kindsCRD, crontabCRD} {
		out := jsonOf(t, "find", "--no-config", "--crd", crd, "--want", "all", "--steps", "300", "-o", "json")
		findingtest.JSON(t, "../../docs/find-report.schema.json", "", out)
		var r foundReport
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatal(err)
		}
		checked := map[string]int{}
		for _, v := range r.CRDs[0].Versions {
			checkFound(t, crd, true, v.Accepted, checked)
			for _, r := range v.Rules {
				checkFound(t, crd, true, r.Accepted, checked)
				for _, bad := range []*foundObject{r.Rejected, r.Error, r.Budget} {
					checkFound(t, crd, false, bad, checked)
				}
			}
		}
		if checked["create"] < 5 || checked["update"] < 2 || crd == kindsCRD && checked["status"] < 2 {
			t.Errorf("%s: checked %v", crd, checked)
		}
	}
}

func checkFound(t *testing.T, crd string, valid bool, found *foundObject, checked map[string]int) {
	t.Helper()
	if found == nil || found.Status != "found" {
		return
	}
	checked[found.Operation]++
	dir := t.TempDir()
	object, old := filepath.Join(dir, "object.json"), filepath.Join(dir, "old.json")
	args := []string{"check", "--no-config", "--no-vet", "--crd", crd, "-o", "json", object}
	if found.Old != nil {
		args = append(args, "--old", old)
	}
	if found.Operation == "status" {
		args = append(args, "--subresource", "status")
	}
	for file, data := range map[string]json.RawMessage{object: found.Object, old: found.Old} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var r struct{ Objects []finding.Object }
	out := jsonOf(t, args...)
	if err := json.Unmarshal(out, &r); err != nil || len(r.Objects) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	said := slices.ContainsFunc(r.Objects[0].Causes, func(c finding.Cause) bool { return c.Message == found.Message })
	if valid != (r.Objects[0].Verdict == "valid") || !valid && !said {
		t.Errorf("%s\nwant valid %v, %q, got %s", found.Object, valid, found.Message, out)
	}
}

func jsonOf(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, stderr bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr}
	if code := a.run(t.Context(), args); code != command.OK && code != command.Findings {
		t.Fatalf("%q: exit %d: %s", args, code, &stderr)
	}
	return out.Bytes()
}

func TestFindPoliciesReport(t *testing.T) {
	t.Parallel()
	out := jsonOf(t, "find", "--no-config", "--crd", crontabCRD, "--policy", "../../examples/policies/policies", "--want", "all", "--steps", "300", "-o", "json")
	findingtest.JSON(t, "../../docs/find-report.schema.json", "", out)
}
