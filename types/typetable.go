package types

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// typeTable knows the CEL types of declarations and tells the checker their
// fields. Its names of types have a sign that no other name has and that no
// expression can write.
type typeTable struct {
	celtypes.Provider // of all other types
	keywords          bool
	types             map[*Decl]*cel.Type
	decls             map[string]*Decl // of objects, by the type's name
}

const ownName = "@"

func (e *Env) newTypeTable() (*typeTable, error) {
	provider, err := e.provider().WithTypeProvider(e.base.CELTypeProvider())
	return &typeTable{
		Provider: provider,
		keywords: e.keywords,
		types:    map[*Decl]*cel.Type{},
		decls:    map[string]*Decl{},
	}, err
}

func (t *typeTable) of(d *Decl) *cel.Type {
	c := t.types[d]
	if c != nil {
		return c
	}
	switch d.Kind {
	case Object:
		name := fmt.Sprintf("%s%s%d", Self+typeName, ownName, len(t.decls))
		t.decls[name] = d
		c = cel.ObjectType(name)
	case Map:
		c = cel.MapType(cel.StringType, t.of(d.Elem))
	case List:
		c = cel.ListType(t.of(d.Elem))
	default:
		c = d.DeclType("").CelType()
	}
	t.types[d] = c
	return c
}

func (t *typeTable) FindStructType(name string) (*celtypes.Type, bool) {
	if !strings.Contains(name, ownName) {
		return t.Provider.FindStructType(name)
	}
	d, ok := t.decls[name]
	if !ok {
		return nil, false
	}
	return celtypes.NewTypeTypeWithParam(t.of(d)), true
}

func (t *typeTable) FindStructFieldType(name, field string) (*celtypes.FieldType, bool) {
	d, ok := t.decls[name]
	if !ok {
		return t.Provider.FindStructFieldType(name, field)
	}
	f, ok := d.ByIdent(field)
	if !ok && t.keywords && reserved[field] {
		f, ok = d.ByIdent("__" + field + "__")
	}
	if !ok {
		return nil, false
	}
	return &celtypes.FieldType{Type: t.of(f.Decl)}, true
}

func (t *typeTable) FindIdent(name string) (ref.Val, bool) {
	if strings.Contains(name, ownName) {
		return nil, false
	}
	return t.Provider.FindIdent(name)
}

var errNoEnum = celtypes.NewErr("unknown enum")

func (t *typeTable) EnumValue(name string) ref.Val {
	if strings.Contains(name, ownName) {
		return errNoEnum
	}
	return t.Provider.EnumValue(name)
}
