package eval

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/common/decls"
	celtypes "github.com/google/cel-go/common/types"
)

// sampleOf returns "" if rules cannot have type t.
func sampleOf(t *celtypes.Type) string {
	switch t.Kind() {
	case celtypes.BoolKind:
		return "true"
	case celtypes.IntKind, celtypes.DynKind, celtypes.TypeParamKind:
		return "3"
	case celtypes.UintKind:
		return "4u"
	case celtypes.DoubleKind:
		return "2.5"
	case celtypes.StringKind:
		return "'a/b'"
	case celtypes.BytesKind:
		return "b'ab'"
	case celtypes.DurationKind:
		return "duration('1h')"
	case celtypes.TimestampKind:
		return "timestamp('2024-02-03T04:05:06Z')"
	case celtypes.TypeKind:
		return "int"
	case celtypes.ListKind:
		if elem := sampleOf(t.Parameters()[0]); elem != "" {
			return "[" + elem + "]"
		}
	case celtypes.MapKind:
		return "{3: 3}"
	case celtypes.OpaqueKind, celtypes.StructKind:
		return opaqueSamples[t.TypeName()]
	}
	return ""
}

var opaqueSamples = map[string]string{
	"optional_type":          "optional.of(3)",
	"kubernetes.Quantity":    "quantity('1Gi')",
	"kubernetes.URL":         "url('https://a.b/c')",
	"kubernetes.NamedFormat": "format.uuid()",
	"kubernetes.Semver":      "semver('1.2.3')",
	"net.IP":                 "ip('10.0.0.1')",
	"net.CIDR":               "cidr('10.0.0.0/8')",
}

// callText returns "" if only the parser can make such a call.
func callText(fn *decls.FunctionDecl, o *decls.OverloadDecl, args []string) string {
	forms := map[string]string{
		"_?_:_": "%s ? %s : %s", "_[_]": "%s[%s]", "_[?_]": "%s[?%s]", "@in": "%s in %s", "-_": "-%s", "!_": "!%s",
	}
	list := make([]any, len(args))
	for i, arg := range args {
		list[i] = arg
	}
	name := fn.Name()
	switch {
	case forms[name] != "":
		return fmt.Sprintf(forms[name], list...)
	case strings.HasPrefix(name, "_") && strings.HasSuffix(name, "_") && len(args) == 2:
		return args[0] + " " + strings.Trim(name, "_") + " " + args[1]
	case strings.Contains(name, "@") || strings.HasPrefix(name, "_"):
		return ""
	case o.IsMemberFunction():
		return args[0] + "." + name + "(" + strings.Join(args[1:], ", ") + ")"
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

func TestOverloads(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	decl := declare(t, read(t, "testdata/schema.yaml"))
	env := environment(t, decl, false)
	functions := env.Functions()
	called, skipped := 0, []string{}
	for name, fn := range functions {
		for _, o := range fn.OverloadDecls() {
			if _, clash := functions[o.ID()]; clash && o.ID() != name {
				t.Errorf("overload %s of %s is named as another function", o.ID(), name)
			}
			if fn.IsDeclarationDisabled() {
				continue
			}
			exprs := overloadCalls(fn, o)
			if len(exprs) == 0 {
				skipped = append(skipped, o.ID())
			}
			for _, src := range exprs {
				s := compiles(t, env, decl, src)
				if s == nil {
					continue // dyn(3).f(), for an f that only some types have
				}
				called++
				if !s.usesOurs() {
					t.Errorf("%s: %s is left to cel-go", o.ID(), src)
				}
				bind := func() *Activation { return Bind(decl, map[string]any{}) }
				if diff, _ := s.difference(bind, noLimit); diff != "" {
					t.Errorf("%s: %s\n%s", o.ID(), src, diff)
				}
			}
		}
	}
	slices.Sort(skipped)
	if called < len(functions) {
		t.Errorf("only %d calls of %d functions", called, len(functions))
	}
	t.Logf("%d calls; no call in rules of %v", called, skipped)
}

func overloadCalls(fn *decls.FunctionDecl, o *decls.OverloadDecl) []string {
	var constants, vals []string
	for _, t := range o.ArgTypes() {
		sample := sampleOf(t)
		if sample == "" {
			return nil
		}
		constants = append(constants, sample)
		vals = append(vals, "["+sample+"][0]")
	}
	if callText(fn, o, constants) == "" {
		return nil
	}
	exprs := []string{callText(fn, o, constants), callText(fn, o, vals)}
	for i := range vals {
		failing := slices.Clone(vals)
		failing[i] = "[" + constants[i] + "][7]"
		exprs = append(exprs, callText(fn, o, failing))
		failing[i] = "dyn(self.s)"
		exprs = append(exprs, callText(fn, o, failing))
		failing[i] = "dyn([null][0])"
		exprs = append(exprs, callText(fn, o, failing))
	}
	return exprs
}
