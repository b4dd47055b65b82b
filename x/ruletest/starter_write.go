package ruletest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// A suiteWriter writes a generated suite and runs it.
type suiteWriter struct {
	name, crd, version string
	definition         *apiextensionsv1.CustomResourceDefinition // nil for built-in kinds
	config             Config
	base               map[string]any
	// policies holds the paths of policies. If it is not nil, cases expect decisions. missing is as in PolicyStarter.
	policies []string
	missing  []requests.Missing
}

// started is a case of the generated suite.
type started struct {
	name, comment, skip string
	req                 *engine.Request // nil if skip is set
	causes              []engine.Cause  // empty if accepted
	// These are only set in suites of policies.
	operation string
	user      policy.User
	decisions []policyrequest.Decision
}

// run writes the suite and runs it.
func (w *suiteWriter) run(ctx context.Context, cases []*started) (text []byte, reports []*CaseReport, err error) {
	crds := []*CRD{{File: w.crd, Definition: w.definition}}
	if w.definition == nil {
		crds = nil
	}
	text = w.write(cases)
	report := New(w.config).Run(ctx, Parse(cmp.Or(w.crd, "-"), 1, text), crds, nil)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case len(report.Errors) > 0 || len(report.Cases) != len(cases):
		return nil, nil, fmt.Errorf("the suite cannot be read: %v", report.Errors)
	}
	return text, report.Cases, nil
}

// proven writes the suite and runs it. It repeats without the cases that do not pass.
func (w *suiteWriter) proven(ctx context.Context, cases []*started) (text []byte, err error) {
	for {
		text, reports, err := w.run(ctx, cases)
		if err != nil {
			return nil, err
		}
		passed := true
		for i, c := range reports {
			if cases[i].skip == "" && c.Outcome != Passed {
				passed = false
				cases[i].skip, cases[i].req = "the object that was found does not pass after it is written to the suite: "+firstLine(c.Message), nil
			}
		}
		if passed {
			return text, nil
		}
	}
}

func (w *suiteWriter) write(cases []*started) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Written by celadon test init. Each case passed when it was written. Edit as you like.\nkind: %s\napiVersion: %s\n", Kind, APIVersion)
	writeField(&b, "", "name", w.name)
	if w.definition != nil {
		writeField(&b, "", "crd", w.crd)
		writeField(&b, "", "version", w.version)
	}
	if w.policies != nil {
		writeField(&b, "", "policies", list(w.policies))
	}
	if w.base != nil {
		writeField(&b, "", "base", w.base)
	}
	b.WriteString("tests:\n")
	for _, c := range cases {
		for line := range strings.Lines(strings.TrimSpace(c.comment)) {
			fmt.Fprintf(&b, "# %s\n", untrusted.Line(strings.TrimRight(line, "\n")))
		}
		var one bytes.Buffer
		w.writeCase(&one, c)
		b.WriteString("- ")
		b.Write(one.Bytes()[2:])
	}
	return b.Bytes()
}

func (w *suiteWriter) writeCase(b *bytes.Buffer, c *started) {
	writeField(b, "  ", "name", c.name)
	if c.skip != "" {
		writeField(b, "  ", "skip", c.skip)
		return
	}
	if c.operation == opDelete {
		writeField(b, "  ", "operation", c.operation)
	}
	if w.base == nil || c.req.OldObject != nil || !reflect.DeepEqual(c.req.Object, w.base) {
		w.put(b, "object", "patch", c.req.Object)
	}
	if c.req.OldObject != nil {
		w.put(b, "old", "oldPatch", c.req.OldObject)
	}
	if c.req.Subresource != "" {
		writeField(b, "  ", "subresource", c.req.Subresource)
	}
	if w.policies == nil {
		c.writeExpected(b)
	} else {
		c.writeUser(b)
		c.writeMissing(b, w.missing)
		c.writeDecisions(b)
	}
}

// writeExpected writes causes with their keys in the usual order.
func (c *started) writeExpected(b *bytes.Buffer) {
	if len(c.causes) == 0 {
		writeField(b, "  ", "expect", "valid")
		return
	}
	b.WriteString("  expect:\n    causes:\n")
	for _, cause := range c.causes {
		var one bytes.Buffer
		if cause.Field != "" {
			writeField(&one, "      ", "field", cause.Field)
		}
		writeField(&one, "      ", "reason", string(cause.Reason))
		if !strings.HasPrefix(cause.Message, "~") {
			writeField(&one, "      ", "message", cause.Message)
		}
		b.WriteString("    - ")
		b.Write(one.Bytes()[6:])
	}
}

// put writes an object, as a patch of base if that is shorter and produces the same object.
func (w *suiteWriter) put(b *bytes.Buffer, whole, patch string, object map[string]any) {
	var long, short bytes.Buffer
	writeField(&long, "  ", whole, object)
	if w.base != nil {
		p := patchOf(w.base, object)
		if writeField(&short, "  ", patch, p); short.Len() < long.Len() && reflect.DeepEqual(valuediff.Merge(w.base, p), any(object)) {
			b.Write(short.Bytes())
			return
		}
	}
	b.Write(long.Bytes())
}

// patchOf returns a merge patch (RFC 7386) from one object to another.
func patchOf(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(from)) {
		if _, ok := to[key]; !ok {
			patch[key] = nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(to)) {
		v, was := to[key], from[key]
		below, isMap := v.(map[string]any)
		before, wasMap := was.(map[string]any)
		switch {
		case reflect.DeepEqual(v, was):
		case isMap && wasMap:
			patch[key] = patchOf(before, below)
		default:
			patch[key] = v
		}
	}
	return patch
}

// writeField writes a key and its value, indented.
func writeField(b *bytes.Buffer, indent, key string, v any) {
	data, err := untrusted.YAML(map[string]any{key: v})
	if err != nil { // impossible for decoded values
		return
	}
	for line := range strings.Lines(string(data)) {
		if line != "\n" {
			b.WriteString(indent)
		}
		b.WriteString(line)
	}
}
