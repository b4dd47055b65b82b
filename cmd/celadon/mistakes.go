package main

import (
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
	"github.com/celadon-cel/celadon/docs"
	"github.com/celadon-cel/celadon/x/assist"
)

// mistakes are the help topics about mistakes in rules, and about lints.
type mistakes struct{}

// listed is the topic that lists the others.
const listed = "errors"

// Names returns "errors", the codes of the mistakes, and the names of the lints.
func (mistakes) Names() []string {
	codes := []string{listed}
	for _, e := range assist.Index() {
		codes = append(codes, e.Code)
	}
	return append(codes, vet.LintNames()...)
}

// Text returns the description of a mistake or lint, or the list of mistakes.
func (mistakes) Text(name string) string {
	var b strings.Builder
	if name == listed {
		b.WriteString("The kinds of mistakes in rules; celadon help CODE describes one:\n\n")
		for _, e := range assist.Index() {
			fmt.Fprintf(&b, "  %-20s %s\n", e.Code, e.Server)
		}
		return b.String()
	}
	if _, section, ok := strings.Cut(docs.Lints, "\n## "+name+"\n"); ok {
		section, _, _ = strings.Cut(section, "\n## ")
		return name + "\n" + section + "\n"
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
