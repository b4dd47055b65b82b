package finding

import "testing"

func TestRatcheted(t *testing.T) {
	t.Parallel()
	for warning, want := range map[string]bool{
		"spec.size: Invalid value: 7: never seven":                              true,
		"spec.name: Required value":                                             true,
		"spec.list[a b]: Too many: 3: must have at most 2 items":                true,
		`metadata.finalizers: "a": prefer a domain-qualified finalizer name`:    false,
		`unknown field "spec.a"`:                                                false,
		"example.com/v1 Thing is deprecated":                                    false,
		"Validation failed for ValidatingAdmissionPolicy 'p': Required value":   false,
		"spec.note: Invalid values are accepted, as the deprecation warns them": false,
	} {
		if got := (&Object{Operation: "update"}).Ratcheted(warning); got != want {
			t.Errorf("%s: %v", warning, got)
		}
		if (&Object{Operation: "create"}).Ratcheted(warning) {
			t.Errorf("%s: ratcheted in a create", warning)
		}
	}
}
