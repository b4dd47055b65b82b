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
// converted to its own type. It returns nil for options, which are JSON in the server.
func (m *UntypedMap) unconvertible(t reflect.Type) error {
	if m.has("apiVersion", "kind") {
		return nil
	}
	for _, s := range goStructs {
		if m.has(s.fields...) {
			return fmt.Errorf("type conversion error from struct type %s to %v", s.name, t)
		}
	}
	return fmt.Errorf("type conversion error from '%s' to '%s'", celtypes.MapType, t)
}

func (m *UntypedMap) has(fields ...string) bool {
	for _, field := range fields {
		if _, ok := m.Fields[field]; !ok {
			return false
		}
	}
	return true
}
