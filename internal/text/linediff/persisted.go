package linediff

import "github.com/celadon-cel/celadon/internal/text/untrusted"

// Persisted returns the difference between an object as given and as persisted, in YAML.
func Persisted(name string, given, stored map[string]any) ([]byte, error) {
	before, err := untrusted.YAML(given)
	if err != nil {
		return nil, err
	}
	after, err := untrusted.YAML(stored)
	return Unified(name, name+" (persisted)", before, after), err
}
