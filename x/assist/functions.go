package assist

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"
	celtypes "github.com/google/cel-go/common/types"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/types"
)

// Functions describes the functions and macros of CEL, including the Kubernetes version since which new rules may use
// them. It is safe for concurrent use. The zero value is ready to use.
type Functions struct {
	mu     sync.Mutex
	envs   map[int]*cel.Env
	prices []priced // of the version in the last call of pricesOf
	key    pricesKey
}

// Function describes a function or macro.
type Function struct {
	FunctionEntry
	Forms []Form
}

// Form is a way to call a function. Parameters are the spans of its arguments in the signature,
// without a method's receiver.
type Form struct {
	Signature, Since string
	Parameters       []Span
}

var anyString = types.FromSchema(&schema.Structural{Generic: schema.Generic{Type: "string"}}, types.Subtree)

func (k *Functions) env(minor int) *cel.Env {
	k.mu.Lock()
	defer k.mu.Unlock()
	if env := k.envs[minor]; env != nil {
		return env
	}
	env, err := celenv.NewRules(types.Version{Minor: minor}).For(anyString, false)
	if err != nil {
		return nil
	}
	if k.envs == nil {
		k.envs = map[int]*cel.Env{}
	}
	k.envs[minor] = env
	return env
}

// since returns the first minor version whose environment for new rules satisfies has, or 0 if no
// version does.
func (k *Functions) since(has func(*cel.Env) bool) int {
	for minor := types.Oldest; minor <= types.Last; minor++ {
		if env := k.env(minor); env != nil && has(env) {
			return minor
		}
	}
	return 0
}

func sinceText(minor int) string {
	switch minor {
	case 0:
		return fmt.Sprintf("not in new rules up to 1.%d", types.Last)
	case types.Oldest:
		return fmt.Sprintf("1.%d or before", types.Oldest)
	}
	return fmt.Sprintf("since 1.%d", minor)
}

// Since returns the first supported Kubernetes version whose new rules can call a function, such as "1.33", or "" if no
// supported version has it.
func (k *Functions) Since(name string) string {
	minor := k.since(func(env *cel.Env) bool { return slices.Contains(functionNames(env), name) })
	if minor == 0 {
		return ""
	}
	return types.Version{Minor: minor}.String()
}

// Names returns the functions and macros that an expression can call at p. If p is nil, or its schema is
// not visible to rules, it returns the functions and macros of new rules in the Kubernetes version kube, or
// of all rules if kube is "".
func (k *Functions) Names(p *Context, kube string) []string { return functionNames(k.known(p, kube)) }

// Of returns the description of a function, or nil if Names does not include it. Arguments p and
// kube are as for Names.
func (k *Functions) Of(name string, p *Context, kube string) *Function {
	env := k.known(p, kube)
	if !slices.Contains(functionNames(env), name) {
		return nil
	}
	return k.of(name, env, func(*decls.OverloadDecl) bool { return true }, func(cel.Macro) bool { return true })
}

func (k *Functions) of(name string, env *cel.Env, overload func(*decls.OverloadDecl) bool, macro func(cel.Macro) bool) *Function {
	entry, _ := FindFunction(name)
	f := &Function{FunctionEntry: entry}
	if of := env.Functions()[name]; of != nil {
		for _, o := range of.OverloadDecls() {
			if !overload(o) {
				continue
			}
			since := k.since(func(env *cel.Env) bool {
				known := env.Functions()[name]
				return known != nil && slices.ContainsFunc(known.OverloadDecls(), o.SignatureEquals)
			})
			f.Forms = append(f.Forms, overloadForm(name, o, since))
		}
	}
	for _, m := range env.Macros() {
		if m.Function() == name && macro(m) {
			since := k.since(func(env *cel.Env) bool {
				return slices.ContainsFunc(env.Macros(), func(other cel.Macro) bool { return other.MacroKey() == m.MacroKey() })
			})
			f.Forms = append(f.Forms, macroForm(m, since))
		}
	}
	return f
}

func newForm(before string, args []string, after string, since int) Form {
	f := Form{Signature: before + "(", Since: sinceText(since)}
	for i, arg := range args {
		if i > 0 {
			f.Signature += ", "
		}
		start := len(f.Signature)
		f.Signature += arg
		f.Parameters = append(f.Parameters, Span{start, len(f.Signature)})
	}
	f.Signature += ")" + after
	return f
}

// known returns the environment of p, or of the Kubernetes version kube if p has none. It returns nil if kube is
// invalid.
func (k *Functions) known(p *Context, kube string) *cel.Env {
	if p != nil {
		if env := p.env(); env != nil {
			return env
		}
	}
	v, err := types.ParseVersion(kube)
	switch {
	case err != nil:
		return nil
	case kube != "":
		return k.env(v.Minor)
	}
	env, err := celenv.StoredRules(v).For(anyString, false)
	if err != nil {
		return nil
	}
	return env
}

func functionNames(env *cel.Env) []string {
	if env == nil {
		return nil
	}
	names := map[string]bool{}
	for name, f := range env.Functions() {
		if callable(name, f) {
			names[name] = true
		}
	}
	for _, m := range env.Macros() {
		if identifier(m.Function()) {
			names[m.Function()] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// callable reports whether a rule can call the function by name. Operators and authorizer functions
// cannot be called in CRD rules.
func callable(name string, f *decls.FunctionDecl) bool {
	if name == "in" || !identifier(strings.ReplaceAll(name, ".", "_")) {
		return false
	}
	return slices.ContainsFunc(f.OverloadDecls(), func(o *decls.OverloadDecl) bool {
		return !slices.ContainsFunc(o.ArgTypes(), func(t *cel.Type) bool { return strings.HasPrefix(t.TypeName(), "kubernetes.authorization") })
	})
}

func macroForm(m cel.Macro, since int) Form {
	args, after := []string{"x", "expression", "expression"}, " (macro)"
	switch {
	case m.Function() == "has":
		args, after = []string{"a.b"}, ""
	case m.ArgCount() == 3 && m.Function() != "map" && m.Function() != "filter":
		args = []string{"i", "x", "expression"}
	case m.ArgCount() == 4:
		args = []string{"i", "x", "expression", "expression"}
	}
	name := m.Function()
	if m.IsReceiverStyle() {
		name = "self." + name
	}
	return newForm(name, args[:min(m.ArgCount(), len(args))], after, since)
}

func overloadForm(name string, o *decls.OverloadDecl, since int) Form {
	args := make([]string, len(o.ArgTypes()))
	for i, arg := range o.ArgTypes() {
		args[i] = argument(arg)
	}
	if o.IsMemberFunction() {
		name, args = "("+args[0]+")."+name, args[1:]
	}
	return newForm(name, args, " -> "+argument(o.ResultType()), since)
}

func argument(t *cel.Type) string {
	if t.Kind() == cel.TypeParamKind || t.Kind() == cel.DynKind {
		return "anything"
	}
	return typeWords(t)
}

func accepts(param, t *cel.Type) bool {
	switch {
	case param.Kind() == celtypes.TypeParamKind, param.Kind() == celtypes.DynKind, t.Kind() == celtypes.DynKind:
		return true
	case param.Kind() != t.Kind():
		return false
	case param.Kind() == celtypes.OpaqueKind && param.TypeName() != t.TypeName():
		return false
	case param.Kind() == celtypes.StructKind:
		return param.TypeName() == t.TypeName()
	}
	for i, p := range param.Parameters() {
		if i < len(t.Parameters()) && !accepts(p, t.Parameters()[i]) {
			return false
		}
	}
	return true
}

// Call is the function or macro call whose parentheses enclose a position in an expression.
type Call struct {
	Name string
	// Start is the code point at which the name starts.
	Start int
	// Function holds the forms that match the kind of call. If the receiver's type is known, the
	// forms of a method are those that accept it.
	Function *Function
	// Form is the index of the first form that has enough parameters, or 0, and Argument the index of the
	// argument at the position. Both count from 0; a method's receiver is not an argument.
	Form, Argument int
}

// Span is a half-open range of code points in a text.
type Span struct{ Start, End int }

// Call returns the innermost call that encloses code point at of src, which may be incomplete. It
// returns nil if no such call exists or the function is unknown.
func (p *Context) Call(src string, at int) *Call {
	text := []rune(src)
	text = text[:max(0, min(at, len(text)))]
	tokens := lex.Tokens(text)
	open, argument := openCall(tokens)
	if open < 1 || tokens[open-1].Kind != lex.Ident || tokens[open-1].Text == "in" {
		return nil
	}
	name := tokens[open-1]
	first := lex.Operand(tokens, open-1)
	v := p.cursor(text[:name.Start])
	if v == nil || first < 0 {
		return nil
	}
	c := &Call{Name: name.Text, Start: name.Start, Argument: argument}
	functions := p.functions()
	if whole := string(text[tokens[first].Start:name.End]); v.env.Functions()[whole] != nil && first < open-1 {
		c.Name, c.Start, first = whole, tokens[first].Start, open-1
	}
	of, _, _ := read(v.above(0))
	var t *cel.Type
	if first < open-1 && of != nil {
		t = v.typeOf(of)
	}
	member := first < open-1
	c.Function = functions.of(c.Name, v.env, func(o *decls.OverloadDecl) bool {
		return callable(c.Name, v.env.Functions()[c.Name]) && o.IsMemberFunction() == member && (t == nil || accepts(o.ArgTypes()[0], t))
	}, func(m cel.Macro) bool {
		return m.IsReceiverStyle() == member && (t == nil || loopable(t, m.Function()))
	})
	if len(c.Function.Forms) == 0 {
		return nil
	}
	for i, form := range c.Function.Forms {
		if argument < len(form.Parameters) {
			c.Form = i
			break
		}
	}
	return c
}

// openCall returns the index of the opening parenthesis of the innermost call that is still open
// after the last token, and the number of commas that follow at its level. It returns -1 if no call
// is open.
func openCall(tokens []lex.Token) (open, commas int) {
	depth := 0
	for i := len(tokens) - 1; i >= 0; i-- {
		depth += lex.Depth(tokens[i])
		switch {
		case depth == 0 && tokens[i].Text == ",":
			commas++
		case depth > 0 && tokens[i].Text == "(" && i > 0 && lex.EndsOperand(tokens[i-1]) && tokens[i-1].Kind == lex.Ident:
			return i, commas
		case depth > 0: // a list, a map, or grouping parentheses
			depth, commas = 0, 0
		}
	}
	return -1, 0
}
