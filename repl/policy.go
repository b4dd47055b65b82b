package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/x/assist"
)

// policies holds the admission policies of a session. They are immutable.
type policies struct {
	set *policy.Set
	// problems describes invalid policies and bindings.
	problems []string
}

func newPolicies(docs []Document, kube string) (*policies, error) {
	var objects []map[string]any
	for _, doc := range docs {
		obj, err := engine.Decode(doc.JSON)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", doc.File, doc.Line, err)
		}
		objects = append(objects, obj)
	}
	set, err := policy.Compile(objects, policy.Config{KubeVersion: kube})
	var invalid *policy.CompileErrors
	switch {
	case errors.As(err, &invalid):
	case err != nil:
		return nil, err
	}
	p := &policies{set: set}
	if invalid != nil {
		for _, e := range invalid.Errors {
			p.problems = append(p.problems, fmt.Sprintf("%s:%d: %v", docs[e.Document].File, docs[e.Document].Line, e))
		}
	}
	for _, info := range set.Policies() {
		if len(info.Bindings) == 0 {
			p.problems = append(p.problems, fmt.Sprintf("policy %s has no effect because it has no binding", info.Name))
		}
	}
	if len(set.Policies()) == 0 && len(p.problems) == 0 {
		return nil, errors.New("no ValidatingAdmissionPolicy found")
	}
	return p, nil
}

// notes returns lines for problems.
func notes(problems []string) string {
	var b strings.Builder
	for _, problem := range problems {
		fmt.Fprintf(&b, "note: %s\n", printable(problem))
	}
	return b.String()
}

// policyKind is the kind of policies.
var policyKind = schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}

func (p *policies) names() (names []string) {
	if p == nil {
		return nil
	}
	for _, info := range p.set.Policies() {
		if info.Kind == policyKind.Kind {
			names = append(names, info.Name)
		}
	}
	return names
}

// LoadPolicies makes docs the session's admission policies, with everything that they refer to. The
// result describes invalid policies and bindings.
func (s *Session) LoadPolicies(docs []Document) (problems []string, err error) {
	p, err := newPolicies(docs, s.state.kube)
	if err != nil {
		return nil, err
	}
	next := *s.state
	next.policies, next.policy = p, ""
	return p.problems, s.commit(&next, next.steps)
}

var errNoPolicies = errors.New("no policies are loaded: run :load policy FILE")

// policyCommand implements :policy. Without an argument, it prints the decisions of the policies about a
// write of the object, and with delete, about its deletion. With the name of a policy, expressions
// have its variables from then on.
func policyCommand(ctx context.Context, s *Session, arg string) (string, error) {
	st := s.state
	switch {
	case st.policies == nil:
		return "", errNoPolicies
	case arg == "" || arg == "delete":
		return s.decisions(ctx, arg == "delete")
	case arg != "-" && !slices.Contains(st.policies.names(), arg):
		return "", fmt.Errorf("no policy %q: want %s, delete, or - to leave a policy", arg, strings.Join(st.policies.names(), ", "))
	}
	next := *st
	if next.policy = arg; arg == "-" {
		next.policy = ""
	}
	next.command = s.doing
	s.past, s.future = append(s.past, st), nil
	s.enter(&next)
	return "", nil
}

// policyRequest returns the request for a write of the object, or for its deletion. The CRD must
// accept the write if accepted is set.
func (s *Session) policyRequest(ctx context.Context, deletes, accepted bool) (*policy.Request, error) {
	st := s.state
	switch {
	case st.crd == nil:
		return nil, ErrNoCRD
	case st.object == nil:
		return nil, errNoObject
	case st.here() == nil:
		return nil, s.noSelf()
	}
	spec := &st.crd.def.Spec
	req := &policy.Request{
		Operation: policy.OperationCreate, Object: st.visible(st.object), OldObject: st.visible(st.old), Subresource: st.subresource,
		Resource: schema.GroupVersionResource{Group: spec.Group, Version: st.version, Resource: spec.Names.Plural},
		Kind:     schema.GroupVersionKind{Group: spec.Group, Version: st.version, Kind: spec.Names.Kind},
		User:     policy.User{Name: "kubernetes-admin", Groups: []string{"kubeadm:cluster-admins", "system:authenticated"}},
	}
	meta, _ := st.object.value["metadata"].(map[string]any)
	req.Name, _ = meta["name"].(string)
	if st.crd.engine.Info().Namespaced {
		if req.Namespace, _ = meta["namespace"].(string); req.Namespace == "" {
			req.Namespace = "default"
		}
	}
	switch {
	case deletes:
		req.Operation, req.Object, req.OldObject = policy.OperationDelete, nil, req.Object
	case st.old != nil:
		req.Operation = policy.OperationUpdate
	}
	if !accepted || deletes {
		return req, nil
	}
	res, err := st.validate(ctx)
	switch {
	case err != nil:
		return nil, err
	case !res.Allowed:
		return nil, errors.New("the object is rejected, so no policy is evaluated: run :check for details")
	}
	req.Object = res.Object
	return req, nil
}

// decisions returns the decisions of the policies about the object.
func (s *Session) decisions(ctx context.Context, deletes bool) (string, error) {
	p := s.state.policies
	req, err := s.policyRequest(ctx, deletes, true)
	if err != nil {
		return "", err
	}
	res, err := p.set.Evaluate(ctx, *req)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(termwidth.Fold(notes(p.problems), s.Width, 2))
	fmt.Fprintf(&b, "%s by %s: %s, %s\n", strings.ToLower(string(req.Operation)), req.User.Name, policyCount(len(p.names())), verdictOf(res))
	for i := range res.Evaluations {
		s.evaluation(ctx, &b, req, &res.Evaluations[i])
	}
	for _, u := range res.Undecided {
		fmt.Fprintf(&b, "  %s\n", printable(u.String()))
	}
	return b.String(), nil
}

func policyCount(n int) string {
	if n == 1 {
		return "1 policy"
	}
	return fmt.Sprintf("%d policies", n)
}

func verdictOf(res *policy.Result) string {
	switch {
	case !res.Allowed:
		return "denied"
	case len(res.Undecided) > 0:
		return "undecided"
	case len(res.Evaluations) == 0:
		return "none matches"
	}
	return "accepted"
}

// evaluation writes the evaluation of a policy with the values in its failed expressions.
func (s *Session) evaluation(ctx context.Context, b *strings.Builder, req *policy.Request, e *policy.Evaluation) {
	head := fmt.Sprintf("  policy %s, binding %s", e.Policy, e.Binding)
	if e.Params != "" {
		head += ", params " + e.Params
	}
	switch {
	case e.Excluded:
		fmt.Fprintf(b, "%s: excluded by matchConditions %s\n", printable(head), printable(e.Condition))
		return
	case len(e.Decisions) == 0:
		fmt.Fprintf(b, "%s: ok (cost %s)\n", printable(head), phrase.Number(uint64(e.Cost+e.MatchCost)))
		return
	}
	fmt.Fprintf(b, "%s (cost %s)\n", printable(head), phrase.Number(uint64(e.Cost+e.MatchCost)))
	for _, d := range e.Decisions {
		actions := make([]string, len(d.Actions))
		for i, a := range d.Actions {
			actions[i] = string(a)
		}
		fmt.Fprintf(b, "    spec.validations[%d]: %s: %s\n", d.Validation, strings.Join(actions, ", "), printable(d.Message))
		values, err := s.state.policies.set.Explain(ctx, *req, e, d.Validation)
		if err != nil {
			continue
		}
		for _, v := range values {
			shown := "(" + v.Problem + ")"
			if v.Problem == "" {
				shown = preview.JSON(v.Value, maxValue)
			}
			fmt.Fprintf(b, "      %s: %s\n", printable(v.Expression), printable(shown))
		}
	}
}

// evalInPolicy evaluates an expression with the variables of the current policy.
func (s *Session) evalInPolicy(ctx context.Context, src string) Reply {
	req, err := s.policyRequest(ctx, false, false)
	if err != nil {
		return s.failed(err)
	}
	out, err := s.state.policies.set.Eval(ctx, *req, s.state.policy, src)
	if err != nil {
		return s.failed(err)
	}
	var b strings.Builder
	switch {
	case out.Undecided != "":
		fmt.Fprintf(&b, "undecided: %s\n", printable(out.Undecided))
	case out.Failure != "":
		fmt.Fprintf(&b, "error: %s\n", printable(out.Failure))
	default:
		readable := asYAML(out.Value)
		value := printable(formatJSON(out.Value))
		if readable != "" {
			value = cutLine(value, s.Width)
		}
		b.WriteString(value + "\n" + indent(printable(readable)))
	}
	fmt.Fprintf(&b, "  : %s; cost %s\n", printable(out.Type), phrase.Number(uint64(out.Cost)))
	return Reply{Text: b.String(), Failed: out.Failure != "" || out.Undecided != ""}
}

// completeInPolicy returns completions at the end of an expression of a policy. Fields of object and
// oldObject are those of the CRD.
func (s *Session) completeInPolicy(src []rune) assist.Completion {
	p := &assist.PolicyContext{Object: s.helper(), Variables: s.state.policies.set.VariableNames(s.state.policy)}
	return p.Complete(src)
}
