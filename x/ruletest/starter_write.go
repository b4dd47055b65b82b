package ruletest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/valuediff"
)

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
	denying   bool // with Missing.Denying
}

func (w *suiteWriter) run(ctx context.Context, cases []*started) (text []byte, reports []*CaseReport, err error) {
	if len(cases) == 0 {
		return nil, nil, nil
	}
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

// proven writes the suite and runs it. It marks the cases that do not pass as skipped, and repeats
// until all others pass.
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
				why, _, _ := strings.Cut(c.Message, "\n")
				cases[i].skip, cases[i].req = "the object that was found does not pass after it is written to the suite: "+why, nil
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
	switch {
	case w.policies != nil:
		c.writeUser(b)
		c.writeMissing(b, w.missing)
		writeExpected(b, "policies", decisionList(c.decisions))
	case len(c.causes) == 0:
		writeField(b, "  ", "expect", "valid")
	default:
		causes := make([]any, len(c.causes))
		for i := range c.causes {
			causes[i] = causeText(&c.causes[i])
		}
		writeExpected(b, "causes", causes)
	}
}

// Messages that begin with "~" are omitted, because they would be read as regular expressions.
func writeExpected(b *bytes.Buffer, key string, list []any) {
	if len(list) == 0 {
		fmt.Fprintf(b, "  expect:\n    %s: []\n", key)
		return
	}
	fmt.Fprintf(b, "  expect:\n    %s:\n", key)
	for _, item := range list {
		var one bytes.Buffer
		for _, e := range item.(position.Map) {
			if text, _ := e.Value.(string); e.Key != "message" || !strings.HasPrefix(text, "~") {
				writeField(&one, "      ", e.Key, e.Value)
			}
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
	for c := range valuediff.Values(from, to) {
		at, v := patch, any(to)
		for i, step := range c.Path {
			of, _ := v.(map[string]any)
			if v = of[step.Name]; i == len(c.Path)-1 || c.Path[i+1].Item { // a list is replaced as a whole
				at[step.Name] = v
				break
			}
			if at[step.Name] == nil {
				at[step.Name] = map[string]any{}
			}
			at = at[step.Name].(map[string]any)
		}
	}
	return patch
}

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
