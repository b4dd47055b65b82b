package policyvet

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

const conditionsBudget = celconfig.RuntimeCELCostBudgetMatchConditions

// Config determines which findings Vet reports.
type Config struct {
	// KubeVersion is the Kubernetes minor to emulate, such as "1.33", or "" for the newest.
	KubeVersion string
	// KubeVersions lists minors whose verdicts are reported. Reports have them in ascending order.
	KubeVersions []string
	// Schemas holds the kinds whose schemas are known. It must be made for the same KubeVersion. If it is nil, only
	// built-in kinds are known.
	Schemas *Schemas
	// Server knows the versions and the defaults of built-in kinds. If it is nil, lints do not consider them.
	Server policyrequest.Server
	// Without lists the names of lints to disable.
	Without []string
}

// A Report is the analysis of a document.
type Report struct {
	// Document is the index of the document in the argument of Vet. Kind and Name are the document's.
	Document   int
	Kind, Name string
	// Accepted is set if the API server accepts the document, which then has no Errors.
	Accepted bool
	Errors   []Error
	Warnings []Warning
	Lints    []Lint
	// Estimates has items for kinds that the document matches and whose schemas are known. Each webhook of a
	// configuration has its own.
	Estimates []Estimate
	// MinKubeVersion is the lowest minor since which all minors accept the document, or "".
	MinKubeVersion string
	// KubeVersions holds the verdicts of Config.KubeVersions.
	KubeVersions []KubeVersion
	// Limited is the reason why the types of some kinds were not checked, or "".
	Limited string
}

// An Error is a reason why the API server rejects a document.
type Error struct {
	// Path is the field, or "" for the whole document. Expression is the expression there, if it is one.
	Path       string `json:"path"`
	Expression string `json:"expression,omitempty"`
	Message    string `json:"message"`
	Advice
}

// Advice locates a finding in its expression and describes a correction.
type Advice struct {
	// Offset is the position of the part of the expression that the finding is about, in code points.
	Offset int `json:"-"`
	// Hint describes a correction on one line, or is "". Fixed is the corrected expression, or "".
	Hint  string `json:"-"`
	Fixed string `json:"-"`
}

// A KubeVersion is the verdict of a Kubernetes minor.
type KubeVersion struct {
	Version  string  `json:"version"`
	Accepted bool    `json:"accepted"`
	Errors   []Error `json:"errors"`
}

// Vet analyzes the documents for which IsVetted is true, in their order. The error is ctx's, an invalid
// configuration, or an internal error. documents are not modified.
func Vet(ctx context.Context, documents []map[string]any, cfg Config) (reports []*Report, err error) {
	defer func() {
		if p := recover(); p != nil {
			reports, err = nil, &policy.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()}
		}
	}()
	version, err := types.ParseVersion(cfg.KubeVersion)
	if err != nil {
		return nil, err
	}
	if cfg.Schemas == nil {
		if cfg.Schemas, err = NewSchemas(cfg.KubeVersion, nil); err != nil {
			return nil, err
		}
	}
	v := &vetter{cfg: cfg, version: version, limits: cost.Limits{}.WithDefaults()}
	for i, doc := range documents {
		if IsVetted(doc) {
			v.documents = append(v.documents, doc)
			v.reports = append(v.reports, &Report{Document: i, Kind: fmt.Sprint(doc["kind"]), Name: nameOf(doc)})
		}
	}
	if len(v.reports) == 0 {
		return nil, nil
	}
	v.batches = newBatches(v.documents)
	if err := v.verdicts(ctx); err != nil {
		return nil, err
	}
	return v.reports, v.findings(ctx)
}

type vetter struct {
	cfg       Config
	version   types.Version
	limits    cost.Limits
	documents []map[string]any
	reports   []*Report // of documents
	batches   [][]int   // indexes of documents that are compiled together
	// checks counts the expressions that were type-checked, and issues the expressions with type errors, once per
	// kind.
	checks, issues int
}

func (v *vetter) verdicts(ctx context.Context) error {
	newest := types.Newest
	if v.version.Preview() || slices.Contains(v.cfg.KubeVersions, types.Version{Minor: types.Last}.String()) {
		newest = types.Last
	}
	for minor := newest; minor >= types.Oldest; minor-- {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		version := types.Version{Minor: minor}
		errs, err := v.compile(version)
		if err != nil {
			return err
		}
		for i, r := range v.reports {
			if version == v.version {
				r.Errors, r.Accepted = errs[i], len(errs[i]) == 0
			}
			if len(errs[i]) == 0 && (minor >= types.Newest || r.MinKubeVersion == (types.Version{Minor: minor + 1}).String()) {
				r.MinKubeVersion = version.String()
			}
			if slices.Contains(v.cfg.KubeVersions, version.String()) {
				r.KubeVersions = append(r.KubeVersions, KubeVersion{version.String(), len(errs[i]) == 0, errs[i]})
			}
		}
	}
	for _, r := range v.reports {
		slices.Reverse(r.KubeVersions)
	}
	return nil
}

func (v *vetter) compile(version types.Version) ([][]Error, error) {
	errs := make([][]Error, len(v.documents))
	for _, batch := range v.batches {
		docs := make([]map[string]any, len(batch))
		for i, at := range batch {
			docs[i] = v.documents[at]
		}
		_, err := policy.Compile(docs, policy.Config{KubeVersion: version.String(), New: true})
		var invalid *policy.CompileErrors
		if err != nil && !errors.As(err, &invalid) {
			return nil, err
		}
		if invalid == nil {
			continue
		}
		for _, e := range invalid.Errors {
			if at := batch[e.Document]; !v.isUnbound(at, e) {
				errs[at] = append(errs[at], Error{e.Path, v.expression(at, e.Path), e.Detail, Advice{Offset: e.Offset}})
			}
		}
	}
	for i, doc := range v.documents {
		if problem, isError := unserved(doc, version.Minor); isError {
			errs[i] = append(errs[i], Error{Path: "apiVersion", Message: problem})
		}
	}
	return errs, nil
}

// newBatches returns the indexes of documents in batches, each without documents of the same kind and
// name. Such documents are variants, which a set of policies cannot contain.
func newBatches(documents []map[string]any) (batches [][]int) {
	seen := map[[2]string]int{}
	for i, doc := range documents {
		k := [2]string{fmt.Sprint(doc["kind"]), nameOf(doc)}
		n := seen[k]
		seen[k]++
		if n == len(batches) {
			batches = append(batches, nil)
		}
		batches[n] = append(batches[n], i)
	}
	return batches
}

// isUnbound reports whether an error is that the policy of a binding is not among the documents. The
// API server accepts such a binding, so this is a lint.
func (v *vetter) isUnbound(document int, e *policy.CompileError) bool {
	var d bindingDocument
	return policyKindOf(e.Kind) != "" && e.Path == "spec.policyName" && decode(v.documents[document], &d) == nil && d.Spec.PolicyName != ""
}

func (v *vetter) expression(document int, path string) string {
	if !strings.HasSuffix(strings.ToLower(path), "expression") {
		return ""
	}
	source, _ := valueAt(v.documents[document], path).(string)
	return source
}

func (r *Report) hasError(path string) bool {
	return slices.ContainsFunc(r.Errors, func(e Error) bool { return e.Path == path })
}

func (v *vetter) findings(ctx context.Context) error {
	l := newLinter(v.version, &v.cfg)
	subjects := make([][]*subject, len(v.documents))
	for i, doc := range v.documents {
		subjects[i] = subjectsOf(v.cfg.Schemas.env, doc)
		l.subjects = append(l.subjects, subjects[i]...)
		l.add(doc)
	}
	for i, r := range v.reports {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		l.lint(v.documents[i], subjects[i], r)
		if len(subjects[i]) == 0 {
			continue
		}
		c, err := policy.NewTypeChecker(v.documents[i], policy.Config{KubeVersion: v.version.String()})
		if err != nil {
			continue // compiling has reported it
		}
		for _, s := range subjects[i] {
			s.document = v.documents[i]
			v.explainErrors(r, c, s)
			v.swallowed(r, s)
			if r.Kind == mutatingKind { // the server does not check the types of mutations
				continue
			}
			if err := v.typeCheck(ctx, r, c, s); err != nil {
				return err
			}
		}
	}
	return nil
}
