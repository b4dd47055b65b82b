package celvalue

import (
	"fmt"
	"reflect"

	celtypes "github.com/google/cel-go/common/types"
)

// goStructs lists the Go types of request and namespaceObject with fields that only they have.
var goStructs = []struct {
	name   string
	fields []string
}{
	{"v1.AdmissionRequest", []string{"requestKind", "userInfo"}}, {"v1.GroupVersionKind", []string{"group", "version", "kind"}},
	{"v1.GroupVersionResource", []string{"group", "version", "resource"}}, {"v1.UserInfo", []string{"username"}},
	{"v1.Namespace", []string{"metadata", "spec", "status"}}, {"v1.ObjectMeta", []string{"name"}}, {"v1.NamespaceSpec", []string{"finalizers"}},
	{"v1.NamespaceStatus", []string{"phase"}},
}

// unconvertible returns the server's error of converting the value of a Go struct or map, which can only be
// converted to its own type.
func (m *untypedMap) unconvertible(t reflect.Type) error {
	for _, s := range goStructs {
		if hasAll(m.fields, s.fields...) {
			return fmt.Errorf("type conversion error from struct type %s to %v", s.name, t)
		}
	}
	return fmt.Errorf("type conversion error from '%s' to '%s'", celtypes.MapType, t)
}

// isOptions reports whether an object is the options of a request, which are JSON in the server, not a struct.
func isOptions(object map[string]any) bool { return hasAll(object, "apiVersion", "kind") }

func hasAll(object map[string]any, fields ...string) bool {
	for _, field := range fields {
		if _, ok := object[field]; !ok {
			return false
		}
	}
	return true
}
