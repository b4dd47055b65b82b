package requests

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/crdcopy"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// How it works: in a rule at the root of a CRD, self is the object and oldSelf is the old object. A
// validation becomes such a rule by replacing text: object and oldObject by these roots, or by null if
// the operation lacks them, variables by their expressions, and fields of request and params by
// constants. The positions of variables come from the parser. If the result does not compile as a
// rule, for example because it reads labels, which rules do not see, the search does without.

const (
	// maxTranslation limits the length of a rule in bytes, because variables can use variables.
	maxTranslation = 64 << 10
	null           = "dyn(null)"
	// maxTurns limits the requests for an object of a built-in kind.
	maxTurns = 4
)

func (q *question) translated(ctx context.Context, operation policy.Operation, yield func(*policy.Request) bool) {
	if len(q.document.mutations) > 0 {
		return
	}
	t := newTranslator(q.document, operation, q.request(operation, q.placed(map[string]any{}), nil))
	if q.subresource == policyrequest.ScaleName {
		t.scales(q.own().Subresources)
	}
	rule, ok := t.translate(q.document.validations[q.index], 0)
	if !ok || t.usesOld && operation != policy.OperationUpdate {
		return
	}
	more := true
	once := func(req *policy.Request) bool {
		more = yield(req)
		return more
	}
	if q.err = q.ruled(ctx, operation, rule, once); !more || q.err != nil || q.other == nil {
		return
	}
	if rule = q.butAccepted(rule, operation); len(rule) <= maxTranslation {
		q.err = q.ruled(ctx, operation, rule, yield)
	}
}

func (q *question) ruled(ctx context.Context, operation policy.Operation, rule string, yield func(*policy.Request) bool) error {
	crd := withRule(q.crd, q.version, rule)
	e, err := engine.Compile(crd, engine.Config{KubeVersion: q.engine.Info().KubeVersion})
	if e == nil || err != nil {
		return nil // the rule does not compile
	}
	s, err := search.New(crd, e, q.version, search.Config{Seed: q.cfg.Seed, Steps: q.cfg.Steps})
	if err != nil {
		return err
	}
	rules := s.Rules()
	at := slices.IndexFunc(rules, func(r engine.RuleRef) bool { return r.Path == "" && r.Rule == rule })
	if at < 0 {
		return nil
	}
	want := map[Want]search.Want{Denied: search.Rejected, Fails: search.Errs, Accepted: search.Accepted}[q.want]
	answer, err := s.Find(ctx, rules[at], want)
	if err != nil {
		return err
	}
	q.tried += answer.Searched
	if answer.Witness == nil {
		return nil
	}
	w := *answer.Witness
	switch {
	case w.Old == nil: // of a create
		w.Old = w.Object
	case w.Operation == search.Status && q.subresource == "": // an update keeps the status
		w.Old = with(w.Old, string(search.Status), w.Object[string(search.Status)])
	}
	for range maxTurns { // each repair of an object of a built-in kind may choose other values
		req, err := q.with(ctx, operation, w.Object, w.Old)
		if err != nil || req == nil {
			return err
		}
		if !byAll(req, yield) || q.builtin == nil {
			return q.err
		}
	}
	return nil
}

func withRule(crd *apiextensionsv1.CustomResourceDefinition, version, rule string) *apiextensionsv1.CustomResourceDefinition {
	crd, _ = crdcopy.With(crd, version, nil, func(root *apiextensionsv1.JSONSchemaProps) {
		root.XValidations = append(slices.Clip(root.XValidations), apiextensionsv1.ValidationRule{Rule: rule})
	})
	return crd
}

type translator struct {
	env      *cel.Env
	document *document
	// roots maps object and oldObject to the expressions that replace them.
	roots map[string]string
	// values holds the known values of other roots. object holds the known fields of object, or is nil.
	values  map[string]any
	object  map[string]any
	usesOld bool
	// paths maps the paths of a Scale to those of the scaled object. It is nil for other requests.
	paths map[string]string
}

// scales changes the roots to Scales.
func (t *translator) scales(of *apiextensionsv1.CustomResourceSubresources) {
	t.object, t.paths = map[string]any{"kind": "Scale"}, map[string]string{}
	if of != nil && of.Scale != nil {
		t.paths[".spec.replicas"], t.paths[".status.replicas"] = of.Scale.SpecReplicasPath, of.Scale.StatusReplicasPath
	}
}

// translatorEnv returns the environment for parsing. Its constant options cannot fail.
var translatorEnv = sync.OnceValue(func() *cel.Env {
	env, _ := cel.NewEnv(cel.OptionalTypes(), cel.EnableMacroCallTracking())
	return env
})

func newTranslator(d *document, operation policy.Operation, req *policy.Request) *translator {
	t := &translator{env: translatorEnv(), document: d, values: map[string]any{
		"request": map[string]any{
			"operation": string(operation), "namespace": req.Namespace, "name": req.Name, "userInfo": map[string]any{"username": req.User.Name},
		},
	}}
	switch operation {
	case policy.OperationCreate, policy.OperationConnect:
		t.roots = map[string]string{"object": "self", "oldObject": null}
	case policy.OperationDelete:
		t.roots = map[string]string{"object": null, "oldObject": "self"}
	default:
		t.roots = map[string]string{"object": "self", "oldObject": "oldSelf"}
	}
	if len(d.params) == 1 {
		t.values["params"] = d.params[0]
	}
	if operation != policy.OperationDelete {
		t.object = map[string]any{"kind": req.Kind.Kind} // apiVersion can be another that the policy matches
	}
	return t
}

// selection matches the fields that are selected after a root. The last name is a method call if a parenthesis
// follows.
var selection = regexp.MustCompile(`^(\s*\.\s*[A-Za-z_]\w*)+`)

// translate returns the rule for an expression. depth counts the variables around it.
func (t *translator) translate(source string, depth int) (string, bool) {
	source = t.folded(source)
	parsed, issues := t.env.Parse(source)
	if issues.Err() != nil || depth > len(t.document.variables) {
		return "", false
	}
	runes := []rune(source)
	var b strings.Builder
	last := 0
	idents, clash := t.idents(parsed)
	if clash {
		return "", false
	}
	for _, ident := range idents {
		if ident.offset < last {
			continue
		}
		text, length, ok := t.replacement(ident.name, string(runes[ident.offset+len(ident.name):]), depth)
		if !ok {
			return "", false
		}
		b.WriteString(string(runes[last:ident.offset]) + text)
		last = ident.offset + len(ident.name) + length
		if b.Len() > maxTranslation {
			return "", false
		}
	}
	b.WriteString(string(runes[last:]))
	return b.String(), true
}

// An ident is a variable in an expression, with its position in characters.
type ident struct {
	name   string
	offset int
}

// idents returns the variables of policies in an expression, by position, except where a macro hides them. clash is
// set if any variable is named self or oldSelf.
func (t *translator) idents(parsed *cel.Ast) (found []ident, clash bool) {
	tree := parsed.NativeRep()
	shadowed := map[int64]bool{} // by ID of the expression
	each := func(in ast.Expr, visit func(ast.Expr)) { ast.PreOrderVisit(in, ast.NewExprVisitor(visit)) }
	each(tree.Expr(), func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind {
			return
		}
		c := e.AsComprehension()
		names := []string{c.IterVar(), c.IterVar2(), c.AccuVar()}
		clash = clash || slices.ContainsFunc(names, isSelf)
		for _, scope := range []ast.Expr{c.LoopCondition(), c.LoopStep(), c.Result()} {
			each(scope, func(e ast.Expr) {
				if e.Kind() == ast.IdentKind && slices.Contains(names, e.AsIdent()) {
					shadowed[e.ID()] = true
				}
			})
		}
	})
	each(tree.Expr(), func(e ast.Expr) {
		if e.Kind() != ast.IdentKind || shadowed[e.ID()] {
			return
		}
		clash = clash || isSelf(e.AsIdent())
		if !slices.Contains([]string{"object", "oldObject", "request", "params", "variables", "namespaceObject", "authorizer"}, e.AsIdent()) {
			return
		}
		if at, ok := tree.SourceInfo().GetOffsetRange(e.ID()); ok {
			found = append(found, ident{e.AsIdent(), int(at.Start)})
		}
	})
	slices.SortFunc(found, func(a, b ident) int { return a.offset - b.offset })
	return slices.CompactFunc(found, func(a, b ident) bool { return a.offset == b.offset }), clash
}

func isSelf(name string) bool { return name == "self" || name == "oldSelf" }

// replacement returns the text that replaces a root and the first characters of rest, which follows it. length is the
// number of these characters.
func (t *translator) replacement(root, rest string, depth int) (text string, length int, ok bool) {
	if to := t.roots[root]; to != "" {
		t.usesOld = t.usesOld || to == "oldSelf"
		for path, in := range t.paths {
			if selection.FindString(rest) == path {
				return to + in, len(path), true
			}
		}
		return to, 0, true
	}
	path := selection.FindString(rest)
	if path == "" {
		return "", 0, false
	}
	var names []string
	for _, name := range strings.Split(path, ".")[1:] {
		names = append(names, strings.TrimSpace(name))
	}
	if root == "variables" {
		expression, found := t.document.variables[names[0]]
		inner, translated := t.translate(expression, depth+1)
		return "(" + inner + ")", lengthOf(rest, 1), found && translated
	}
	value, n := t.values[root], 0
	for n < len(names) {
		fields, isObject := value.(map[string]any)
		if !isObject {
			break
		}
		value = fields[names[n]]
		n++
	}
	text, ok = constant(value)
	return text, lengthOf(rest, n), ok && n > 0
}

// lengthOf returns the length in characters of the first n selections in text.
func lengthOf(text string, n int) int {
	at := 0
	one := regexp.MustCompile(`^\s*\.\s*[A-Za-z_]\w*`)
	for range n {
		at += len(one.FindString(text[at:]))
	}
	return len([]rune(text[:at]))
}

func constant(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v), true
	case bool, int64:
		return fmt.Sprint(v), true
	case float64:
		return strconv.FormatFloat(v, 'e', -1, 64), true
	}
	return "", false
}
