package policyvet

import "testing"

func TestFails(t *testing.T) {
	t.Parallel()
	const call = "found no matching overload for '"
	for message, want := range map[string]bool{
		call + "_>_' applied to '(string, int)'":                                                                           true,
		call + "_<_' applied to '(int, duration)'":                                                                         true,
		call + "_<_' applied to '(timestamp, string)'":                                                                     false, // such a field is a string
		call + "_==_' applied to '(int, double)'":                                                                          false,
		call + "_==_' applied to '(bool, string)'":                                                                         true,
		call + "_==_' applied to '(objectType000000000.spec.selector, map(string, int))'":                                  false,
		call + "_==_' applied to '(list(string), string)'":                                                                 true,
		call + "_[_]' applied to '(list(objectType000000000.spec.@idx), string)'":                                          true,
		call + "_[_]' applied to '(objectType000000000.spec, string)'":                                                     false,
		call + "_?_:_' applied to '(string, list(int), list(int))'":                                                        true,
		call + "_?_:_' applied to '(bool, list(int), string)'":                                                             false,
		call + "_+_' applied to '(list(string), list(int))'":                                                               false,
		call + "@in' applied to '(int, list(string))'":                                                                     true,
		call + "@in' applied to '(string, objectType000000000.spec)'":                                                      false,
		call + "size' applied to '(objectType000000000.spec)'":                                                             false,
		call + "size' applied to 'int.()'":                                                                                 true,
		call + "startsWith' applied to 'list(string).(string)'":                                                            true,
		call + "unknown' applied to '(string)'":                                                                            false,
		"type 'list(string)' does not support field selection":                                                             true,
		"expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)":                      true,
		"expression of type 'objectType000000000.spec' cannot be range of a comprehension (must be list, map, or dynamic)": false,
		"expected type 'int' but found 'string'":                                                                           false,
		"undefined field 'x'":                                                                                              true,
	} {
		if got := fails(message); got != want {
			t.Errorf("%s: fails: %v, want %v", message, got, want)
		}
	}
}
