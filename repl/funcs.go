package repl

import (
	"context"
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/spell"
)

// functions returns the names of the functions available at the session's path, or all functions
// without a CRD.
func functions(s *Session) []string { return s.funcs.Names(s.helper(), s.state.kube) }

func funcs(_ context.Context, s *Session, arg string) (string, error) {
	if arg == "" {
		return columns(functions(s), s.Width), nil
	}
	name := strings.TrimSuffix(arg, "()")
	f := s.funcs.Of(name, s.helper(), s.state.kube)
	if f == nil {
		return "", s.noFunction(name)
	}
	var rows [][]string
	for _, form := range f.Forms {
		rows = append(rows, []string{form.Signature, form.Since})
	}
	text := table(rows, s.Width)
	if f.Description != "" {
		text += "  " + f.Description + "\n"
	}
	for _, example := range f.Examples {
		text += "  " + example.String() + "\n"
	}
	return text, nil
}

// noFunction returns the error for an unknown function. If a later Kubernetes version has the
// function, the error names that version.
func (s *Session) noFunction(name string) error {
	if err := s.laterFunction(name); err != nil {
		return err
	}
	if near := spell.DidYouMean(name, functions(s)); near != "" {
		return fmt.Errorf("no function %s%s", name, near)
	}
	return fmt.Errorf("no function %s (:funcs lists them)", name)
}

// laterFunction returns an error that names the version that added the function. It returns nil if
// no version has the function or if the session is not limited to a version.
func (s *Session) laterFunction(name string) error {
	since := s.funcs.Since(name)
	if since == "" || s.state.kube == "" {
		return nil
	}
	return fmt.Errorf("%s: not in new rules for %s: want %s or later", name, s.state.kube, since)
}

// columns arranges texts in columns that fill width.
func columns(texts []string, width int) string {
	if width <= 0 {
		width = 80
	}
	widest := 1
	for _, text := range texts {
		widest = max(widest, len(text)+2)
	}
	n := max(1, width/widest)
	rows := (len(texts) + n - 1) / n
	var lines [][]string
	for r := range rows {
		var row []string
		for i := r; i < len(texts); i += rows {
			row = append(row, texts[i])
		}
		lines = append(lines, row)
	}
	return table(lines, 0)
}
