package assist

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/types"
)

// NewPolicyContext returns the context of an expression with the variables roots. object and oldObject are declared if
// they are among the roots.
func NewPolicyContext(kubeVersion string, part Part, roots []celenv.Root) *PolicyContext {
	cfg := engine.Config{KubeVersion: kubeVersion, Expressions: engine.New}
	var decl *types.Decl
	var others, untyped []celenv.Root
	for _, r := range roots {
		switch to := ruleRoots[r.Name]; {
		case to == "":
			others = append(others, r)
		case r.Decl != nil:
			decl = r.Decl
		default:
			r.Name = to
			untyped = append(untyped, r)
		}
	}
	context := &Context{Part: part, Limits: cost.Limits{EstimatedPerRule: math.MaxInt64}}
	if decl != nil {
		context.Node, context.Roots = &engine.Node{Decl: decl, Config: cfg}, others
	} else {
		context.Node, _ = engine.BareNode(cfg) // it fails only for invalid versions
		context.Roots = append(others, untyped...)
	}
	if context.Node == nil {
		context.Node = &engine.Node{Decl: &types.Decl{}, Config: cfg}
	}
	context.around = newAround(context.Node.Decl, nil)
	return &PolicyContext{Object: context}
}

func (p *Context) rootFields(path string) (fields []Candidate) {
	steps := strings.Split(path, ".")
	for _, r := range p.Roots {
		of := r.Object
		for i := 1; i < len(steps) && of != nil; i++ {
			if f := of.Fields[steps[i]]; f != nil {
				of = f.Type
			} else {
				of = nil
			}
		}
		if r.Name == steps[0] && of != nil {
			for _, name := range slices.Sorted(maps.Keys(of.Fields)) {
				fields = append(fields, Candidate{Text: name, Class: ClassField})
			}
		}
	}
	return fields
}

// elsewhere explains variables that only some expressions have.
var elsewhere = map[string]string{
	"variables":  "only a policy with spec.variables has variables, and its matchConditions are evaluated before them",
	"params":     "only a policy with spec.paramKind has params",
	"authorizer": "a messageExpression has no authorizer",
}

// Problem returns the problem of an expression that does not compile, with its fixes. offset is the position of the
// error. Problem returns nil if it knows nothing about an error there.
func (p *PolicyContext) Problem(src string, offset int) *Problem {
	text := []rune(src)
	tokens := lex.Tokens(text)
	if i := bareName(tokens, offset); i >= 0 {
		if found := p.misplaced(src, tokens, i); found != nil {
			return found
		}
	}
	if isRuleName := func(t lex.Token) bool { return t.Text == types.Self || t.Text == types.OldSelf }; slices.ContainsFunc(tokens, isRuleName) {
		return nil // a variable of a macro, perhaps
	}
	r := newRewrite(text)
	_, err := p.Object.compile(r.text)
	var bad *engine.CompileError
	if !errors.As(err, &bad) {
		return nil
	}
	found := p.Object.ProblemOf(bad)
	found.Start, found.End = r.original(found.Start), r.original(found.End)
	if offset < found.Start-1 || offset > found.End {
		return nil
	}
	found.Message, found.Words = asPolicy(found.Message), asPolicy(found.Words)
	for i, name := range found.Names {
		found.Names[i] = asPolicy(name)
	}
	for i := range found.Fixes {
		f := &found.Fixes[i]
		f.Title, f.Edits = asPolicy(f.Title), slices.Clone(f.Edits)
		for j, e := range f.Edits {
			f.Edits[j] = Edit{r.original(e.Start), r.original(e.End), asPolicy(e.Text)}
		}
	}
	return &found
}

// bareName returns the index of the name at an offset, which is neither selected nor called, or -1.
func bareName(tokens []lex.Token, offset int) int {
	i := slices.IndexFunc(tokens, func(t lex.Token) bool { return t.Start == offset && t.Kind == lex.Ident })
	if i < 0 || i > 0 && isSelection(tokens[i-1]) || i+1 < len(tokens) && tokens[i+1].Text == "(" {
		return -1
	}
	return i
}

// misplaced returns the problem of a name that is a variable of other expressions, or a field of a variable, or nil.
func (p *PolicyContext) misplaced(src string, tokens []lex.Token, i int) *Problem {
	name := tokens[i].Text
	out := &Problem{Start: tokens[i].Start, End: tokens[i].End, Message: "undeclared reference to '" + name + "'", Advice: Advice{Code: UnknownName}}
	to := ""
	switch isRoot := func(r celenv.Root) bool { return r.Name == name }; {
	case name == types.Self || name == types.OldSelf:
		to = asPolicy(name)
		out.Words = name + " is a variable of rules in CRDs; in policies it is " + to
	case elsewhere[name] != "" && !slices.ContainsFunc(p.Object.Roots, isRoot):
		out.Words = elsewhere[name]
		return out
	case slices.Contains(p.Object.Names("variables."), name):
		to = "variables." + name
	case slices.Contains(p.Object.Names("request."), name):
		to = "request." + name
	default:
		if to = p.similar(tokens, i); to == "" {
			return nil
		}
		if out.Words = elsewhere[to]; out.Words != "" {
			out.Words = "did you mean " + to + "? " + out.Words
			return out
		}
	}
	var edits []Edit
	for j, t := range tokens {
		if t.Text == name && t.Kind == lex.Ident && (j == 0 || !isSelection(tokens[j-1])) {
			edits = append(edits, Edit{t.Start, t.End, to})
		}
	}
	if out.Words == "" {
		out.Names = []string{to}
	}
	if x, err := p.Object.compile(newRewrite([]rune(Apply(src, edits))).text); err == nil && p.Object.fits(x) {
		out.Fixes = []Fix{{Title: titleOf([]rune(src), edits), Edits: edits, Certain: true}}
	}
	return out
}

// similar returns the name that is similar to token i, if there is only one and it is the object or a variable that
// other expressions have. Otherwise, it returns "". A name from which nothing is selected may be an unquoted string, so
// only its case may differ.
func (p *PolicyContext) similar(tokens []lex.Token, i int) string {
	name, declared := tokens[i].Text, p.Object.Names("")
	for j, t := range tokens {
		if t.Kind == lex.Ident && t.Text != name && ruleRoots[t.Text] == "" && (j == 0 || !isSelection(tokens[j-1])) {
			declared = append(declared, t.Text) // a variable of a macro
		}
	}
	near := spell.Near(name, slices.Concat(declared, []string{"object", "oldObject"}, slices.Sorted(maps.Keys(elsewhere))))
	if i := slices.IndexFunc(near, func(one string) bool { return spell.IsSame(one, name) }); i >= 0 {
		near = near[i : i+1]
	}
	isOperand := i+1 < len(tokens) && (isSelection(tokens[i+1]) || tokens[i+1].Text == "[")
	if len(near) != 1 || near[0] == name || slices.Contains(declared, near[0]) || !isOperand && !spell.IsSame(near[0], name) {
		return ""
	}
	return near[0]
}

var (
	selfName    = lazy.New(`\bself\b`)
	oldSelfName = lazy.New(`\boldSelf\b`)
)

func asPolicy(text string) string {
	return oldSelfName.ReplaceAllString(selfName.ReplaceAllString(text, "object"), "oldObject")
}
