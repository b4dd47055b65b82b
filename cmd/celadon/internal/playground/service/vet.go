package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet/fix"
	enginevet "github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/preview"
)

type vetted struct {
	// Report is the output of celadon vet -o json.
	Report json.RawMessage `json:"report"`
	// Kubectl holds the message that kubectl would print for each rejected CRD; "" if it is accepted.
	Kubectl []string `json:"kubectl"`
	// Positions holds the positions of rules, and of schemas with advice.
	Positions []rulePosition `json:"places"`
	// Problems are the reasons for a missing verdict, or for a rejection without causes.
	Problems []crdProblem `json:"problems"`
	// Points holds, for each CRD of the report, the reasons in the messages of its causes. A reason is "" if the
	// editor leaves out the error, because another error has the same cause.
	Points [][]string `json:"points"`
	// Notes are remarks that a CRD has no rules, which is allowed.
	Notes []crdProblem `json:"notes"`
}

// rulePosition is the position of a rule, or of a schema for which a bound (Set) is advised.
type rulePosition struct {
	CRD     string `json:"crd"`
	Version string `json:"version"`
	Path    string `json:"path"`
	Index   int    `json:"index"`
	Set     string `json:"set,omitempty"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
}

type crdProblem struct {
	Message string `json:"message"`
	Line    int    `json:"line"`
	Column  int    `json:"column,omitempty"` // 0 for the whole line
}

func vetText(ctx context.Context, req *Request) ([]*vet.Reviewed, []byte, error) {
	text := input.Text{File: CRDFile, Data: []byte(req.CRD)}
	return vet.Text(ctx, text, &vet.Options{KubeVersion: req.KubeVersion, Output: "json"})
}

func (r *Service) vet(ctx context.Context, req *Request) (any, error) {
	crds, report, err := vetText(ctx, req)
	if err != nil {
		return nil, err
	}
	all := &vetted{report, []string{}, []rulePosition{}, []crdProblem{}, [][]string{}, []crdProblem{}}
	for _, one := range crds {
		json := one.JSON()
		all.Kubectl = append(all.Kubectl, one.Rejection())
		all.Points = append(all.Points, pointsOf(json.Causes))
		all.Problems = append(all.Problems, problemsOf(one, &json)...)
		all.Positions = append(all.Positions, positionsOf(one)...)
		source, _, _ := one.Doc.Source()
		if one.Report != nil && one.Doc.Value("spec.versions[0]") != nil && !bytes.Contains(source, []byte("x-kubernetes-validations")) {
			schema := one.Doc.Locate([]string{"spec.versions[0].schema.openAPIV3Schema"})[0]
			all.Notes = append(all.Notes, crdProblem{Message: noRules, Line: schema.Line})
		}
	}
	if len(crds) == 0 {
		all.Problems = append(all.Problems, noCRD(req.CRD))
	}
	all.Problems = located(all.Problems, req.CRD)
	return all, nil
}

func noCRD(text string) crdProblem {
	var other *input.Document
	for other = range (input.Text{File: CRDFile, Data: []byte(text)}).Documents {
		break
	}
	if other == nil {
		return crdProblem{Message: "no CustomResourceDefinition: the input is empty", Line: 1}
	}
	p := crdProblem{Message: "not a CustomResourceDefinition: kind is missing", Line: other.Line}
	if kind := other.Object["kind"]; kind != nil {
		p.Message = fmt.Sprintf("not a CustomResourceDefinition: kind is %s", preview.JSON(kind, maxKind))
		if at := other.Locate([]string{"kind"})[0]; at.Line > 0 {
			p.Line, p.Column = at.Line, at.Column
		}
	}
	return p
}

const maxKind = 60

func problemsOf(one *vet.Reviewed, report *vet.CRDReport) (list []crdProblem) {
	var syntax *input.SyntaxError
	switch {
	case report.Problem != "" && report.Status == nil:
		p := crdProblem{Message: report.Problem, Line: report.Line}
		if errors.As(one.Doc.Err, &syntax) && syntax.Line > 0 {
			p.Line = syntax.Line
		}
		return []crdProblem{p}
	case report.Status == nil || len(report.Causes) > 0:
		return nil
	}
	for _, at := range report.Strict {
		message := at.Message
		if message == "" {
			message = fmt.Sprintf("unknown field %q", at.Field)
		}
		if at.Hint != "" {
			message += ", " + at.Hint
		}
		list = append(list, crdProblem{message, at.Line, at.Column})
	}
	if len(list) == 0 {
		list = append(list, crdProblem{Message: report.Status.Message, Line: report.Line})
	}
	return list
}

func positionsOf(one *vet.Reviewed) (list []rulePosition) {
	if one.Report == nil {
		return nil
	}
	var fields []string
	add := func(p rulePosition, field string) {
		p.CRD = one.Report.Name
		list, fields = append(list, p), append(fields, resource.DocumentPath(one.Doc, field))
	}
	for _, of := range one.Report.Versions {
		for i := range of.Rules {
			r := &of.Rules[i]
			add(rulePosition{Version: of.Name, Path: r.Path, Index: r.Index}, r.Field)
		}
		for _, a := range of.Advice {
			add(rulePosition{Version: of.Name, Path: a.Path, Set: a.Set}, a.Field)
		}
	}
	for i, at := range one.Doc.Locate(fields) {
		list[i].Line, list[i].Column = at.Line, at.Column
	}
	return list
}

// fix returns the text of the CRD with one or all of the advised bounds set.
func (r *Service) fix(ctx context.Context, req *Request) (any, error) {
	crds, _, err := vetText(ctx, req)
	if err != nil {
		return nil, err
	}
	var docs []*input.Document
	var fixes []*fix.Vetted
	for _, one := range crds {
		if one.Report == nil {
			continue
		}
		less := *one.Report
		less.Versions = slices.Clone(less.Versions)
		for at := range less.Versions {
			of := &less.Versions[at]
			of.Advice = slices.DeleteFunc(slices.Clone(of.Advice), func(a enginevet.Advice) bool {
				isAsked := less.Name == req.Of && of.Name == req.Version && a.Path == req.Path && a.Set == req.Set
				return req.Set != "" && !isAsked
			})
		}
		docs, fixes = append(docs, one.Doc), append(fixes, &fix.Vetted{Report: &less})
	}
	text, err := fix.Text([]byte(req.CRD), docs, fixes)
	if err != nil {
		return nil, err
	}
	return map[string]any{"crd": string(text)}, nil
}

func pointsOf(causes []finding.Cause) []string {
	points := make([]string, len(causes))
	for i, repeats := range editor.Repeats(causes) {
		if !repeats {
			points[i] = editor.Point(causes[i].Field, causes[i].Message)
		}
	}
	return points
}

// located moves problems after the end of the text, where the parser of YAML finds that something is missing, to the
// last line.
func located(problems []crdProblem, text string) []crdProblem {
	last := 1 + strings.Count(strings.TrimRight(text, " \t\r\n"), "\n")
	for i := range problems {
		problems[i].Line = max(1, min(problems[i].Line, last))
	}
	return problems
}

const noRules = "this CRD has no validation rules: add x-kubernetes-validations next to a type in its schema"
