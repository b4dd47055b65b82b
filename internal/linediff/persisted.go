package linediff

import "github.com/celadon-cel/celadon/internal/foreign"

// Persisted is what of an object is stored otherwise than it was given, as YAML.
func Persisted(name string, given, stored map[string]any) ([]byte, error) {
	before, err := foreign.YAML(given)
	if err != nil {
		return nil, err
	}
	after, err := foreign.YAML(stored)
	return Unified(name, name+" (persisted)", before, after), err
}
