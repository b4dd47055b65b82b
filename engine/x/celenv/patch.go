package celenv

import (
	"strings"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/internal/kubecel"
)

// The types that the mutations of a MutatingAdmissionPolicy return.
var (
	ObjectType    = celtypes.NewObjectType(objectTypeName)
	JSONPatchType = celtypes.NewObjectType("JSONPatch")
)

// objectTypeName is the name of the type of objects. The fields of an object have types with longer
// names, such as Object.spec.
const objectTypeName = "Object"

// WithPatchTypes returns the environment for mutations of a MutatingAdmissionPolicy: it has the
// types Object and JSONPatch, and the function jsonpatch.escapeKey.
func (e *Env) WithPatchTypes() *Env {
	out := *e
	out.patches = 1
	out.share(func(minor int) (*cel.Env, error) {
		return e.base.Extend(kubecel.JSONPatchLibrary(), func(env *cel.Env) (*cel.Env, error) {
			return cel.CustomTypeProvider(patchProvider{env.CELTypeProvider(), minor})(env)
		})
	})
	return &out
}

type patchProvider struct {
	celtypes.Provider
	minor int
}

func isObjectType(name string) bool {
	return name == objectTypeName || strings.HasPrefix(name, objectTypeName+".")
}

// IsObject reports whether t is the type of an ObjectValue.
func IsObject(t *celtypes.Type) bool {
	return t != nil && t.Kind() == celtypes.StructKind && isObjectType(t.TypeName())
}

func (p patchProvider) FindStructType(name string) (*celtypes.Type, bool) {
	switch {
	case name == JSONPatchType.TypeName():
		return celtypes.NewTypeTypeWithParam(JSONPatchType), true
	case isObjectType(name):
		return celtypes.NewTypeTypeWithParam(celtypes.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

func (p patchProvider) FindStructFieldNames(name string) ([]string, bool) {
	switch {
	case name == JSONPatchType.TypeName():
		return []string{"op", "from", "path", "value"}, true
	case isObjectType(name):
		return nil, true // any name
	}
	return p.Provider.FindStructFieldNames(name)
}

func (p patchProvider) FindStructFieldType(name, field string) (*celtypes.FieldType, bool) {
	switch {
	case name == JSONPatchType.TypeName():
		return &celtypes.FieldType{Type: patchFields[field]}, true // without a type for other names, like the server
	case isObjectType(name):
		return &celtypes.FieldType{Type: celtypes.DynType}, true
	}
	return p.Provider.FindStructFieldType(name, field)
}

var patchFields = map[string]*celtypes.Type{"op": celtypes.StringType, "from": celtypes.StringType, "path": celtypes.StringType, "value": celtypes.DynType}

func (p patchProvider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	switch {
	case name == JSONPatchType.TypeName():
		return newJSONPatch(fields)
	case isObjectType(name):
		return &ObjectValue{typ: celtypes.NewObjectType(name), fields: fields, minor: p.minor}
	}
	return p.Provider.NewValue(name, fields)
}
