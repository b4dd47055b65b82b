package celenv

import (
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/types"
)

// keywordFields is the first minor version in which stored rules can select a field named by a reserved
// word without escaping.
const keywordFields = 31

// An Env creates the CEL environments of rules for a Kubernetes version.
type Env struct {
	version  types.Version
	shared   *base
	base     *cel.Env
	keywords bool
	stored   int // 1 for stored rules, otherwise 0
	patches  int // 1 for WithPatchTypes, otherwise 0
}

// StoredRules returns the environment for rules that are already stored in a server of version v.
func StoredRules(v types.Version) *Env {
	return newEnv(&Env{version: v, keywords: v.Minor >= keywordFields, stored: 1})
}

// NewRules returns the environment for new rules in a server of version v. It selects the libraries of the previous
// minor version, so that the server can be rolled back.
func NewRules(v types.Version) *Env {
	return newEnv(&Env{version: v, keywords: v.Minor > keywordFields})
}

func newEnv(e *Env) *Env {
	e.share(func(minor int) (*cel.Env, error) { return cel.NewEnv(languageOf(minor, minor-1+e.stored)...) })
	return e
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

// With returns the environment for expressions that use the given roots. It returns types.ErrHidden
// if a root has no CEL type.
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

func (e *Env) provider(roots ...*kubecel.DeclType) *kubecel.DeclTypeProvider {
	provider := kubecel.NewDeclTypeProvider(roots...)
	provider.SetRecognizeKeywordAsFieldName(e.keywords)
	return provider
}

// A Root is a variable of an expression. Rules have self and oldSelf; other uses of CEL in
// Kubernetes have variables such as object, oldObject, and params.
type Root struct {
	// Name is the name of the variable.
	Name string
	// Decl declares its values, which are decoded JSON. Roots with the same Decl have the same
	// type.
	Decl *types.Decl
	// Object is the type of the variable if Decl is nil. Its values are CEL values. Fields can be
	// added to the type after it was used; expressions that are compiled later can select them.
	Object *kubecel.DeclType
	// Type is the type of the variable if Decl and Object are nil. Its values are CEL values.
	Type *cel.Type
	// Optional is set if the variable is an optional of the declared type.
	Optional bool
}

// RuleRoots returns the variables of a rule at d. If optionalOldSelf is set, oldSelf is an
// optional.
func RuleRoots(d *types.Decl, optionalOldSelf bool) []Root {
	return []Root{{Name: types.Self, Decl: d}, {Name: types.OldSelf, Decl: d, Optional: optionalOldSelf}}
}

func hidden(roots []Root) bool {
	for _, r := range roots {
		if r.Decl != nil && r.Decl.Kind == types.Hidden {
			return true
		}
	}
	return false
}

func (r *Root) of(t *cel.Type) *cel.Type {
	if r.Optional {
		return cel.OptionalType(t)
	}
	return t
}

// A typeTable maps declarations to CEL types and provides their fields to the checker. Its type
// names contain ownName, so they differ from all other type names, and no expression can write
// them.
type typeTable struct {
	celtypes.Provider
	keywords bool
	roots    map[*types.Decl]*cel.Type
	objects  map[string]object // by type name
	declared []*kubecel.DeclType
}

type object struct {
	decl   *types.Decl
	fields map[string]*celtypes.FieldType
}

const ownName = "@"

func (e *Env) newTypeTable() (*typeTable, error) {
	provider, err := e.provider().WithTypeProvider(e.base.CELTypeProvider())
	return &typeTable{
		Provider: provider,
		keywords: e.keywords,
		roots:    map[*types.Decl]*cel.Type{},
		objects:  map[string]object{},
	}, err
}

func (t *typeTable) declare(e *Env, object *kubecel.DeclType) error {
	all := append(t.declared, object)
	provider, err := e.provider(all...).WithTypeProvider(e.base.CELTypeProvider())
	if err == nil {
		t.Provider, t.declared = provider, all
	}
	return err
}

// of returns the type of a root. Roots with the same Decl, such as self and oldSelf, share a type.
func (t *typeTable) of(d *types.Decl) *cel.Type {
	known := t.roots[d]
	if known == nil {
		known = t.newType(d)
		t.roots[d] = known
	}
	return known
}

// Objects at two paths get two types even if their declarations are equal, because the API server names types by path.
func (t *typeTable) newType(d *types.Decl) *cel.Type {
	switch d.Kind {
	case types.Object:
		name := types.Self + typeName + ownName + strconv.Itoa(len(t.objects))
		t.objects[name] = object{d, map[string]*celtypes.FieldType{}}
		return cel.ObjectType(name)
	case types.Map:
		return cel.MapType(cel.StringType, t.newType(d.Elem))
	case types.List:
		return cel.ListType(t.newType(d.Elem))
	}
	return CELType(d)
}

func (t *typeTable) FindStructFieldType(name, field string) (*celtypes.FieldType, bool) {
	o, ok := t.objects[name]
	if !ok {
		return t.Provider.FindStructFieldType(name, field)
	}
	if known := o.fields[field]; known != nil {
		return known, true
	}
	f, ok := o.decl.ByIdent(field)
	if !ok && t.keywords && reserved[field] {
		f, ok = o.decl.ByIdent("__" + field + "__")
	}
	if !ok {
		return nil, false
	}
	known := &celtypes.FieldType{Type: t.newType(f.Decl)}
	o.fields[field] = known
	return known, true
}
