package repl

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/lex"
	"github.com/celadon-cel/celadon/internal/spell"
	"github.com/celadon-cel/celadon/types"
)

// kubeVersions knows which functions each Kubernetes version takes in new
// rules; it asks once.
type kubeVersions struct {
	envs map[int]*cel.Env
}

var anyString = types.FromSchema(&schema.Structural{Generic: schema.Generic{Type: "string"}}, types.Subtree)

func (k *kubeVersions) env(minor int) *cel.Env {
	if env := k.envs[minor]; env != nil {
		return env
	}
	env, err := types.NewRulesEnv(types.Version{Minor: minor}).For(anyString, false)
	if err != nil {
		return nil
	}
	if k.envs == nil {
		k.envs = map[int]*cel.Env{}
	}
	k.envs[minor] = env
	return env
}

// since is the first version that takes an overload or a macro in new rules; 0
// where none does.
func (k *kubeVersions) since(has func(*cel.Env) bool) int {
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		if env := k.env(minor); env != nil && has(env) {
			return minor
		}
	}
	return 0
}

func sinceText(minor int) string {
	switch minor {
	case 0:
		return fmt.Sprintf("not in new rules up to 1.%d", types.Newest)
	case types.Oldest:
		return fmt.Sprintf("1.%d or before", types.Oldest)
	}
	return fmt.Sprintf("since 1.%d", minor)
}

// functionEnv is what expressions here know; without a CRD, all there is.
func (s *Session) functionEnv() *cel.Env {
	if p := s.state.place; p != nil && p.desk != nil {
		if env, err := p.desk.Env(false); err == nil {
			return env
		}
	}
	v, err := types.ParseVersion(s.state.kube)
	if err != nil {
		return nil
	}
	base := types.StoredEnv(v)
	if s.state.kube != "" {
		base = types.NewRulesEnv(v)
	}
	env, err := base.For(anyString, false)
	if err != nil {
		return nil
	}
	return env
}

func completeFuncs(s *Session) []string { return functionNames(s.functionEnv()) }

// functionNames are the functions and macros that an expression can call.
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

// callable is true for functions that a rule can call: no operators, nothing of
// an authorizer, which rules of CRDs do not have.
func callable(name string, f *decls.FunctionDecl) bool {
	if name == "in" || !identifier(strings.ReplaceAll(name, ".", "_")) {
		return false
	}
	return slices.ContainsFunc(f.OverloadDecls(), func(o *decls.OverloadDecl) bool {
		return !slices.ContainsFunc(o.ArgTypes(), func(t *cel.Type) bool { return strings.HasPrefix(t.TypeName(), "kubernetes.authorization") })
	})
}

func funcs(_ context.Context, s *Session, arg string) (string, error) {
	env := s.functionEnv()
	names := functionNames(env)
	if arg == "" {
		return columns(names, s.Width), nil
	}
	name := strings.TrimSuffix(arg, "()")
	if !slices.Contains(names, name) {
		return "", s.noFunction(name, names)
	}
	var b strings.Builder
	if f := env.Functions()[name]; f != nil {
		b.WriteString(s.overloads(f))
	}
	b.WriteString(s.macros(env, name))
	return b.String(), nil
}

// noFunction says when a function came that this version does not have.
func (s *Session) noFunction(name string, names []string) error {
	if err := s.laterFunction(name); err != nil {
		return err
	}
	if near := spell.DidYouMean(name, names); near != "" {
		return fmt.Errorf("no function %s%s", name, near)
	}
	return fmt.Errorf("no function %s (:funcs lists them)", name)
}

// laterFunction says which version a function came with; nil for one that never
// did.
func (s *Session) laterFunction(name string) error {
	minor := s.kube.since(func(env *cel.Env) bool { return slices.Contains(functionNames(env), name) })
	if minor == 0 || s.state.kube == "" {
		return nil
	}
	return fmt.Errorf("%s: not in new rules for %s: want 1.%d or later", name, s.state.kube, minor)
}

func (s *Session) overloads(f *decls.FunctionDecl) string {
	var rows [][]string
	examples := slices.Clone(examplesOf[f.Name()])
	for _, o := range f.OverloadDecls() {
		since := s.kube.since(func(env *cel.Env) bool {
			known := env.Functions()[f.Name()]
			return known != nil && slices.ContainsFunc(known.OverloadDecls(), func(k *decls.OverloadDecl) bool { return k.SignatureEquals(o) })
		})
		rows = append(rows, []string{signature(f.Name(), o), sinceText(since)})
		if examplesOf[f.Name()] == nil {
			examples = append(examples, o.Examples()...)
		}
	}
	return table(rows, s.Width) + documentation(f.Description(), examples)
}

func (s *Session) macros(env *cel.Env, name string) string {
	var rows [][]string
	for _, m := range env.Macros() {
		if m.Function() != name {
			continue
		}
		since := s.kube.since(func(env *cel.Env) bool {
			return slices.ContainsFunc(env.Macros(), func(k cel.Macro) bool { return k.MacroKey() == m.MacroKey() })
		})
		rows = append(rows, []string{macroSignature(m), sinceText(since)})
	}
	if len(rows) == 0 {
		return ""
	}
	return table(rows, s.Width) + documentation("", examplesOf[name])
}

func macroSignature(m cel.Macro) string {
	args := []string{"x", "expression", "expression"}
	switch {
	case m.Function() == "has":
		return "has(a.b)"
	case m.ArgCount() == 3 && m.Function() != "map" && m.Function() != "filter":
		args = []string{"i", "x", "expression"}
	case m.ArgCount() == 4:
		args = []string{"i", "x", "expression", "expression"}
	}
	call := m.Function() + "(" + strings.Join(args[:min(m.ArgCount(), len(args))], ", ") + ")"
	if m.IsReceiverStyle() {
		return "self." + call + " (macro)"
	}
	return call + " (macro)"
}

// signature is an overload in the words of a schema's author.
func signature(name string, o *decls.OverloadDecl) string {
	args := o.ArgTypes()
	call := name
	if o.IsMemberFunction() {
		call, args = "("+argument(args[0])+")."+name, args[1:]
	}
	texts := make([]string, len(args))
	for i, arg := range args {
		texts[i] = argument(arg)
	}
	return fmt.Sprintf("%s(%s) -> %s", call, strings.Join(texts, ", "), argument(o.ResultType()))
}

func argument(t *cel.Type) string {
	if t.Kind() == cel.TypeParamKind || t.Kind() == cel.DynKind {
		return "anything"
	}
	return words(t)
}

func documentation(description string, examples []string) string {
	var b strings.Builder
	if description = strings.TrimSpace(description); description != "" {
		b.WriteString("  " + lex.OneLine(description) + "\n")
	}
	for _, example := range examples[:min(3, len(examples))] {
		first, _, _ := strings.Cut(strings.TrimSpace(example), "\n")
		b.WriteString("  e.g. " + first + "\n")
	}
	return b.String()
}

// columns arranges words over the width of a screen.
func columns(texts []string, width int) string {
	if width <= 0 {
		width = 80
	}
	widest := 1
	for _, text := range texts {
		widest = max(widest, len(text)+2)
	}
	n := max(1, width/widest)
	rows := (len(texts) + n - 1) / n
	var lines [][]string
	for r := range rows {
		var row []string
		for i := r; i < len(texts); i += rows {
			row = append(row, texts[i])
		}
		lines = append(lines, row)
	}
	return table(lines, 0)
}
