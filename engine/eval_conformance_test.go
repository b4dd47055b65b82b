package engine_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	celpb "cel.dev/expr"
	_ "cel.dev/expr/conformance/proto2" // message types that the tests use
	_ "cel.dev/expr/conformance/proto3"
	conformancepb "cel.dev/expr/conformance/test"
	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"google.golang.org/protobuf/encoding/prototext"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/internal/testing/gomod"
	"github.com/celadon-cel/celadon/internal/testing/newest"
	"github.com/celadon-cel/celadon/types"
)

// skipsFile lists the tests of the CEL conformance suite that rules cannot pass, with reasons.
const skipsFile = "testdata/cel_conformance_skips.txt"

// The test fails if a listed test passes, or if a test that is not listed fails.
func TestCELConformance(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	newest.Skip(t)
	skips := readSkips(t)
	decl := types.FromSchema(&schema.Structural{Generic: schema.Generic{Type: "boolean"}}, types.Subtree)
	env, err := celenv.StoredRules(types.Version{Minor: types.Newest}).For(decl, false)
	if err != nil {
		t.Fatal(err)
	}
	update := os.Getenv("CELADON_UPDATE") != ""
	var failures []string
	passed, seen := 0, map[string]int{}
	for _, file := range suiteFiles(t) {
		for _, section := range file.Section {
			for _, test := range section.Test {
				key := file.Name + "/" + section.Name + "/" + test.Name
				if seen[key]++; seen[key] > 1 {
					key += fmt.Sprintf("#%d", seen[key])
				}
				reason := (&suiteTest{test, env, decl}).run(t)
				_, skipped := skips[key]
				delete(skips, key)
				skipped = skipped || update
				switch {
				case reason == "" && skipped && !update:
					t.Errorf("%s passes: take it out of %s", key, skipsFile)
				case reason == "":
					passed++
				default:
					failures = append(failures, key+"\t"+reason)
					if !skipped {
						t.Errorf("%s: %s: %s", key, test.Expr, reason)
					}
				}
			}
		}
	}
	for key := range skips {
		if update {
			break
		}
		t.Errorf("%s: no such test", key)
	}
	if update {
		writeSkips(t, failures)
	}
	t.Logf("%d passed, %d skipped", passed, len(failures))
}

func suiteFiles(t *testing.T) []*conformancepb.SimpleTestFile {
	t.Helper()
	dir := gomod.Dir(t, "cel.dev/expr")
	names, err := filepath.Glob(filepath.Join(dir, "tests/simple/testdata/*.textproto"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no suite in %s: %v", dir, err)
	}
	slices.Sort(names)
	files := make([]*conformancepb.SimpleTestFile, len(names))
	for i, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = &conformancepb.SimpleTestFile{}
		if err := prototext.Unmarshal(data, files[i]); err != nil {
			t.Fatalf("%s: %v", filepath.Base(name), err)
		}
		files[i].Name = strings.TrimSuffix(filepath.Base(name), ".textproto")
	}
	return files
}

type suiteTest struct {
	*conformancepb.SimpleTest
	env  *cel.Env
	decl *types.Decl
}

// run returns the reason for a failure, or "" if the test passes.
func (s *suiteTest) run(t *testing.T) string {
	t.Helper()
	if s.GetUnknown() != nil || s.GetAnyUnknowns() != nil {
		return "asks for unknown values: rules have none of these"
	}
	src, reason := s.bound()
	if reason != "" {
		return reason
	}
	checked, issues := s.env.Compile(src)
	if issues.Err() != nil {
		if s.Container != "" {
			return "needs a container and its messages: rules have none"
		}
		return "does not compile in rules: " + strings.ReplaceAll(issues.Errors()[0].Message, "\n", " ")
	}
	if r := s.GetTypedResult(); r != nil && len(s.Bindings) == 0 {
		want, err := celtypes.ProtoAsType(r.DeducedType)
		if err != nil {
			return "has a type that is none: " + err.Error()
		}
		if got := checked.OutputType(); got.String() != want.String() {
			return fmt.Sprintf("type is %s, want %s", got, want)
		}
	}
	if s.CheckOnly {
		return ""
	}
	out := s.evaluate(t, checked)
	want := s.upstream(t, checked)
	for range 100 { // cel-go iterates over maps in any order
		if words(out) == want {
			break
		}
		want = s.upstream(t, checked)
	}
	if words(out) != want {
		t.Errorf("%s: %s: unlike cel-go:\ngot  %s\nwant %s", s.Name, src, words(out), want)
	}
	if reason := s.compare(out); reason != "" {
		return "cel-go of the API server " + reason
	}
	return ""
}

func (s *suiteTest) evaluate(t *testing.T, checked *cel.Ast) eval.Outcome {
	t.Helper()
	program, err := eval.New(s.env, checked, s.decl, math.MaxInt64)
	if err != nil {
		return eval.Outcome{Err: fmt.Errorf("not planned: %w", err)}
	}
	return program.Eval(t.Context(), eval.Bind(s.decl, true))
}

func (s *suiteTest) upstream(t *testing.T, checked *cel.Ast) string {
	t.Helper()
	program, err := s.env.Program(checked, cel.CostLimit(math.MaxInt64), cel.CostTracking(celcost.Estimator(s.decl)), cel.InterruptCheckFrequency(100))
	if err != nil {
		return words(eval.Outcome{Err: fmt.Errorf("not planned: %w", err)})
	}
	v, details, err := program.ContextEval(t.Context(), eval.Bind(s.decl, true))
	out := eval.Outcome{Value: v, Err: err}
	if details != nil {
		out.Cost = *details.ActualCost()
	}
	return words(out)
}

func words(out eval.Outcome) string {
	if out.Err != nil {
		return fmt.Sprintf("error: %v (cost %d)", out.Err, out.Cost)
	}
	return fmt.Sprintf("%s of %s (cost %d)", celtypes.Format(out.Value), out.Value.Type(), out.Cost)
}

func (s *suiteTest) compare(out eval.Outcome) string {
	if s.GetEvalError() != nil || s.GetAnyEvalErrors() != nil {
		if out.Err == nil {
			return fmt.Sprintf("gives %v, want an error", plain(out.Value))
		}
		return ""
	}
	if out.Err != nil {
		return "fails: " + strings.ReplaceAll(out.Err.Error(), "\n", " ")
	}
	expected := s.GetValue()
	if r := s.GetTypedResult(); r != nil {
		expected = r.Result
	}
	if expected == nil {
		expected = &celpb.Value{Kind: &celpb.Value_BoolValue{BoolValue: true}}
	}
	want, err := cel.ProtoAsValue(s.env.CELTypeAdapter(), expected)
	if err != nil {
		return "wants a protobuf message: rules have none"
	}
	if !sameValue(out.Value, want) {
		return fmt.Sprintf("gives %s of %s, want %s of %s", plain(out.Value), out.Value.Type(), plain(want), want.Type())
	}
	return ""
}

func sameValue(got, want ref.Val) bool {
	if g, ok := got.(celtypes.Double); ok && math.IsNaN(float64(g)) {
		w, ok := want.(celtypes.Double)
		return ok && math.IsNaN(float64(w))
	}
	return got.Type().TypeName() == want.Type().TypeName() && got.Equal(want) == celtypes.True
}

// Rules have no variable but self, so each variable becomes the variable of a macro over a list with its value.
func (s *suiteTest) bound() (src, reason string) {
	dynamic := map[string]bool{}
	for _, d := range s.TypeEnv {
		if d.GetFunction() != nil {
			return "", "needs a function of its own: " + d.Name
		}
		if s.Bindings[d.Name] == nil {
			return "", "needs a variable without a value: " + d.Name
		}
		dynamic[d.Name] = d.GetIdent().GetType().GetDyn() != nil
	}
	src = s.Expr
	names := make([]string, 0, len(s.Bindings))
	for name := range s.Bindings {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.Contains(name, ".") {
			return "", "needs a variable with a dot in its name: " + name
		}
		text, ok := literal(s.Bindings[name].GetValue())
		if !ok {
			return "", "needs a variable that is no literal: " + name
		}
		if dynamic[name] {
			text = "dyn(" + text + ")"
		}
		src = "[" + text + "].map(" + name + ", " + src + "\n)[0]"
	}
	return src, ""
}

func literal(v *celpb.Value) (text string, ok bool) {
	switch k := v.GetKind().(type) {
	case *celpb.Value_NullValue:
		return "null", true
	case *celpb.Value_BoolValue:
		return strconv.FormatBool(k.BoolValue), true
	case *celpb.Value_Int64Value:
		return strconv.FormatInt(k.Int64Value, 10), true
	case *celpb.Value_Uint64Value:
		return strconv.FormatUint(k.Uint64Value, 10) + "u", true
	case *celpb.Value_DoubleValue:
		return "double('" + strconv.FormatFloat(k.DoubleValue, 'g', -1, 64) + "')", true
	case *celpb.Value_StringValue:
		return strconv.QuoteToASCII(k.StringValue), true
	case *celpb.Value_BytesValue:
		return fmt.Sprintf("b%q", k.BytesValue), true
	case *celpb.Value_ListValue:
		var items []string
		for _, item := range k.ListValue.Values {
			text, ok := literal(item)
			if !ok {
				return "", false
			}
			items = append(items, "dyn("+text+")")
		}
		return "[" + strings.Join(items, ", ") + "]", true
	case *celpb.Value_MapValue:
		var entries []string
		for _, e := range k.MapValue.Entries {
			key, keyOK := literal(e.Key)
			value, valueOK := literal(e.Value)
			if !keyOK || !valueOK {
				return "", false
			}
			entries = append(entries, "dyn("+key+"): dyn("+value+")")
		}
		return "{" + strings.Join(entries, ", ") + "}", true
	}
	return "", false
}

func readSkips(t *testing.T) map[string]string {
	t.Helper()
	skips := map[string]string{}
	data, err := os.ReadFile(skipsFile)
	if err != nil {
		if os.Getenv("CELADON_UPDATE") != "" {
			return skips
		}
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, reason, ok := strings.Cut(line, "\t")
		if !ok || reason == "" {
			t.Errorf("%s: no reason: %s", skipsFile, line)
		}
		skips[key] = reason
	}
	return skips
}

func writeSkips(t *testing.T, failures []string) {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("# Tests of the CEL conformance suite that are not for rules, and why.\n# CELADON_UPDATE=1 go test ./engine -run TestCELConformance rewrites this file.\n")
	for _, line := range failures {
		b.WriteString(line + "\n")
	}
	if err := os.WriteFile(skipsFile, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
