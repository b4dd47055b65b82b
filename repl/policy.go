package repl

import (
	"cmp"
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
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// maxHints limits the errors of policies that get hints.
const maxHints = 20

// policies holds the admission policies of a session. It is immutable.
type policies struct {
	set      *policy.Set
	problems []string
}

// LoadPolicies makes docs the session's admission policies, with everything that they refer to. The
// result describes invalid policies and bindings, and policies without a binding.
func (s *Session) LoadPolicies(docs []Document) (problems []string, err error) {
	var objects []map[string]any
	for _, doc := range docs {
		obj, err := engine.Decode(doc.JSON)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", doc.File, doc.Line, err)
		}
		objects = append(objects, obj)
	}
	set, err := policy.Compile(objects, policy.Config{KubeVersion: s.state.kube})
	var invalid *policy.CompileErrors
	if err != nil && !errors.As(err, &invalid) {
		return nil, err
	}
	p := &policies{set: set}
	if invalid != nil {
		for i, e := range invalid.Errors {
			text := fmt.Sprintf("%s:%d: %v", docs[e.Document].File, docs[e.Document].Line, e)
			if i < maxHints && !e.Dropped {
				if hint := assist.PolicyHint(objects[e.Document], e, set.KubeVersion()); hint != "" {
					text += "\nhint: " + hint
				}
			}
			p.problems = append(p.problems, text)
		}
	}
	for _, info := range set.Policies() {
		if len(info.Bindings) == 0 && !info.Rejected {
			p.problems = append(p.problems, fmt.Sprintf("policy %s has no effect because it has no binding", info.Name))
		}
	}
	if len(set.Policies()) == 0 && len(p.problems) == 0 {
		return nil, errors.New("no ValidatingAdmissionPolicy found")
	}
	next := *s.state
	next.policies, next.policy = p, ""
	return p.problems, s.commit(&next, next.steps)
}

func notes(problems []string) string {
	var b strings.Builder
	for _, problem := range problems {
		fmt.Fprintf(&b, "note: %s\n", printable(problem))
	}
	return b.String()
}

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

var errNoPolicies = errors.New("no policies are loaded: run :load policy FILE")

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
	return "", s.commit(&next, next.steps)
}

// A review takes a write of the object through admission.
type review struct {
	policyrequest.Review
	to   policyrequest.Subject
	kind *policyrequest.Builtin // nil for a custom resource
	// object and old are the objects as rules see them.
	object, old map[string]any
}

func (s *Session) review(ctx context.Context, deletes bool) (r *review, err error) {
	st := s.state
	switch {
	case st.crd == nil:
		return nil, ErrNoCRD
	case st.object == nil:
		return nil, errNoObject
	case st.here() == nil:
		return nil, s.noSelf()
	}
	r = &review{object: st.visible(st.object), old: st.visible(st.old)}
	meta, _ := r.object["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	namespace, _ := meta["namespace"].(string)
	if r.Name = name; deletes {
		r.object, r.old = nil, r.object
	}
	if r.old == nil && st.subresource != "" {
		r.old = r.object // see state.write
	}
	r.Set, r.User, r.Subresource, r.Builtins = st.policies.set, policyrequest.User("", nil), st.subresource, s.host.Builtins
	if len(st.user) > 0 {
		r.User = policyrequest.User(st.user[0], st.user[1:])
	}
	r.Operation = policyrequest.OperationOf(r.object, r.old)
	if s.host.Now != nil {
		r.Now = s.host.Now()
	}
	if st.crd.builtins != nil {
		kind := kindIn(st.object.value)
		if r.kind, err = st.crd.builtins.Kind(kind, engine.Config{}); err != nil || r.kind == nil {
			return nil, cmp.Or(err, fmt.Errorf("no built-in kind %s", kind))
		}
		r.to, r.Namespace = r.kind.Subject(), r.kind.Namespace(namespace, name)
		return r, nil
	}
	custom := policyrequest.NewCustom(st.crd.def, st.crd.engine)
	r.to = custom.Subject(ctx, st.crd.def.Spec.Group+"/"+st.version)
	if custom.Namespaced() {
		r.Namespace = cmp.Or(namespace, "default")
	}
	return r, nil
}

// decide returns an error if anything other than a policy rejects the object.
func (r *review) decide(ctx context.Context, st *state) (err error) {
	res := &engine.Result{Allowed: true}
	req, goesOn := st.request(), true
	if r.object != nil {
		if req, err = st.sent(ctx, req); err != nil {
			return err
		}
	}
	switch {
	case r.kind != nil:
		if goesOn = false; r.object == nil {
			req.Object, req.OldObject = nil, req.Object
		}
		w := st.builtinWrite(req)
		w.Namespace = r.Namespace
		res, err = r.WriteBuiltin(ctx, r.kind, w, false)
	case r.object != nil:
		if goesOn, err = r.MutateCustom(ctx, &r.to, st.crd.engine, &req); err == nil && goesOn {
			res, err = st.crd.engine.Validate(ctx, req)
		}
	}
	switch {
	case err != nil:
		return err
	case r.Denied != nil || r.Undecided != "":
	case !res.Allowed:
		return errors.New("the object is rejected, so no policy is evaluated: run :check for details")
	case goesOn:
		_, err = r.Validate(ctx, &r.to, res.Object, r.old)
	}
	return err
}

func (s *Session) decisions(ctx context.Context, deletes bool) (string, error) {
	p := s.state.policies
	r, err := s.review(ctx, deletes)
	if err == nil {
		err = r.decide(ctx, s.state)
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(termwidth.Fold(notes(p.problems), s.Width, 2))
	fmt.Fprintf(&b, "%s by %s: %s, %s\n", strings.ToLower(string(r.Operation)), r.User.Name, policyCount(len(p.names())), r.verdict())
	for i := range r.Mutations {
		m := &r.Mutations[i]
		if m.Changed {
			fmt.Fprintf(&b, "  policy %s, binding %s: changes the object\n", printable(m.Policy), printable(m.Binding))
		}
		if req, e, index, ok := m.Failing(); ok {
			fmt.Fprintf(&b, "  policy %s, binding %s: %s fails\n", printable(m.Policy), printable(m.Binding), printable(policyField("spec.mutations", index, m.Condition)))
			s.values(ctx, &b, &req, e, index)
		}
	}
	if r.Evaluated == nil {
		why := r.Undecided
		if r.Denied != nil {
			why = r.Denied.Message
		}
		fmt.Fprintf(&b, "  %s\n", printable(why))
		return b.String(), nil
	}
	for i := range r.Evaluated.Evaluations {
		s.evaluation(ctx, &b, &r.Request, &r.Evaluated.Evaluations[i])
	}
	for _, u := range r.Evaluated.Undecided {
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

func (r *review) verdict() string {
	switch {
	case r.Denied != nil:
		return "denied"
	case r.Undecided != "":
		return "undecided"
	case len(r.Evaluated.Evaluations) == 0 && len(r.Mutations) == 0:
		return "none matches"
	}
	return "accepted"
}

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
		fmt.Fprintf(b, "    %s: %s: %s\n", printable(policyField("spec.validations", d.Validation, d.Condition)), strings.Join(actions, ", "), printable(d.Message))
		s.values(ctx, b, req, e, d.Validation)
	}
}

// policyField returns the path of an item of a list of a policy. For index -1, it names matchConditions and the
// condition that fails.
func policyField(list string, index int, condition string) string {
	if index < 0 {
		return strings.TrimSpace("matchConditions " + condition)
	}
	return fmt.Sprintf("%s[%d]", list, index)
}

func (s *Session) values(ctx context.Context, b *strings.Builder, req *policy.Request, e *policy.Evaluation, index int) {
	values, err := s.state.policies.set.Explain(ctx, *req, e, index)
	if err != nil {
		return
	}
	for _, v := range values {
		shown := "(" + v.Problem + ")"
		if v.Problem == "" {
			shown = preview.JSON(v.Value, maxValue)
		}
		fmt.Fprintf(b, "      %s: %s\n", printable(v.Expression), printable(shown))
	}
}

func (s *Session) evalInPolicy(ctx context.Context, src string) Reply {
	r, err := s.review(ctx, false)
	if err != nil {
		return s.failed(err)
	}
	out, err := r.Set.Eval(ctx, r.Form(&r.to, r.object, r.old), s.state.policy, src)
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
		b.WriteString(valueText(preview.JSON(out.Value, maxAnswer), out.Value, s.Width))
	}
	fmt.Fprintf(&b, "  : %s; cost %s\n", printable(out.Type), phrase.Number(uint64(out.Cost)))
	return Reply{Text: b.String(), Failed: out.Failure != "" || out.Undecided != ""}
}

func (s *Session) policyHelper() *assist.PolicyContext {
	return &assist.PolicyContext{Object: s.helper(), Variables: s.state.policies.set.VariableNames(s.state.policy)}
}
