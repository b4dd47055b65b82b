package types

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"

	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

const (
	// Newest is the Kubernetes minor that the linked release stands for.
	Newest = 37
	// Oldest is the first minor with rules that Celadon can stand for.
	Oldest = 26
)

// Version is a Kubernetes minor version, 1.Minor.
type Version struct{ Minor int }

func (v Version) String() string { return fmt.Sprintf("1.%d", v.Minor) }

// ParseVersion reads "1.33" or "v1.33.4"; "" is the newest this build knows.
func ParseVersion(s string) (Version, error) {
	if s == "" {
		return Version{Newest}, nil
	}
	major, rest, _ := strings.Cut(strings.TrimPrefix(s, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	if err != nil || major != "1" {
		return Version{}, fmt.Errorf("kubernetes version %q: want the form 1.%d", s, Newest)
	}
	if n < Oldest || n > Newest {
		return Version{}, fmt.Errorf("kubernetes version %q: this build knows 1.%d to 1.%d", s, Oldest, Newest)
	}
	return Version{n}, nil
}

// keywordFields is the first minor that lets expressions name a field with a
// reserved word unescaped after a dot.
const keywordFields = 31

// Env makes the CEL environments of rules for one Kubernetes version.
type Env struct {
	base     *cel.Env
	keywords bool
	number   int // of checksOf
}

// StoredEnv knows all that a server of version v runs in rules that are
// already stored. The newest version runs what any version ever accepted.
func StoredEnv(v Version) *Env {
	if v.Minor >= Newest {
		set := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
		return &Env{base: set.StoredExpressionsEnv(), keywords: true, number: Newest}
	}
	return expressionsEnv(v.Minor)
}

// NewRulesEnv knows what a server of version v accepts in new rules: no more
// than the minor before it runs, so that a server can be rolled back.
func NewRulesEnv(v Version) *Env { return expressionsEnv(v.Minor - 1) }

func expressionsEnv(minor int) *Env {
	minor = max(0, min(minor, Newest-1))
	set := environment.MustBaseEnvSet(version.MajorMinor(1, uint(minor)))
	return &Env{base: set.NewExpressionsEnv(), keywords: minor >= keywordFields, number: minor}
}

// typeName ends the name of a root's type in error texts. Upstream ends it in
// the clock's nanoseconds, so that no rule can name it.
const typeName = "Type000000000"

// Readable shows people a type without the digits that keep rules from naming
// it.
func Readable(text string) string { return strings.ReplaceAll(text, typeName, "Type") }

// For is the environment of expressions at a declaration: self and oldSelf
// have its type. With optionalOldSelf, oldSelf is an optional of it.
func (e *Env) For(d *Decl, optionalOldSelf bool) (*cel.Env, error) {
	return e.With(RuleRoots(d, optionalOldSelf))
}

// With is the environment of expressions that start from any roots. The error is
// ErrHidden where one has no type.
func (e *Env) With(roots []Root) (*cel.Env, error) {
	if hidden(roots) {
		return nil, ErrHidden
	}
	var objects []*apiservercel.DeclType
	var variables []cel.EnvOption
	seen := map[*Decl]*cel.Type{}
	for _, r := range roots {
		t := r.Type
		if r.Decl != nil {
			if seen[r.Decl] == nil {
				object := r.Decl.DeclType(r.Name + typeName)
				objects, seen[r.Decl] = append(objects, object), object.CelType()
			}
			t = seen[r.Decl]
		}
		variables = append(variables, cel.Variable(r.Name, r.of(t)))
	}
	opts, err := e.provider(objects...).EnvOptions(e.base.CELTypeProvider())
	if err != nil {
		return nil, err
	}
	return e.base.Extend(append(opts, variables...)...)
}

// ErrHidden says that a place has no CEL type.
var ErrHidden = errors.New("no CEL type: the schema is not visible to rules")

// provider knows object types.
func (e *Env) provider(roots ...*apiservercel.DeclType) *apiservercel.DeclTypeProvider {
	provider := apiservercel.NewDeclTypeProvider(roots...)
	provider.SetRecognizeKeywordAsFieldName(e.keywords)
	return provider
}
