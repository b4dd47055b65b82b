package repl

// manyDetails returns the details of the commands for many objects, suites, and files.
func manyDetails() map[string]details {
	several := need{func(s *Session) bool { return s.collection != nil }, "The examples need objects: run :objects PATH first."}
	own := need{func(*Session) bool { return false }, "The files in the examples stand for files of yours."}
	return map[string]details{
		"objects": {
			"Loads objects of the CRD from files and folders, or with --cluster from a cluster; without arguments, it describes the loaded objects. :rules then counts the objects that each rule rejects. - drops the objects.",
			[]need{needCRD, own}, fixed(":objects manifests", ":objects"),
		},
		"object": {
			"Makes one of the loaded objects the current object, which self refers to. A name that several namespaces have needs the form NAMESPACE/NAME.",
			[]need{needCRD, several}, fixed(":object default/example", ":check"),
		},
		"each": {
			"Evaluates an expression for each of the loaded objects and prints a table of names and values. With where, it leaves out the objects for which the condition is not true.",
			[]need{needCRD, several}, func(p *samples) []string {
				return []string{":each " + p.field, ":each " + p.field + " where " + p.rule()}
			},
		},
		"count": {
			"Counts for how many of the loaded objects an expression is true, is false, or fails. Use it to see whom a new rule would affect.",
			[]need{needCRD, several}, func(p *samples) []string { return []string{":count " + p.rule(), ":count " + p.condition()} },
		},
		"distinct": {
			"Prints the distinct values of an expression in the loaded objects, the most frequent first. Each value is shown with the number of objects that have it.",
			[]need{needCRD, several}, func(p *samples) []string { return []string{":distinct " + p.field} },
		},
		"read": {
			"Runs the lines of a file as if you had typed them, and stops at the first error. The lines can write only files in the tree: the work tree of git, or else the working directory. On a terminal, the shell runs the lines of ~/.config/celadon/start.txt when it starts.",
			[]need{own}, fixed(":read session.txt"),
		},
	}
}
