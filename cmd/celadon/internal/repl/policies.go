package repl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

func hasPolicies(docs []*input.Document) bool {
	for _, doc := range docs {
		id := doc.Identity()
		if id.GroupKind().Group == admissionregistrationv1.GroupName && strings.Contains(id.Kind, "AdmissionPolicy") {
			return true
		}
	}
	return false
}

// policies evaluates the expressions of the policies among docs for requests with the objects in inputs, which are
// made as in celadon check.
func (e *evaluation) policies(ctx context.Context, docs, inputs []*input.Document) error {
	cfg := engine.Config{KubeVersion: e.KubeVersion}
	crds := verdict.NewCRDs(cfg)
	var err error
	if e.CRD != "" {
		if crds, err = verdict.Read(ctx, e.files(e.CRD), &resource.Filter{Named: []string{e.CRD}}, verdict.Use{}, cfg); err != nil {
			return err
		}
	}
	set, err := policies.FromDocuments(docs, []string{e.Expressions}, policy.Config{KubeVersion: e.KubeVersion, Namespaced: crds.Namespaced()})
	if err != nil {
		return fmt.Errorf("--expressions: %w", err)
	}
	for _, problem := range append(set.Problems, set.Unbound...) {
		e.Complain(problem)
	}
	olds := verdict.NewOlds()
	if e.Old != "" {
		old, err := e.objects(ctx, e.Old)
		if err != nil {
			return err
		}
		for _, doc := range old {
			olds.Take(verdict.ReadOld(doc), crds, nil)
		}
	}
	p := &policyPrinter{evaluation: e, set: set}
	decider := verdict.New(verdict.Config{
		KubeVersion: e.KubeVersion, Validation: "Strict", Subresource: e.Subresource, Olds: olds, Server: builtins.Alone(),
		Admission: &verdict.Admission{Policies: set, User: policyrequest.User("", nil)}, ObservePolicy: p.evaluated,
	}, crds)
	for _, p.object = range inputs {
		p.found = false
		result := decider.Decide(ctx, p.object)
		if result == nil {
			return context.Cause(ctx)
		}
		if p.err != nil {
			return p.err
		}
		if !p.found {
			p.failed = true
			e.Complain(fmt.Errorf("%s: no expression is evaluated: %s", p.object.Location(), unevaluated(result)))
		}
	}
	switch {
	case p.failed || len(set.Problems) > 0:
		return &command.ExitError{Code: command.Usage}
	case e.ExitStatus && p.isFalse:
		return &command.ExitError{Code: command.Findings}
	}
	return nil
}

func unevaluated(result *finding.Object) string {
	switch {
	case len(result.Policies) > 0:
		return result.Policies[0].Message
	case result.Status != nil:
		return "the object is rejected before the policies, as celadon check shows"
	case result.Problem != "":
		return result.Problem
	}
	return "no validating policy with a binding matches the request"
}

type policyPrinter struct {
	*evaluation
	set                    *policies.Policies
	object                 *input.Document
	found, failed, isFalse bool
	err                    error
}

func (p *policyPrinter) evaluated(of policy.Evaluation, values []policy.ExpressionValue) {
	p.found = p.found || len(values) > 0
	id := p.object.Identity()
	object := strings.TrimPrefix(id.Namespace+"/"+id.Name, "/")
	for i := range values {
		v := &values[i]
		isValidation := strings.HasPrefix(v.Path, "spec.validations[") && strings.HasSuffix(v.Path, "].expression")
		p.failed, p.isFalse = p.failed || v.Problem != "", p.isFalse || isValidation && v.Value == false
		rep := expressionReport{
			Path: v.Path, Expression: v.Expression, Object: id.Kind + " " + object, Policy: of.Policy, Binding: of.Binding, Params: of.Params,
			Value: v.Value, Error: v.Problem,
		}
		rep.File, rep.Line = p.set.Position(policies.Kind, of.Policy, v.Path)
		p.err = errors.Join(p.err, p.print(&rep))
	}
}
