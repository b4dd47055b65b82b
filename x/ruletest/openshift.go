package ruletest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// OpenShift's format is defined in tests/types.go of openshift/api. We also accept keys that other
// projects have added. OpenShift's own harness decodes leniently: it drops unknown keys, so their
// tests never run.

type openShift struct {
	initial, updated, expected *embedded
	// expectedError is part of the error that rejects the write of the spec; expectedStatusError, for
	// updates, is part of the error that rejects the write of the status.
	expectedError, expectedStatusError string
	errorPosition                      Position
	// name is the object's name, or its prefix if generate is set. If named is not set, the object
	// keeps its own name or gets a generated name.
	name            string
	named, generate bool
	reader          *reader
}

// defaultName is the prefix of names that OpenShift's harness generates.
const defaultName = "test-"

func (r *reader) openShift(s *Suite, m map[string]any) {
	f := r.fields("suite", r.doc.Root, "apiVersion", "name", "crdName", "crd", "featureGates", "version", "tests", "onCreate", "onUpdate", "featureGate")
	name, crdName, crd, gates, version, tests := f[1], f[2], f[3], f[4], f[5], f[6]
	for _, misplaced := range f[7:9] {
		if misplaced.given() {
			n := phrase.Count(len(misplaced.value.Resolve().Items), "test")
			r.addProblem(misplaced.key, "%s is next to tests, not in it, so it never runs (%s): move it below tests", misplaced.key.Value, n)
		}
	}
	if gate := f[9]; gate.given() {
		r.addProblem(gate.key, "featureGate is not a key, so the tests run whether %s is on or off: use featureGates: [%s]", r.text(gate), r.text(gate))
	}
	s.Name, s.CRDName, s.CRDPath, s.Version = r.text(name), r.text(crdName), r.text(crd), r.text(version)
	s.FeatureGates = r.texts(gates)
	switch {
	case crdName.given():
		s.CRDPosition = r.positionOf(crdName.key)
	case crd.given():
		s.CRDPosition = r.positionOf(crd.key)
	default:
		r.addProblem(r.doc.Root, "suite: crdName is missing: set it to the name of the CRD under test")
	}
	if !tests.given() || tests.null() {
		r.addProblem(r.doc.Root, "an empty suite: tests is missing")
		return
	}
	lists := r.fields("tests", tests.value, "onCreate", "onUpdate")
	decoded, _ := m["tests"].(map[string]any)
	all := 0
	for i, operation := range []string{"create", "update"} {
		for j, item := range r.items(lists[i]) {
			if all++; all > maxCases {
				r.addProblem(item, "%s", tooMany("cases", all, maxCases))
				return
			}
			path := position.Path{position.Key("tests"), position.Key(lists[i].key.Value), position.Item(j)}
			r.openShiftCase(s, operation, item, path, entry(decoded[lists[i].key.Value], j))
		}
	}
	if all == 0 && !f[7].given() && !f[8].given() {
		r.addProblem(tests.key, "an empty suite: it has no test")
	}
}

func (r *reader) openShiftCase(s *Suite, operation string, item *position.Node, path position.Path, decoded any) {
	mark := len(r.problems)
	known := []string{"name", "initial", "expected", "expectedError", "resourceName", "useGenerateName"}
	if operation == "update" {
		known = append(known, "updated", "expectedStatusError", "initialCRDPatches")
	}
	f := r.fields("test", item, known...)
	c := &Case{Name: r.text(f[0]), Position: r.positionOf(item), Operation: operation, path: path}
	b := &openShift{reader: r, initial: r.embedded(f[1]), expected: r.embedded(f[2]), expectedError: r.text(f[3])}
	b.name, b.named, b.generate = r.text(f[4]), f[4].given(), r.flag(f[5])
	c.body = b
	if f[3].given() {
		b.errorPosition = r.positionOf(f[3].key)
	}
	if operation == "update" {
		b.updated, b.expectedStatusError = r.embedded(f[6]), r.text(f[7])
		if f[7].given() && b.expectedStatusError != "" {
			b.errorPosition = r.positionOf(f[7].key)
		}
		c.patches = string(r.crdPatches(f[8], decoded))
	}
	if len(r.problems) == mark {
		r.openShiftWhole(b, c, item)
	}
	r.add(s, c, mark)
	if b.initial != nil && s.Kind.Empty() {
		s.Kind = groupKind(b.initial.object)
	}
}

func (r *reader) openShiftWhole(b *openShift, c *Case, item *position.Node) {
	update := c.Operation == "update"
	switch {
	case c.Name == "":
		r.addProblem(item, "test: name is missing")
	case b.initial == nil:
		r.addProblem(item, "test %q: initial is missing: want an object", c.Name)
	case update && b.updated == nil:
		r.addProblem(item, "test %q: updated is missing: want an object", c.Name)
	case b.expected == nil && b.expectedError == "" && b.expectedStatusError == "":
		c.open = true
		r.addProblem(item, "test %q: no expectation: want expected, expectedError%s", c.Name, map[bool]string{true: " or expectedStatusError"}[update])
	case b.expectedStatusError != "" && b.expectedError == "" && b.updated.object["status"] == nil:
		r.addProblem(item, "test %q: expectedStatusError has no effect: updated has no status", c.Name)
	}
}

func (r *reader) crdPatches(f field, decoded any) []byte {
	items := r.items(f)
	if len(items) == 0 {
		return nil
	}
	for _, item := range items {
		p := r.fields("patch", item, "op", "path", "value", "from")
		switch op, path := r.text(p[0]), r.text(p[1]); {
		case !slices.Contains([]string{"add", "remove", "replace", "move", "copy", "test"}, op):
			r.addProblem(item, "patch: op %q: want add, remove, replace, move, copy, or test", op)
		case !strings.HasPrefix(path, "/"):
			r.addProblem(item, "patch: path %q: want a JSON pointer, such as /spec/versions/0", path)
		}
	}
	test, _ := decoded.(map[string]any)
	data, err := json.Marshal(test["initialCRDPatches"])
	if err == nil && len(data) > maxPatches {
		err = fmt.Errorf("too long (got %d bytes, want at most %d)", len(data), maxPatches)
	}
	if err != nil {
		r.addProblem(f.key, "initialCRDPatches: %v", err)
	}
	return data
}

func entry(list any, i int) any {
	if items, _ := list.([]any); i < len(items) {
		return items[i]
	}
	return nil
}

func groupKind(obj map[string]any) schema.GroupKind {
	return (&unstructured.Unstructured{Object: obj}).GroupVersionKind().GroupKind()
}
