package celenv

import (
	"strconv"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/types"
)

// A typeTable maps declarations to CEL types and provides their fields to the checker. Its type
// names contain ownName, so they differ from all other type names, and no expression can write
// them.
type typeTable struct {
	celtypes.Provider // for all other types
	keywords          bool
	roots             map[*types.Decl]*cel.Type
	objects           map[string]object // by type name
	declared          []*kubecel.DeclType
}

type object struct {
	decl *types.Decl
	// fields caches the fields looked up so far.
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

// declare adds the type of a root to the provider.
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

// newType creates the type of d at a path. Objects at two paths get two types even if their
// declarations are equal, because the API server names types by path.
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
