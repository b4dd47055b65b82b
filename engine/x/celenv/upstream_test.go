//go:build !window

package celenv_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/newest"
	"github.com/celadon-cel/celadon/internal/testing/schemas"
	"github.com/celadon-cel/celadon/types"
)

var envExpressions = []string{
	`self == self`, `self == oldSelf`, `self.l == oldSelf.l`, `self.l.all(x, has(x.k))`, `self.a__dash__b == ''`,
	`self.__namespace__ == ''`, `self.namespace == ''`, `self.for == ''`, `self.in == ''`, `self.true`, `self.__true__`, `self.__in__ == ''`, `has(self.namespace)`, `has(self.__namespace__)`, `{'namespace': 1}.namespace == 1`,
	`self.?namespace.hasValue()`, `self.l[?0].hasValue()`, `ip('1.2.3.4').isLoopback()`, `cidr('1.0.0.0/8').containsIP('1.2.3.4')`, `quantity('1k').isGreaterThan(quantity('1'))`,
	`url('a:').getHost() == ''`, `format.dns1123Label().validate('x').hasValue()`, `sets.contains([1], [1])`, `'a'.format([]) == ''`, `self.l.all(i, x, i > 0)`, `isSemver('1.0.0')`, `self.l.first().hasValue()`, `math.abs(1) == 1`, `self.l.sortBy(x, x.k).size() == 0`, `oldSelf.hasValue()`, `oldSelf.orValue(self) == self`,
}

func TestEnv(t *testing.T) {
	t.Parallel()
	s := schemas.Structural(t, envSchema)
	d := types.FromSchema(s, types.ResourceRoot)
	for minor := types.Oldest; minor <= newest.Minor; minor++ {
		v := types.Version{Minor: minor}
		for _, optional := range []bool{false, true} {
			stored := upstreamEnv(t, minor, d, optional).NewExpressionsEnv()
			if minor == newest.Minor {
				stored = upstreamEnv(t, minor, d, optional).StoredExpressionsEnv()
			}
			sameAnswers(t, v.String()+" stored", env(t, celenv.StoredRules(v), d, optional), stored)
			sameAnswers(t, v.String()+" new", env(t, celenv.NewRules(v), d, optional), upstreamEnv(t, minor-1, d, optional).NewExpressionsEnv())
		}
	}
}

func upstreamEnv(t *testing.T, minor int, d *types.Decl, optional bool) *environment.EnvSet {
	t.Helper()
	self := celenv.DeclType(d, "selfType")
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

func TestLanguageOfNewest(t *testing.T) {
	t.Parallel()
	for minor := 27; minor <= newest.Minor; minor++ {
		want := environment.MustBaseEnvSet(version.MajorMinor(1, uint(minor))).NewExpressionsEnv()
		if got, want := contents(celenv.LanguageOf(t, newest.Minor, minor)), contents(want); !slices.Equal(got, want) {
			t.Errorf("1.%d: %s", minor, cmp.Diff(want, got))
		}
	}
}

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
	return slices.DeleteFunc(list, func(s string) bool { return strings.HasPrefix(s, "authz") || strings.HasPrefix(s, "celadon.") })
}
