package vet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

// The CRDs have far more invalid rules than are reported.
func TestManyInvalidRules(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]func(i int) string{
		"other":     func(i int) string { return fmt.Sprintf("self.q%d", i) },
		"equal":     func(int) string { return "self.q" },
		"long":      func(int) string { return strings.Repeat("self.q || ", 900) + "true" },
		"no bool":   func(i int) string { return fmt.Sprintf("%d", i) },
		"no syntax": func(i int) string { return strings.Repeat("+*", 500) + fmt.Sprint(i) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crd := unitCRD(many(4000, func(i int) aRule { return aRule{Rule: rule(i)} }))
			report, err := VetCRD(context.Background(), crd, Config{KubeVersions: []string{"1.30", "1.37"}})
			if err != nil {
				t.Fatal(err)
			}
			size := 0
			for _, c := range report.Causes {
				size += len(c.Message)
			}
			if n := len(report.Causes); n == 0 || n > 3000 || size > 8<<20 || report.Status == nil || report.Accepted {
				t.Errorf("%d causes of %d bytes, accepted: %v", n, size, report.Accepted)
			}
			if report.Undecided == nil || !strings.Contains(report.Undecided.Reason, "expressions are invalid, and their errors reach the limit") {
				t.Errorf("undecided: %v", report.Undecided)
			}
			for _, v := range report.KubeVersions {
				if v.Accepted || len(v.Causes) == 0 {
					t.Errorf("%s: accepted: %v, %d causes", v.Version, v.Accepted, len(v.Causes))
				}
			}
			e, err := engine.Compile(crd, engine.Config{})
			var invalid *engine.CompileErrors
			if !errors.As(err, &invalid) || e == nil || len(invalid.Errors) > 3000 || len(err.Error()) > 16<<20 {
				t.Fatalf("compile: %.300v", err)
			}
			object := map[string]any{"apiVersion": crd.Spec.Group + "/" + crd.Spec.Versions[0].Name, "kind": crd.Spec.Names.Kind, "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"a": "a"}}
			if res, err := e.Validate(context.Background(), engine.Request{Object: object}); err != nil || res.Undecided == nil || res.Allowed {
				t.Errorf("an object: allowed: %v, undecided: %v, %v", res.Allowed, res.Undecided, err)
			}
		})
	}
}

func TestSomeInvalidRules(t *testing.T) {
	t.Parallel()
	report, err := VetCRD(context.Background(), unitCRD(many(300, func(i int) aRule { return aRule{Rule: fmt.Sprintf("self.q%d == 'x'", i)} })), Config{})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Causes) != 300 || report.Undecided != nil {
		t.Errorf("%d causes, undecided: %v", len(report.Causes), report.Undecided)
	}
}

// The rule tree of a node with items and additionalProperties follows the latter.
func TestItemsBelowMap(t *testing.T) {
	t.Parallel()
	const crd = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"}, "spec": {
		"group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
		"versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {
			"type": "object", "items": {"type": "string"}, "additionalProperties": {"type": "object", "properties": {"m": {
				"type": "array", "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self.matches('^(a|b)+$')"}]}}}}}}}}}]}}`
	for _, explain := range []bool{false, true} {
		if _, err := Vet(context.Background(), []byte(crd), Config{Explain: explain}); err != nil {
			t.Errorf("explain %t: %v", explain, err)
		}
	}
}
