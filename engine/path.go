package engine

import "github.com/celadon-cel/celadon/types/path"

// Step is one step of a path into an object or a schema.
type Step = path.Step

// ParsePath reads "spec.hosts[2].labels['a.b'][*]". The form "spec.labels[a]" of the
// API server's causes is read too.
func ParsePath(text string) ([]Step, error) { return path.Parse(text) }

// FormatPath returns the text from which ParsePath reads the steps.
func FormatPath(steps []Step) string { return path.Format(steps) }

// child returns the path of a field, in FormatPath's form.
func child(parent, name string) string { return path.Child(parent, name) }
