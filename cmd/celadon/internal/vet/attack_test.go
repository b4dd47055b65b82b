package vet

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/findingtest"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/testing/hostile"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
)

func hostileReports(text string) (list []*vetted) {
	add := func(change func(*vetted)) {
		one := &vetted{doc: &input.Document{File: text, Line: 3}, report: &vet.Report{}, operation: "create"}
		hostile.Fill(one.report, text)
		for i := range one.report.Versions { // keywords of the schema are not untrusted
			v := &one.report.Versions[i]
			v.Advice[0].Set, v.Rules[0].Advice[0].Set, v.Rules[0].Reason.Missing[0].Set = "maxItems", "maxItems", "maxItems"
		}
		one.report.Panic.Kind = ""
		for _, causes := range [][]engine.Cause{one.report.Causes, one.report.Following} {
			for i := range causes {
				causes[i].Kind = engine.CauseRuleCost
			}
		}
		change(one)
		list = append(list, one)
	}
	add(func(one *vetted) { one.report.Panic = nil })
	add(func(one *vetted) {
		one.report.Accepted, one.report.Status, one.report.Causes, one.report.Undecided = true, nil, nil, nil
	})
	add(func(one *vetted) { one.report.Causes = nil })
	add(func(one *vetted) { one.report.Causes, one.report.Panic = nil, nil })
	add(func(one *vetted) { one.report.Accepted, one.report.Status, one.report.Causes = false, nil, nil })
	add(func(one *vetted) { one.problem = errors.New(text) })
	add(func(one *vetted) {
		rule := &one.report.Versions[0].Rules[0]
		rule.EstimatedTotal, rule.MessageExpressionCost, rule.OverLimit, rule.Broken, rule.Reason.Fixable = 9, 99, true, true, true
		one.report.Needs = append(one.report.Needs, one.report.Needs[0])
		one.report.Needs[1].Path = "else" + text
	})
	return list
}

func TestAttackPrinters(t *testing.T) {
	t.Parallel()
	for _, text := range []string{hostile.Text, hostile.Broken} {
		for _, output := range Outputs() {
			var b bytes.Buffer
			p, err := (&Options{}).printer(output, io.Discard, &b)
			if err != nil {
				t.Fatal(err)
			}
			printHostile(t, p, text)
			hostile.Harmless(t, "-o "+output, b.Bytes())
			document(t, output, b.Bytes())
		}
		for _, width := range []int{0, 60, 200} {
			var b bytes.Buffer
			out := untrusted.NewWriter(&b)
			out.Colors = true
			printHostile(t, &textPrinter{out: out, all: true, width: width}, text)
			if strings.Contains(b.String(), "\x1b[31mPWNED") || !strings.Contains(b.String(), string(untrusted.Red)+"The ") {
				t.Error("a colour is not ours, or ours are not there")
			}
			hostile.Harmless(t, "on a terminal", regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAll(b.Bytes(), nil))
		}
	}
}

func printHostile(t *testing.T, p printer, text string) {
	t.Helper()
	for _, one := range hostileReports(text) {
		if err := p.crd(one); err != nil {
			t.Fatal(err)
		}
	}
	for _, rejected := range []bool{false, true} {
		one := &vettedPolicy{vetted: vetted{doc: &input.Document{File: text, Line: 3}}, policy: &policyvet.Report{}}
		hostile.Fill(one.policy, text)
		if one.policy.Accepted = !rejected; !rejected {
			one.policy.Errors = nil
		}
		for i := range one.policy.Warnings {
			one.policy.Warnings[i].Harmless = false
		}
		for i := range one.policy.Estimates {
			one.policy.Estimates[i].Incomplete = false
		}
		if err := p.policy(one); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.end(&summary{Policies: &policySummary{Policies: 1}}); err != nil {
		t.Fatal(err)
	}
}

func document(t *testing.T, format string, out []byte) {
	t.Helper()
	switch format {
	case "json":
		findingtest.JSON(t, "../../../../docs/vet-report.schema.json", "", out)
	case "sarif":
		findingtest.SARIF(t, out)
	case "junit":
		findingtest.JUnit(t, out)
	}
}
