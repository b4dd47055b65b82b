package vet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet/fix"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/preview"
)

// Vetted is the result of vetting a whole text that is not a file, such as the playground's. An
// editor uses a Reviewer instead, document by document.
type Vetted struct {
	// Report is the output of -o json.
	Report []byte
	// Rejections holds the error that kubectl would print for each CRD; "" if it is accepted.
	Rejections []string
	// Positions holds the positions of rules, and of schemas with advice.
	Positions []Position
	// Problems are the reasons for a missing verdict, or for a rejection without causes.
	Problems []Problem

	text []byte
	crds []*vetted
}

// Position is the position of a rule, or of a schema for which a bound (Set) is advised.
type Position struct {
	CRD     string `json:"crd"`
	Version string `json:"version"`
	Path    string `json:"path"`
	Index   int    `json:"index"`
	Set     string `json:"set,omitempty"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
}

// Problem is a reason why a CRD cannot be decoded or validated.
type Problem struct {
	Message string `json:"message"`
	Line    int    `json:"line"`
	Column  int    `json:"column,omitempty"` // 0 for the whole line
}

// Text vets the CRDs in a text. The error is ctx's, an invalid kubeVersion, or an internal error.
func Text(ctx context.Context, text input.Text, kubeVersion string) (*Vetted, error) {
	o := Options{KubeVersion: kubeVersion, Output: "json"}
	d, err := NewReviewer(ctx, &o)
	if err != nil {
		return nil, err
	}
	if err := o.versions(&d.v.cfg); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	p, err := o.printer(nil, &out)
	if err != nil {
		return nil, err
	}
	all, sum := &Vetted{text: text.Data, Rejections: []string{}, Positions: []Position{}, Problems: []Problem{}}, summary{}
	var other *input.Document // the first that is not a CRD
	text.Each(func(doc *input.Document) {
		if err != nil || ctx.Err() != nil {
			return
		}
		var r *Reviewed
		if r, err = d.Vet(ctx, doc); r == nil || err != nil {
			if other == nil {
				other = doc
			}
			return
		}
		sum.count(r.one)
		all.add(r.one)
		err = p.crd(r.one)
	})
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = p.end(&sum)
	}
	all.Report = out.Bytes()
	if len(all.crds) == 0 {
		all.Problems = append(all.Problems, noCRD(other))
	}
	return all, err
}

// noCRD returns the problem of a text without CRDs. other is its first document, or nil.
func noCRD(other *input.Document) Problem {
	if other == nil {
		return Problem{Message: "no CustomResourceDefinition: the input is empty", Line: 1}
	}
	p := Problem{Message: "not a CustomResourceDefinition: kind is missing", Line: other.Line}
	if kind := other.Object["kind"]; kind != nil {
		p.Message = fmt.Sprintf("not a CustomResourceDefinition: kind is %s", preview.JSON(kind, maxKind))
		if at := other.Locate([]string{"kind"})[0]; at.Line > 0 {
			p.Line, p.Column = at.Line, at.Column
		}
	}
	return p
}

// maxKind limits how much of an unexpected kind is shown.
const maxKind = 60

// problems returns the reasons for a missing verdict or for missing causes.
func (one *vetted) problems() (list []Problem) {
	var syntax *input.SyntaxError
	if one.problem != nil {
		p := Problem{Message: one.problem.Error(), Line: one.doc.Line}
		if errors.As(one.problem, &syntax) && syntax.Line > 0 {
			p.Line = syntax.Line
		}
		return []Problem{p}
	}
	if one.undecided() {
		return []Problem{{Message: one.report.Undecided.Error(), Line: one.doc.Line}}
	}
	if one.report.Status == nil || len(one.report.Causes) > 0 {
		return nil
	}
	for _, at := range one.strict(0) {
		message := at.Message
		if message == "" {
			message = fmt.Sprintf("unknown field %q", at.Field)
		}
		if at.Hint != "" {
			message += ", " + at.Hint
		}
		list = append(list, Problem{message, at.Line, at.Column})
	}
	if len(list) == 0 {
		list = append(list, Problem{Message: one.report.Status.Message, Line: one.doc.Line})
	}
	return list
}

// Reports returns the reports of the CRDs that could be read.
func (v *Vetted) Reports() (list []*vet.Report) {
	for _, one := range v.crds {
		if one.report != nil {
			list = append(list, one.report)
		}
	}
	return list
}

func (v *Vetted) add(one *vetted) {
	v.crds = append(v.crds, one)
	v.Problems = append(v.Problems, one.problems()...)
	rejection := ""
	if one.report != nil && one.report.Status != nil {
		rejection = string(print.KubectlError(one.kubectl(0)))
	}
	v.Rejections = append(v.Rejections, rejection)
	if one.report == nil {
		return
	}
	var positions []Position
	var fields []string
	for _, of := range one.report.Versions {
		for i := range of.Rules {
			r := &of.Rules[i]
			positions = append(positions, Position{CRD: one.report.Name, Version: of.Name, Path: r.Path, Index: r.Index})
			fields = append(fields, r.Field)
		}
		for _, a := range of.Advice {
			positions = append(positions, Position{CRD: one.report.Name, Version: of.Name, Path: a.Path, Set: a.Set})
			fields = append(fields, a.Field)
		}
	}
	for i, found := range one.inYAML(fields, 0) {
		positions[i].Line, positions[i].Column = found.Line, found.Column
	}
	v.Positions = append(v.Positions, positions...)
}

// Fixed returns the text with the advised bounds that wanted selects.
func (v *Vetted) Fixed(wanted func(crd, version string, a vet.Advice) bool) ([]byte, error) {
	var docs []*input.Document
	var fixes []*fix.Vetted
	for _, one := range v.crds {
		if one.report == nil {
			continue
		}
		less := *one.report
		less.Versions = slices.Clone(less.Versions)
		for at := range less.Versions {
			of := &less.Versions[at]
			of.Advice = slices.DeleteFunc(slices.Clone(of.Advice), func(a vet.Advice) bool { return !wanted(less.Name, of.Name, a) })
		}
		docs, fixes = append(docs, one.doc), append(fixes, &fix.Vetted{Report: &less})
	}
	return fix.Text(v.text, docs, fixes)
}
