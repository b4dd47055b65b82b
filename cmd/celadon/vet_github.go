package main

import (
	"fmt"
	"io"
	"strings"
)

// vetGitHub writes workflow commands, which GitHub shows beside the lines.
type vetGitHub struct{ out io.Writer }

func (p *vetGitHub) crd(one *vetted) error {
	var b strings.Builder
	if one.problem != nil {
		command(&b, "error", one.doc.File, one.doc.Line, 1, "unreadable", one.problem.Error())
		_, err := io.WriteString(p.out, b.String())
		return err
	}
	for _, f := range one.findings() {
		level := "error"
		if f.level != "error" {
			level = "warning"
		}
		command(&b, level, one.doc.File, f.line, f.column, f.id, f.message)
	}
	_, err := io.WriteString(p.out, b.String())
	return err
}

func (p *vetGitHub) end(*vetSummary) error { return nil }

// command escapes as
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands asks.
func command(b *strings.Builder, level, file string, line, column int, title, message string) {
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	text := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	fmt.Fprintf(b, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", level, value.Replace(file), max(line, 1), max(column, 1), value.Replace(title), text.Replace(message))
}

// finding is one thing to show at one place.
type finding struct {
	id, level, message string
	line, column       int
}

// findings are causes, what the server warns of, and lints.
func (one *vetted) findings() (list []finding) {
	r := one.report
	if r.Status != nil && len(r.Causes) == 0 {
		list = append(list, finding{string(r.Status.Reason), "error", r.Status.Message, one.doc.Line, 1})
	}
	for _, c := range one.causes() {
		list = append(list, finding{c.Reason, "error", c.Field + ": " + c.Message, c.Line, c.Column})
	}
	for _, w := range r.Warnings {
		list = append(list, finding{"warning", "warning", w, one.doc.Line, 1})
	}
	for _, l := range one.lints() {
		list = append(list, finding{l.Lint, "note", l.Message, l.Line, l.Column})
	}
	for _, v := range r.Versions {
		for _, a := range v.Advice {
			list = append(list, finding{"advice", "note", fmt.Sprintf("%s: set %s: %d at %s", v.Name, a.Set, a.Value, a.Path), one.doc.Line, 1})
		}
	}
	return list
}
