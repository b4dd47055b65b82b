package main

import (
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/x/assist"
)

// mistakes are the help topics about mistakes in rules.
type mistakes struct{}

// listed is the topic that lists the others.
const listed = "errors"

// Names returns the codes of the mistakes.
func (mistakes) Names() []string {
	codes := []string{listed}
	for _, e := range assist.Index() {
		codes = append(codes, e.Code)
	}
	return codes
}

// Text returns the description of a mistake.
func (mistakes) Text(name string) string {
	var b strings.Builder
	if name == listed {
		b.WriteString("The kinds of mistakes in rules; celadon help CODE describes one:\n\n")
		for _, e := range assist.Index() {
			fmt.Fprintf(&b, "  %-20s %s\n", e.Code, e.Server)
		}
		return b.String()
	}
	e, _ := assist.Find(name)
	fmt.Fprintf(&b, "%s\n\nThe API server reports: %s\n\n%s\n", e.Code, e.Server, e.Cause)
	switch {
	case e.Fixed != "":
		fmt.Fprintf(&b, "\n  instead of  %s\n  write       %s\n", e.Example, e.Fixed)
	case e.Example != "":
		fmt.Fprintf(&b, "\n  for example  %s\n", e.Example)
	}
	return b.String()
}

// mistakesPage returns docs/errors.md.
func mistakesPage() string {
	var b strings.Builder
	b.WriteString(`# Errors

Each kind of mistake in a rule has a code. ` + "`celadon vet`, `celadon check`, the editor, and the shell show it with a\n" +
		"hint and, where the intention is clear, the corrected rule. `celadon help CODE` prints an entry of this page,\nand `celadon help errors` lists the codes.\n" + `
The examples are rules at the root of a database with the fields ` + "`spec.engine` (an enum), `spec.replicas` (an\ninteger), `spec.storage.size` and `spec.url` (strings), `spec.users` (a list of objects), and `spec.labels` (a map).\n")
	for _, e := range assist.Index() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\nThe API server reports: `%s`\n", e.Code, e.Cause, strings.ReplaceAll(e.Server, "`", "'"))
		switch {
		case e.Fixed != "":
			fmt.Fprintf(&b, "\n```cel\n// instead of\n%s\n// write\n%s\n```\n", e.Example, e.Fixed)
		case e.Example != "":
			fmt.Fprintf(&b, "\n```cel\n%s\n```\n", e.Example)
		}
	}
	return b.String()
}
