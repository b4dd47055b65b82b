package celenv

import (
	"strings"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/types"
)

// keywordFields is the first minor version in which a field named by a reserved word can be
// selected without escaping.
const keywordFields = 31

// An Env creates the CEL environments of rules for a Kubernetes version.
type Env struct {
	version  types.Version
	base     *cel.Env
	keywords bool
	stored   int // 1 for stored rules, otherwise 0
	patches  int // 1 for WithPatchTypes, otherwise 0
}

// StoredRules returns the environment for rules that are already stored in a server of version v. For
// the newest version, it accepts everything that any version ever accepted.
func StoredRules(v types.Version) *Env {
	return &Env{version: v, base: baseEnv(v, 1), keywords: v.Minor >= keywordFields, stored: 1}
}

// NewRules returns the environment for new rules in a server of version v. It accepts only what
// the previous minor version can run, so that the server can be rolled back.
func NewRules(v types.Version) *Env {
	return &Env{version: v, base: baseEnv(v, 0), keywords: v.Minor > keywordFields}
}

// ForRules returns NewRules(v) if isNew is set, or else StoredRules(v).
func ForRules(v types.Version, isNew bool) *Env {
	if isNew {
		return NewRules(v)
	}
	return StoredRules(v)
}

// Version returns the version whose rules are compiled.
func (e *Env) Version() types.Version { return e.version }

// typeName is the suffix of a root type's name in error messages. Upstream uses the current time in
// nanoseconds, so that no rule can name the type.
const typeName = "Type000000000"

// Readable removes the digits that typeName adds to type names in text.
func Readable(text string) string { return strings.ReplaceAll(text, typeName, "Type") }

// For returns the environment for expressions at d: self and oldSelf have its type. If
// optionalOldSelf is set, oldSelf is an optional of it.
func (e *Env) For(d *types.Decl, optionalOldSelf bool) (*cel.Env, error) {
	return e.With(RuleRoots(d, optionalOldSelf))
}

// With returns the environment for expressions that use the given roots. It returns types.ErrHidden if a
// root has no CEL type.
func (e *Env) With(roots []Root) (*cel.Env, error) {
	if hidden(roots) {
		return nil, types.ErrHidden
	}
	var objects []*kubecel.DeclType
	var variables []cel.EnvOption
	seen := map[*types.Decl]*cel.Type{}
	for _, r := range roots {
		t := r.Type
		switch {
		case r.Object != nil:
			objects, t = append(objects, r.Object), r.Object.CelType()
		case r.Decl != nil:
			if seen[r.Decl] == nil {
				object := DeclType(r.Decl, r.Name+typeName)
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

// provider returns a type provider for roots.
func (e *Env) provider(roots ...*kubecel.DeclType) *kubecel.DeclTypeProvider {
	provider := kubecel.NewDeclTypeProvider(roots...)
	provider.SetRecognizeKeywordAsFieldName(e.keywords)
	return provider
}
