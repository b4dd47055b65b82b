package builtin

import "testing"

// Every resource of the table has registries whose objects have the table's kind.
func TestResources(t *testing.T) {
	for kind, served := range all() {
		endpoints, err := served.endpoints()
		if err != nil {
			t.Errorf("%v: %v", kind, err)
			continue
		}
		if got := endpoints[""].scope.Kind; got != kind {
			t.Errorf("%v: the registry has %v", kind, got)
		}
	}
}
