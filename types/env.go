package types

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"

	apiservercel "k8s.io/apiserver/pkg/cel"
)

const (
	// Newest is the Kubernetes minor version of the linked k8s.io release.
	Newest = 37
	// Oldest is the oldest Kubernetes minor version that Celadon supports.
	Oldest = 28
)

// A Version is the Kubernetes minor version 1.Minor.
type Version struct{ Minor int }

func (v Version) String() string { return fmt.Sprintf("1.%d", v.Minor) }

// ParseVersion parses a version such as "1.33" or "v1.33.4". It returns Newest for "".
func ParseVersion(s string) (Version, error) {
	if s == "" {
		return Version{Newest}, nil
	}
	major, rest, _ := strings.Cut(strings.TrimPrefix(s, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	if err != nil || major != "1" {
		return Version{}, fmt.Errorf("kubernetes version %q: want 1.%d to 1.%d", s, Oldest, Newest)
	}
	if n < Oldest || n > Newest {
		return Version{}, fmt.Errorf("kubernetes version %q: this build knows 1.%d to 1.%d", s, Oldest, Newest)
	}
	return Version{n}, nil
}

// keywordFields is the first minor version in which a field named by a reserved word can be
// selected without escaping.
const keywordFields = 31

// An Env creates the CEL environments of rules for a Kubernetes version.
type Env struct {
	version  Version
	base     *cel.Env
	keywords bool
	stored   int // 1 for stored rules, otherwise 0
}

// StoredEnv returns the environment for rules that are already stored in a server of version v. For
// the newest version, it accepts everything that any version ever accepted.
func StoredEnv(v Version) *Env {
	return &Env{version: v, base: v.baseEnv(1), keywords: v.Minor >= keywordFields, stored: 1}
}

// NewRulesEnv returns the environment for new rules in a server of version v. It accepts only what
// the previous minor version can run, so that the server can be rolled back.
func NewRulesEnv(v Version) *Env {
	return &Env{version: v, base: v.baseEnv(0), keywords: v.Minor > keywordFields}
}

// Version returns the version whose rules are compiled.
func (e *Env) Version() Version { return e.version }

// typeName is the suffix of a root type's name in error texts. Upstream uses the current time in
// nanoseconds, so that no rule can name the type.
const typeName = "Type000000000"

// Readable removes the digits that typeName adds to type names in text.
func Readable(text string) string { return strings.ReplaceAll(text, typeName, "Type") }

// For returns the environment for expressions at d: self and oldSelf have its type. If
// optionalOldSelf is set, oldSelf is an optional of it.
func (e *Env) For(d *Decl, optionalOldSelf bool) (*cel.Env, error) {
	return e.With(RuleRoots(d, optionalOldSelf))
}

// With returns the environment for expressions that use the given roots. It returns ErrHidden if a
// root has no CEL type.
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

// ErrHidden reports that a schema node has no CEL type.
var ErrHidden = errors.New("no CEL type: the schema is not visible to rules")

// provider returns a type provider for roots.
func (e *Env) provider(roots ...*apiservercel.DeclType) *apiservercel.DeclTypeProvider {
	provider := apiservercel.NewDeclTypeProvider(roots...)
	provider.SetRecognizeKeywordAsFieldName(e.keywords)
	return provider
}
