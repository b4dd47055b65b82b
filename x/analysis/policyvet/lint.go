package policyvet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// A Lint is a likely mistake that the API server accepts.
type Lint struct {
	// Name is the name for Config.Without.
	Name string
	// Path is the field, or "" for the whole document. Expression is the expression there, if it is one.
	Path, Expression string
	// Message describes the problem, and usually the fix.
	Message string
	Advice
}

// The names of lints, which docs/lints.md describes.
const (
	noBinding         = "no-binding"
	noPolicy          = "no-policy"
	nullObject        = "null-object"
	celInMessage      = "cel-in-message"
	ignoredError      = "ignored-error"
	unusedVariable    = "unused-variable"
	missedSubresource = "missed-subresource"
	emptySelector     = "empty-selector"
	unknownResource   = "unknown-resource"
	removedVersion    = "removed-version"
	textOrder         = "text-order"
	quantityNumber    = "quantity-number"
	subresourceObject = "subresource-object"
	atomicField       = "atomic-field"
	duplicateItems    = "duplicate-items"
	unguardedRead     = "unguarded-read"
	openPrefix        = "open-prefix"
	noNamespace       = "no-namespace-object"
	swallowedComment  = "swallowed-comment"
)

// LintNames returns the names of all lints, for Config.Without.
func LintNames() []string {
	return []string{noBinding, noPolicy, nullObject, celInMessage, ignoredError, unusedVariable, missedSubresource, emptySelector, unknownResource, removedVersion, textOrder, quantityNumber, subresourceObject, atomicField, duplicateItems,
		unguardedRead, openPrefix, noNamespace, swallowedComment}
}

// A linter holds the documents of a run, because some lints compare policies with bindings and with each other.
type linter struct {
	version  types.Version
	schemas  *Schemas
	server   policyrequest.Server // may be nil
	without  []string
	subjects []*subject // of all documents
	families map[string]*family
}

type family struct {
	// bindings holds the bindings by the name of their policy.
	policies map[string]bool
	bindings map[string][]*bindingDocument
}

func newLinter(version types.Version, cfg *Config) *linter {
	l := &linter{version: version, schemas: cfg.Schemas, server: cfg.Server, without: cfg.Without, families: map[string]*family{}}
	for _, kind := range []string{policyKind, mutatingKind} {
		l.families[kind] = &family{map[string]bool{}, map[string][]*bindingDocument{}}
	}
	return l
}

func (l *linter) add(document map[string]any) {
	kind := fmt.Sprint(document["kind"])
	if f := l.families[kind]; f != nil {
		f.policies[nameOf(document)] = true
	}
	var d bindingDocument
	if f := l.families[policyKindOf(kind)]; f != nil && decode(document, &d) == nil {
		f.bindings[d.Spec.PolicyName] = append(f.bindings[d.Spec.PolicyName], &d)
	}
}

// A reporter adds a lint. at has only its location.
type reporter func(lint string, at Lint, message string)

func (x *expression) at(part ast.Expr) Lint {
	at := Lint{Path: x.Path, Expression: x.Source}
	if part != nil {
		at.Offset, _, _ = lex.NewSource(x.Source, x.parsed).Range(part)
	}
	return at
}

func (l *linter) lint(document map[string]any, subjects []*subject, r *Report) {
	add := func(lint string, at Lint, message string) {
		isAt := func(l Lint) bool { // the other lint explains more
			return lint == unguardedRead && l.Path == at.Path && (l.Name == nullObject || l.Name == subresourceObject)
		}
		if at.Name, at.Message = lint, message; !slices.Contains(l.without, lint) && !slices.ContainsFunc(r.Lints, isAt) {
			r.Lints = append(r.Lints, at)
		}
	}
	if problem, isError := unserved(document, l.version.Minor); problem != "" && !isError {
		add(removedVersion, Lint{Path: "apiVersion"}, problem)
	}
	if f := l.families[policyKindOf(r.Kind)]; f != nil {
		l.binding(f, document, add)
		return
	}
	for _, s := range subjects {
		var bindings []*bindingDocument
		if f := l.families[s.kind]; f != nil {
			bindings = f.bindings[s.name]
			if len(bindings) == 0 && !anyKey(f.bindings, func(bound string) bool { return isRenamed(s.name, bound) }) {
				add(noBinding, Lint{}, "no binding among the documents names the policy, so it has no effect: add a "+s.kind+bindingSuffix)
			}
		}
		selectors(s.rulesPath, &s.match, add)
		l.resources(s.rulesPath+"."+s.rulesField, s.match.ResourceRules, add)
		l.removedVersions(s.rulesPath+"."+s.rulesField, s.match.ResourceRules, add)
		l.nullObject(s, bindings, add)
		messages(s, l.schemas, add)
		unusedVariables(s, add)
		l.missedSubresources(s, add)
		accountPrefixes(s, add)
		l.textOrders(s, add)
		l.quantityNumbers(s, add)
		l.subresourceObjects(s, bindings, add)
		l.mutations(s, add)
		l.unguardedReads(s, add)
	}
}

func anyKey[V any](m map[string]V, holds func(string) bool) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(m)), holds)
}

// isRenamed reports whether a name is another with a prefix or suffix, which kustomize adds.
func isRenamed(name, renamed string) bool {
	return name != "" && (strings.HasSuffix(renamed, "-"+name) || strings.HasPrefix(renamed, name+"-"))
}

func (l *linter) binding(f *family, document map[string]any, add reporter) {
	var d bindingDocument
	if decode(document, &d) != nil {
		return
	}
	if name := d.Spec.PolicyName; name != "" && !f.policies[name] && !anyKey(f.policies, func(policy string) bool { return isRenamed(policy, name) }) {
		add(noPolicy, Lint{Path: "spec.policyName"}, "no policy "+name+" is among the documents: without it, the binding has no effect")
	}
	if m := d.Spec.MatchResources; m != nil {
		selectors("spec.matchResources", m, add)
		l.resources("spec.matchResources.resourceRules", m.ResourceRules, add)
	}
}

func unusedVariables(s *subject, add reporter) {
	if !s.whole {
		return
	}
	used := s.used(func(x *expression) bool { return x.Part != policy.PartVariable })
	for x := range used {
		if x.uses[""] {
			return // variables is read as a whole
		}
	}
	for _, x := range s.expressions {
		if x.Part == policy.PartVariable && !used[s.variables[x.Name]] {
			add(unusedVariable, x.at(nil), "no expression that is evaluated uses the variable "+x.Name+": remove it, or use it")
		}
	}
}

// openAccount matches a prefix of the names of service accounts that ends in the name of a namespace.
var openAccount = lazy.New(`^system:serviceaccount:[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// accountPrefixes reports prefixes that match more users than meant, and matchConditions that read namespaceObject.
func accountPrefixes(s *subject, add reporter) {
	for _, x := range s.expressions {
		if x.tree == nil {
			continue
		}
		var prefix, reads ast.Expr
		visit(x.tree, func(e ast.Expr) {
			if x.Part == policy.PartCondition && reads == nil && isRoot(e, "namespaceObject") {
				reads = e
			}
			if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "startsWith" || len(e.AsCall().Args()) != 1 || prefix != nil {
				return
			}
			if literal, ok := text(e.AsCall().Args()[0]); ok && openAccount.MatchString(literal) {
				prefix = e.AsCall().Args()[0]
			}
		})
		if prefix != nil {
			literal, _ := text(prefix)
			add(openPrefix, x.at(prefix), fmt.Sprintf("%[1]s is also a prefix of service accounts in namespaces such as %[2]s-a: "+
				"write %[1]s: with a colon at the end", literal, literal[len("system:serviceaccount:"):]))
		}
		if reads != nil {
			add(noNamespace, x.at(reads), "namespaceObject is null in matchConditions: "+
				"use request.namespace for its name, and namespaceSelector for its labels")
		}
	}
}

const rootPattern = `(?:object|oldObject|params|request|variables|namespaceObject)(?:\.|\[)`

var (
	// concatenation matches text that is joined with a field of a root.
	concatenation = lazy.New(`['"]\s*\+\s*(?:string\(\s*)?` + rootPattern + `|` + rootPattern + `[\w.\[\]'"]*\s*\)?\s*\+\s*['"]`)
	// placeholder matches a field of a root in the syntax of templates.
	placeholder = lazy.New(`\{\s*` + rootPattern + `[^{}]*\}`)
)

// messages reports messages that are expressions, which users see unevaluated.
func messages(s *subject, schemas *Schemas, add reporter) {
	for _, m := range s.messages {
		switch {
		case placeholder.MatchString(m.text):
			add(celInMessage, Lint{Path: m.path}, "message is not evaluated, so users see the placeholder: write a messageExpression, such as 'text ' + string(object.spec.replicas)")
		case isTextExpression(m.text, schemas) || concatenation.MatchString(m.text):
			add(celInMessage, Lint{Path: m.path}, "message is not evaluated, so users see the expression: move it to messageExpression")
		}
	}
}

func isTextExpression(source string, schemas *Schemas) bool {
	parsed, err := celenv.Parse(schemas.env, source)
	return err == nil && composes(parsed.NativeRep().Expr())
}

func composes(e ast.Expr) bool {
	if e.Kind() != ast.CallKind {
		return false
	}
	call := e.AsCall()
	switch call.FunctionName() {
	case operators.Add:
		return isText(call.Args()[0]) || isText(call.Args()[1])
	case operators.Conditional:
		return isText(call.Args()[1]) && isText(call.Args()[2])
	case "format":
		return call.IsMemberFunction() && isText(call.Target())
	}
	return false
}

func isText(e ast.Expr) bool {
	_, ok := text(e)
	return ok || composes(e)
}
