package celenv

import (
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/types"
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
	minor := min(max(e.version.Minor, 0), types.Last)
	cached := &patchEnvs[minor][e.stored]
	cached.once.Do(func() {
		env, err := e.base.Extend(kubecel.JSONPatchLibrary(), func(env *cel.Env) (*cel.Env, error) {
			return cel.CustomTypeProvider(patchProvider{env.CELTypeProvider(), minor})(env)
		})
		if err != nil {
			panic("CEL environment of mutations in Kubernetes " + e.version.String() + ": " + err.Error())
		}
		cached.env = env
	})
	out.base = cached.env
	return &out
}

// patchEnvs is like baseEnvs, for WithPatchTypes.
var patchEnvs [types.Last + 1][2]struct {
	once sync.Once
	env  *cel.Env
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
