package check_test

import (
	"fmt"
	"sync"
	"testing"

	_ "cel.dev/expr/conformance/proto2" // messages of the conformance suite
	"cel.dev/expr/conformance/proto3"
	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/celadon-cel/celadon/internal/testing/celexprs"
	"github.com/celadon-cel/celadon/types"
)

func everything(t testing.TB) *side {
	t.Helper()
	options := []cel.EnvOption{
		cel.OptionalTypes(), ext.Bindings(), ext.TwoVarComprehensions(), ext.Lists(), ext.Math(), ext.Protos(), ext.Strings(), ext.Sets(), ext.Encoders(), ext.Regex(),
		cel.Types(&proto3.TestAllTypes{}), cel.CrossTypeNumericComparisons(true),
		cel.Constant("answer", cel.IntType, celInt(42)),
		cel.Variable("a.b.c", cel.IntType), cel.Variable("a.b", cel.MapType(cel.StringType, cel.StringType)), cel.Variable("msg", cel.ObjectType("cel.expr.conformance.proto3.TestAllTypes")),
	}
	for name, t := range kinds() {
		options = append(options, cel.Variable(name, t))
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		t.Fatal(err)
	}
	return newSide(t, "everything", env)
}

func kinds() map[string]*cel.Type {
	kinds := map[string]*cel.Type{
		"b": cel.BoolType, "i": cel.IntType, "u": cel.UintType, "d": cel.DoubleType, "s": cel.StringType, "y": cel.BytesType, "dur": cel.DurationType, "time": cel.TimestampType,
		"x": cel.DynType, "any": cel.AnyType, "n": cel.NullType, "wi": cel.NullableType(cel.IntType), "ws": cel.NullableType(cel.StringType), "kind": cel.TypeType,
	}
	for name, t := range map[string]*cel.Type{"i": cel.IntType, "s": cel.StringType, "x": cel.DynType, "li": cel.ListType(cel.IntType), "wi": cel.NullableType(cel.IntType)} {
		kinds["l"+name] = cel.ListType(t)
		kinds["m"+name] = cel.MapType(cel.StringType, t)
		kinds["k"+name] = cel.MapType(t, cel.IntType)
		kinds["o"+name] = cel.OptionalType(t)
		kinds["t"+name] = celtypes.NewTypeTypeWithParam(t)
	}
	return kinds
}

// versions returns the environments for new rules of all Kubernetes versions, followed by the
// newest environment for stored rules.
var versions = sync.OnceValues(func() ([]*cel.Env, error) {
	var envs []*cel.Env
	for minor := types.Oldest - 1; minor < types.Newest; minor++ {
		envs = append(envs, environment.MustBaseEnvSet(version.MajorMinor(1, uint(minor))).NewExpressionsEnv())
	}
	return append(envs, environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv()), nil
})

func kubernetes(t testing.TB) (sides []*side) {
	t.Helper()
	envs, err := versions()
	if err != nil {
		t.Fatal(err)
	}
	var options []cel.EnvOption
	for name, t := range kinds() {
		options = append(options, cel.Variable(name, t))
	}
	for i, env := range envs {
		if env, err = env.Extend(options...); err != nil {
			t.Fatal(err)
		}
		sides = append(sides, newSide(t, fmt.Sprintf("kubernetes %d", i), env))
	}
	return sides
}

func TestUpstreamTables(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	all, kube := everything(t), kubernetes(t)
	var count tally
	for i, text := range celexprs.Upstream(t) {
		all.compare(t, text, &count)
		kube[i%len(kube)].compare(t, text, &count)
	}
	t.Logf("%+v", count)
}

func celInt(n int64) celtypes.Int { return celtypes.Int(n) }
