package types_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"

	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/celadon-cel/celadon/types"
)

func TestParseVersion(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in      string
		minor   int
		failure string
	}{
		{in: "", minor: types.Newest},
		{in: "1.28", minor: 28},
		{in: "1.33", minor: 33},
		{in: "v1.33", minor: 33},
		{in: "1.33.4", minor: 33},
		{in: "v1.33.4-rc.0+x", minor: 33},
		{in: "1.37", minor: 37},
		{in: "1.27", failure: `kubernetes version "1.27": this build knows 1.28 to 1.37`},
		{in: "1.38", failure: `kubernetes version "1.38": this build knows 1.28 to 1.37`},
		{in: "1.-30", failure: `kubernetes version "1.-30": this build knows 1.28 to 1.37`},
		{in: "2.30", failure: `kubernetes version "2.30": want 1.28 to 1.37`},
		{in: "1", failure: `kubernetes version "1": want 1.28 to 1.37`},
		{in: "1.", failure: `kubernetes version "1.": want 1.28 to 1.37`},
		{in: "1.x", failure: `kubernetes version "1.x": want 1.28 to 1.37`},
		{in: "33", failure: `kubernetes version "33": want 1.28 to 1.37`},
		{in: "latest", failure: `kubernetes version "latest": want 1.28 to 1.37`},
		{in: "1.99999999999999999999", failure: `kubernetes version "1.99999999999999999999": want 1.28 to 1.37`},
	}
	for _, tt := range tests {
		v, err := types.ParseVersion(tt.in)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if v.Minor != tt.minor || got != tt.failure {
			t.Errorf("%q: got %d, %q, want %d, %q", tt.in, v.Minor, got, tt.minor, tt.failure)
		}
	}
	if got := (types.Version{Minor: 33}).String(); got != "1.33" {
		t.Errorf("String: got %q", got)
	}
}

const envSchema = `{type: object, properties: {a-b: {type: string}, namespace: {type: string}, "true": {type: boolean}, in: {type: string}, for: {type: string}, l: {type: array, items: {type: object, properties: {k: {type: string}}}}}}`

var envExpressions = []string{
	`self == self`, `self == oldSelf`, `self.l == oldSelf.l`, `self.l.all(x, has(x.k))`, `self.a__dash__b == ''`,
	`self.__namespace__ == ''`, `self.namespace == ''`, `self.for == ''`, `self.in == ''`, `self.true`, `self.__true__`, `self.__in__ == ''`, `has(self.namespace)`, `has(self.__namespace__)`, `{'namespace': 1}.namespace == 1`,
	`self.?namespace.hasValue()`, `self.l[?0].hasValue()`, `ip('1.2.3.4').isLoopback()`, `cidr('1.0.0.0/8').containsIP('1.2.3.4')`, `quantity('1k').isGreaterThan(quantity('1'))`,
	`url('a:').getHost() == ''`, `format.dns1123Label().validate('x').hasValue()`, `sets.contains([1], [1])`, `'a'.format([]) == ''`, `self.l.all(i, x, i > 0)`, `isSemver('1.0.0')`, `self.l.first().hasValue()`, `math.abs(1) == 1`, `self.l.sortBy(x, x.k).size() == 0`, `oldSelf.hasValue()`, `oldSelf.orValue(self) == self`,
}

// TestEnv compares, for each version, which expressions compile and the error messages of the
// others with the API server's environment.
func TestEnv(t *testing.T) {
	t.Parallel()
	s := structural(t, envSchema)
	d := types.FromSchema(s, types.ResourceRoot)
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		v := types.Version{Minor: minor}
		for _, optional := range []bool{false, true} {
			stored := upstreamEnv(t, minor, d, optional).NewExpressionsEnv()
			if minor == types.Newest {
				stored = upstreamEnv(t, minor, d, optional).StoredExpressionsEnv()
			}
			sameAnswers(t, v.String()+" stored", env(t, types.StoredEnv(v), d, optional), stored)
			sameAnswers(t, v.String()+" new", env(t, types.NewRulesEnv(v), d, optional), upstreamEnv(t, minor-1, d, optional).NewExpressionsEnv())
		}
	}
}

func env(t *testing.T, e *types.Env, d *types.Decl, optional bool) *cel.Env {
	t.Helper()
	env, err := e.For(d, optional)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func upstreamEnv(t *testing.T, minor int, d *types.Decl, optional bool) *environment.EnvSet {
	t.Helper()
	self := d.DeclType("selfType")
	old := self.CelType()
	if optional {
		old = cel.OptionalType(old)
	}
	set, err := environment.MustBaseEnvSet(version.MajorMinor(1, uint(minor))).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Variable("self", self.CelType()), cel.Variable("oldSelf", old)},
		DeclTypes:         []*apiservercel.DeclType{self},
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func sameAnswers(t *testing.T, name string, ours, theirs *cel.Env) {
	t.Helper()
	for _, src := range envExpressions {
		if strings.Contains(src, "first()") && name < "1.33" {
			continue // depends on the linked cel-go, see TestLanguageOfMinor
		}
		_, got := ours.Compile(src)
		_, want := theirs.Compile(src)
		if clockless(got.String()) != clockless(want.String()) {
			t.Errorf("%s: %s\ngot  %s\nwant %s", name, src, got, want)
		}
	}
}

var typeName = regexp.MustCompile(`selfType\d*`)

// clockless removes the timestamp that can follow the name of self's type.
func clockless(text string) string { return typeName.ReplaceAllString(text, "selfType") }

// TestEnvFacts checks a few results that the comparison in TestEnv must include.
func TestEnvFacts(t *testing.T) {
	t.Parallel()
	d := types.FromSchema(structural(t, envSchema), types.ResourceRoot)
	tests := []struct {
		src             string
		env             *types.Env
		optional, wants bool
	}{
		{src: `self == self`, env: types.StoredEnv(types.Version{Minor: types.Oldest}), wants: true},
		{src: `self == self`, env: types.NewRulesEnv(types.Version{Minor: types.Oldest}), wants: true},
		{src: `self.namespace == ''`, env: types.StoredEnv(types.Version{Minor: 31}), wants: true},
		{src: `self.namespace == ''`, env: types.StoredEnv(types.Version{Minor: 30})},
		{src: `self.namespace == ''`, env: types.NewRulesEnv(types.Version{Minor: 32}), wants: true},
		{src: `self.namespace == ''`, env: types.NewRulesEnv(types.Version{Minor: 31})},
		{src: `self.__namespace__ == ''`, env: types.StoredEnv(types.Version{Minor: 28}), wants: true},
		{src: `self.in == ''`, env: types.StoredEnv(types.Version{Minor: 37})},
		{src: `ip('::1') == ip('::1')`, env: types.StoredEnv(types.Version{Minor: 30}), wants: true},
		{src: `ip('::1') == ip('::1')`, env: types.NewRulesEnv(types.Version{Minor: 30})},
		{src: `oldSelf.hasValue()`, env: types.StoredEnv(types.Version{Minor: 37}), optional: true, wants: true},
		{src: `oldSelf.hasValue()`, env: types.StoredEnv(types.Version{Minor: 37})},
	}
	for _, tt := range tests {
		_, issues := env(t, tt.env, d, tt.optional).Compile(tt.src)
		if got := issues.Err() == nil; got != tt.wants {
			t.Errorf("%s: compiles %t, want %t: %v", tt.src, got, tt.wants, issues)
		}
	}
}

func TestEnvHidden(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{x-kubernetes-preserve-unknown-fields: true}`, `{type: array}`, `{}`} {
		d := types.FromSchema(structural(t, text), types.Subtree)
		_, err := types.StoredEnv(types.Version{Minor: types.Newest}).For(d, false)
		if !errors.Is(err, types.ErrHidden) || !strings.Contains(err.Error(), "no CEL type") {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// TestLanguageOfNewest compares the table of options with that of the linked release: each minor
// version selects the same libraries, functions, macros, and validators.
func TestLanguageOfNewest(t *testing.T) {
	t.Parallel()
	for minor := 27; minor <= types.Newest; minor++ {
		want := environment.MustBaseEnvSet(version.MajorMinor(1, uint(minor))).NewExpressionsEnv()
		if got, want := contents(types.LanguageOf(t, types.Newest, minor)), contents(want); !slices.Equal(got, want) {
			t.Errorf("1.%d: got %v, want %v", minor, got, want)
		}
	}
}

// contents lists everything that an environment declares.
func contents(env *cel.Env) (list []string) {
	list = append(list, env.Libraries()...)
	for _, f := range env.Functions() {
		for _, o := range f.OverloadDecls() {
			list = append(list, "overload "+o.ID())
		}
	}
	for _, m := range env.Macros() {
		list = append(list, "macro "+m.MacroKey())
	}
	for _, v := range env.Validators() {
		list = append(list, "validator "+v.Name())
	}
	slices.Sort(list)
	return slices.DeleteFunc(list, func(s string) bool { return strings.HasPrefix(s, "authz") })
}
