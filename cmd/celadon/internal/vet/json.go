package vet

import (
	"io"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/analysis/lint"
	"github.com/celadon-cel/celadon/x/analysis/prove"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

// The JSON form is a published contract.

type wholeReport struct {
	Kind        string         `json:"kind"`
	APIVersion  string         `json:"apiVersion"`
	KubeVersion string         `json:"kubeVersion"`
	Summary     *summary       `json:"summary"`
	CRDs        []CRDReport    `json:"crds"`
	Policies    []policyReport `json:"policies,omitempty"`
	// Findings is set for Go packages: causes, lints, and advice, once per marker, and findings
	// about the Go source itself.
	Findings []goReport `json:"findings,omitempty"`
}

// CRDReport is the report about a CRD.
type CRDReport struct {
	File     string `json:"file"`
	Document int    `json:"document"`
	Item     int    `json:"item"`
	Line     int    `json:"line"`
	Name     string `json:"name"`
	Accepted bool   `json:"accepted"`
	Problem  string `json:"problem,omitempty"`
	// Undecided is set if the CRD exceeds the work limit and has no other error. Problem has the details.
	Undecided bool `json:"undecided,omitempty"`
	// ShortNames and Categories are other names in kubectl get.
	ShortNames []string        `json:"shortNames,omitempty"`
	Categories []string        `json:"categories,omitempty"`
	Status     *finding.Status `json:"status,omitempty"`
	Causes     []finding.Cause `json:"causes"`
	// Strict lists the positions of keys, and of values of the wrong type, that the server rejects when it decodes
	// the CRD. Following lists the causes that the server would report once the other errors are fixed.
	Strict    []finding.Location `json:"strict,omitempty"`
	Following []finding.Cause    `json:"following,omitempty"`
	// Panic is the part of a rule that makes the server panic, if known.
	Panic    *finding.Cause  `json:"panic,omitempty"`
	Warnings []string        `json:"warnings"`
	Lints    []lintReport    `json:"lints"`
	Minimum  string          `json:"minKubeVersion,omitempty"`
	Needs    []vet.Need      `json:"needs"`
	Versions []versionReport `json:"versions"`
	// KubeVersions is set if --kube-version lists several versions, or is not set.
	KubeVersions []finding.KubeVersion `json:"kubeVersions,omitempty"`
}

type lintReport struct {
	Lint    string `json:"lint"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path"`
	Index   int    `json:"index"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	// Witness, Proof, and Fixes are set only with --find.
	Witness *witnessReport `json:"witness,omitempty"`
	Proof   string         `json:"proof,omitempty"`
	Fixes   []fixReport    `json:"mends,omitempty"`
}

type witnessReport struct {
	Operation search.Operation `json:"operation"`
	Object    map[string]any   `json:"object"`
	Old       map[string]any   `json:"old,omitempty"`
	// MadeUp lists paths with format password.
	MadeUp []string `json:"madeUp,omitempty"`
}

type fixReport struct {
	Rule string `json:"rule"`
	// Keeps is set if the CRD accepts no more objects than before.
	Keeps bool `json:"keeps"`
	// Effect is "equivalent" if the rule has the same result for each object, "wanted" if it has other
	// results that the author probably wants, and not set if it only guards the rule.
	Effect string `json:"effect,omitempty"`
	// Proof is set if it is proved that the rule never fails, or is equivalent. Otherwise the rule did
	// not fail, or had the same result, on the number of objects in Searched.
	Proof    string `json:"proof,omitempty"`
	Searched int    `json:"searched,omitempty"`
}

type versionReport struct {
	*vet.Version
	Rules []ruleReport `json:"rules"`
}

type ruleReport struct {
	*vet.Rule
	Factors []factorReport `json:"factors"`
	Reason  *reasonReport  `json:"reason,omitempty"`
}

type factorReport struct {
	Path string `json:"path"`
	Set  string `json:"bound"`
	// Max is null if the bound is missing.
	Max *uint64 `json:"max"`
}

type reasonReport struct {
	vet.Reason
	// EstimatedTotal is the estimate in Kubernetes KubeVersion, if the reason has one.
	EstimatedTotal uint64 `json:"estimatedTotal,omitempty"`
}

type jsonPrinter struct {
	out         io.Writer
	kubeVersion string
	crds        []CRDReport
	policies    []policyReport
	findings    []goReport
}

func (p *jsonPrinter) crd(one *vetted) error {
	p.crds = append(p.crds, newCRDReport(one))
	return nil
}

func (p *jsonPrinter) end(s *summary) error {
	if p.crds == nil {
		p.crds = []CRDReport{}
	}
	return print.JSON(p.out, wholeReport{Kind: "VetReport", APIVersion: "celadon/v1", KubeVersion: p.kubeVersion, Summary: s, CRDs: p.crds, Policies: p.policies, Findings: p.findings})
}

func newCRDReport(one *vetted) CRDReport {
	rep := CRDReport{
		File: one.doc.File, Document: one.doc.Index, Item: one.doc.Item, Line: one.doc.Line,
		Causes: []finding.Cause{}, Warnings: []string{}, Lints: []lintReport{}, Needs: []vet.Need{}, Versions: []versionReport{},
	}
	if one.problem != nil {
		rep.Problem = one.problem.Error()
		return rep
	}
	r := one.report
	rep.Name, rep.Accepted, rep.Minimum = r.Name, one.accepted(), r.MinKubeVersion
	rep.ShortNames, rep.Categories = one.names("shortNames"), one.names("categories")
	rep.Warnings = append(rep.Warnings, r.Warnings...)
	if r.Undecided != nil {
		rep.Undecided, rep.Problem = one.undecided(), r.Undecided.Error()
	}
	if s := r.Status; s != nil {
		rep.Status = &finding.Status{Code: s.Code, Reason: string(s.Reason), Message: s.Message}
	}
	rep.Causes = append(rep.Causes, one.causes(0)...)
	rep.Strict, rep.Following = one.strict(0), one.following(rep.Causes, 0)
	rep.Panic = one.panic(0)
	rep.Lints = one.lintReports()
	rep.Needs = append(rep.Needs, r.Needs...)
	for i := range r.Versions {
		rep.Versions = append(rep.Versions, newVersionReport(&r.Versions[i]))
	}
	for _, v := range r.KubeVersions {
		rep.KubeVersions = append(rep.KubeVersions, finding.NewKubeVersion(v))
	}
	return rep
}

func (one *vetted) lintReports() []lintReport {
	list := []lintReport{}
	for i, at := range one.lintLocations(0) {
		l := &one.lints[i]
		rep := lintReport{
			Lint: l.Name, Version: l.Version, Path: l.Path, Index: l.Index, Rule: l.Rule, Message: l.Message,
			File: at.File, Line: at.Line, Column: at.Column, Proof: proofText(l.Proof),
		}
		if w := l.Witness; w != nil {
			rep.Witness = &witnessReport{w.Operation, w.Object, w.Old, l.MadeUp}
		}
		for _, m := range l.Rewrites {
			effect := map[lint.Effect]string{lint.Equivalent: "equivalent", lint.Wanted: "wanted"}[m.Effect]
			rep.Fixes = append(rep.Fixes, fixReport{m.Rule, m.Keeps, effect, proofText(m.Proof), m.Searched})
		}
		list = append(list, rep)
	}
	return list
}

func proofText(p *prove.Proof) string {
	if p == nil {
		return ""
	}
	return p.String()
}

func newVersionReport(v *vet.Version) versionReport {
	notNull(&v.Advice)
	rep := versionReport{v, []ruleReport{}}
	for i := range v.Rules {
		rule := ruleReport{Rule: &v.Rules[i], Factors: []factorReport{}}
		notNull(&rule.Advice)
		for _, f := range rule.Rule.Factors {
			one := factorReport{Path: f.Path, Set: f.Word()}
			if f.Bounded {
				one.Max = &f.Max
			}
			rule.Factors = append(rule.Factors, one)
		}
		if r := rule.Rule.Reason; r != nil {
			rule.Reason = &reasonReport{Reason: *r}
			notNull(&rule.Reason.Missing)
			notNull(&rule.Reason.Notes)
			if r.KubeVersion != "" {
				rule.Reason.EstimatedTotal = r.EstimatedTotal
			}
		}
		rep.Rules = append(rep.Rules, rule)
	}
	return rep
}

// notNull makes an empty list [] in JSON.
func notNull[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}
