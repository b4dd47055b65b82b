package types

import (
	"strconv"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
)

// typeTable knows the CEL types of declarations and tells the checker their
// fields. Its names of types have a sign that no other name has and that no
// expression can write.
type typeTable struct {
	celtypes.Provider // of all other types
	keywords          bool
	roots             map[*Decl]*cel.Type
	objects           map[string]object // by the type's name
}

// object is a type of objects.
type object struct {
	decl *Decl
	// fields are those that were asked for.
	fields map[string]*celtypes.FieldType
}

const ownName = "@"

func (e *Env) newTypeTable() (*typeTable, error) {
	provider, err := e.provider().WithTypeProvider(e.base.CELTypeProvider())
	return &typeTable{
		Provider: provider,
		keywords: e.keywords,
		roots:    map[*Decl]*cel.Type{},
		objects:  map[string]object{},
	}, err
}

// of is the type of a root: self and oldSelf have one.
func (t *typeTable) of(d *Decl) *cel.Type {
	known := t.roots[d]
	if known == nil {
		known = t.place(d)
		t.roots[d] = known
	}
	return known
}

// place makes the type of a place. Objects of two places have two types, though they
// be declared alike: an API server names types by their paths.
func (t *typeTable) place(d *Decl) *cel.Type {
	switch d.Kind {
	case Object:
		name := Self + typeName + ownName + strconv.Itoa(len(t.objects))
		t.objects[name] = object{d, map[string]*celtypes.FieldType{}}
		return cel.ObjectType(name)
	case Map:
		return cel.MapType(cel.StringType, t.place(d.Elem))
	case List:
		return cel.ListType(t.place(d.Elem))
	}
	return d.CELType()
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
	known := &celtypes.FieldType{Type: t.place(f.Decl)}
	o.fields[field] = known
	return known, true
}
