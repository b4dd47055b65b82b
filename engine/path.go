package engine

import "github.com/celadon-cel/celadon/types/path"

// A Step is an element of a path into an object or a schema.
type Step = path.Step

// ParsePath parses a path such as "spec.hosts[2].labels['a.b'][*]". It also accepts the form
// "spec.labels[a]" of the API server's causes.
func ParsePath(text string) ([]Step, error) { return path.Parse(text) }

// FormatPath returns the string that ParsePath parses to steps.
func FormatPath(steps []Step) string { return path.Format(steps) }

// child returns the path of a field, in FormatPath's form.
func child(parent, name string) string { return path.Child(parent, name) }
