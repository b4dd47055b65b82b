package repl

// manyDetails returns the details of commands for many objects, suites, and files.
func manyDetails() map[string]details { return nil }
