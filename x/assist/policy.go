package assist

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/types"
)

// How it works: object and oldObject in a policy have the same fields as self and oldSelf in a rule at the root of
// the CRD. So these names are replaced, the Context of that rule assists, and positions are mapped back. The other
// roots have fields of their own, which the API server documents.

// PolicyContext is the context of an expression in an admission policy or in matchConditions.
type PolicyContext struct {
	// Object is the context of a rule at the root of the objects that the policy matches. If it is nil, their schema
	// is not known.
	Object *Context
	// Variables holds the names of the policy's variables.
	Variables []string
}

var policyRoots = []Candidate{
	{Text: "object", Hint: "the object; null on DELETE"}, {Text: "oldObject", Hint: "the old object; null on CREATE"},
	{Text: "request", Hint: "the request"}, {Text: "params", Hint: "the params object of the binding"},
	{Text: "namespaceObject", Hint: "the Namespace of the object"}, {Text: "variables", Hint: "the policy's variables"},
	{Text: "authorizer", Hint: "access checks for the user"},
}

// policyFields holds the fields of roots and of the parts of roots that do not depend on the CRD. See
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/.
var policyFields = map[string]string{
	"request":                  "kind resource subResource requestKind requestResource requestSubResource name namespace operation userInfo dryRun options",
	"request.kind":             "group version kind",
	"request.requestKind":      "group version kind",
	"request.resource":         "group version resource",
	"request.requestResource":  "group version resource",
	"request.userInfo":         "username uid groups extra",
	"namespaceObject":          "metadata spec status",
	"namespaceObject.metadata": "name generateName labels annotations UID creationTimestamp deletionTimestamp generation resourceVersion finalizers",
	"namespaceObject.status":   "phase conditions",
	"object.metadata":          objectFields,
	"oldObject.metadata":       objectFields,
	"params.metadata":          objectFields,
}

const objectFields = "name generateName namespace labels annotations uid creationTimestamp deletionTimestamp generation resourceVersion finalizers ownerReferences managedFields"

// Complete returns the candidates for a cursor at the end of src, the part of an expression before the cursor.
func (p *PolicyContext) Complete(src []rune) Completion {
	tokens := lex.Tokens(src)
	n := len(tokens)
	if n > 0 && tokens[n-1].End == len(src) && (tokens[n-1].Open || tokens[n-1].Kind == lex.Comment) {
		return p.below(src)
	}
	word := lex.Token{Start: len(src), End: len(src)}
	if n > 0 && tokens[n-1].End == len(src) && tokens[n-1].Kind == lex.Ident {
		word = tokens[n-1]
		n--
	}
	c := Completion{Start: word.Start}
	path, ok := p.pathBefore(tokens[:n])
	if !ok {
		c = p.below(src)
		if n == 0 || !isSelection(tokens[n-1]) {
			c.Candidates = append(p.roots(word.Text), c.Candidates...)
		}
		return c
	}
	for _, name := range p.fieldsOf(path) {
		c.Candidates = append(c.Candidates, Candidate{Text: name, Class: ClassField})
	}
	return c.Only(word.Text)
}

func isSelection(t lex.Token) bool { return t.Text == "." || t.Text == ".?" }

// pathBefore returns the path whose field is selected at the end of tokens, such as "request.userInfo". ok
// is false if its fields are unknown.
func (p *PolicyContext) pathBefore(tokens []lex.Token) (path string, ok bool) {
	var names []string
	i := len(tokens) - 1
	for ; i > 0 && isSelection(tokens[i]) && tokens[i-1].Kind == lex.Ident; i -= 2 {
		names = append(names, tokens[i-1].Text)
	}
	if len(names) == 0 || i >= 0 && isSelection(tokens[i]) {
		return "", false
	}
	slices.Reverse(names)
	path = strings.Join(names, ".")
	return path, len(p.fieldsOf(path)) > 0
}

func (p *PolicyContext) fieldsOf(path string) []string {
	if path == "variables" {
		return p.Variables
	}
	return strings.Fields(policyFields[path])
}

func (p *PolicyContext) roots(word string) []Candidate {
	all := Completion{Candidates: policyRoots}.Only(word).Candidates
	for i := range all {
		all[i].Class = ClassVariable
	}
	return all
}

// ruleRoots maps roots of policies to the variables of the equivalent rule.
var ruleRoots = map[string]string{"object": types.Self, "oldObject": types.OldSelf}

// below returns the candidates of the equivalent rule, without self and oldSelf.
func (p *PolicyContext) below(src []rune) Completion {
	if p.Object == nil {
		return Completion{Start: len(src)}
	}
	r := newRewrite(src)
	c := p.Object.Complete([]rune(r.text))
	c.Start = r.original(c.Start)
	c.Candidates = slices.DeleteFunc(slices.Clone(c.Candidates), func(c Candidate) bool {
		return c.Class == ClassVariable && (c.Text == types.Self || c.Text == types.OldSelf)
	})
	return c
}

// Hover describes the token at a position of an expression, or returns nil.
func (p *PolicyContext) Hover(src string, at int) *Hover {
	text := []rune(src)
	tokens := lex.Tokens(text)
	i := slices.IndexFunc(tokens, func(t lex.Token) bool { return t.Start <= at && at < t.End && t.Kind == lex.Ident })
	if i < 0 {
		return nil
	}
	if i == 0 || !isSelection(tokens[i-1]) {
		for _, root := range policyRoots {
			if root.Text == tokens[i].Text {
				return &Hover{Start: tokens[i].Start, End: tokens[i].End, Text: root.Text, Description: root.Hint}
			}
		}
	}
	if p.Object == nil {
		return nil
	}
	r := newRewrite(text)
	h := p.Object.Hover(r.text, r.rewritten(at))
	if h == nil {
		return nil
	}
	h.Start, h.End, h.Text = r.original(h.Start), r.original(h.End), string(text[tokens[i].Start:tokens[i].End])
	if h.InObject && h.Path != "" {
		h.Text = h.Path
	}
	h.Part, h.Whole = nil, nil // they belong to a rule
	return h
}

// A rewrite is an expression of a policy as a rule.
type rewrite struct {
	text string
	// ends holds the ends of replaced names in both expressions.
	ends [][2]int
}

func newRewrite(src []rune) *rewrite {
	r := &rewrite{}
	tokens := lex.Tokens(src)
	var out []rune
	last := 0
	for i, t := range tokens {
		to := ruleRoots[t.Text]
		if to == "" || t.Kind != lex.Ident || i > 0 && isSelection(tokens[i-1]) {
			continue
		}
		out = append(append(out, src[last:t.Start]...), []rune(to)...)
		last = t.End
		r.ends = append(r.ends, [2]int{t.End, len(out)})
	}
	r.text = string(append(out, src[last:]...))
	return r
}

func (r *rewrite) original(at int) int { return mapped(r.ends, 1, at) }

func (r *rewrite) rewritten(at int) int { return mapped(r.ends, 0, at) }

// mapped maps a position by the last end before it.
func mapped(ends [][2]int, from, at int) int {
	delta := 0
	for _, e := range ends {
		if e[from] > at {
			break
		}
		delta = e[1-from] - e[from]
	}
	return at + delta
}

// Class is the role of a candidate.
type Class uint8

// The classes. ClassWord is for true, false, and null.
const (
	ClassOperator Class = iota
	ClassVariable
	ClassField
	ClassFunction
	ClassMethod
	ClassMacro
	ClassWord
	ClassText
)
