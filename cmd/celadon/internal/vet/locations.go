package vet

import (
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/analysis/lint"
	"github.com/celadon-cel/celadon/x/markers"
	"github.com/celadon-cel/celadon/x/secret"
)

// locations returns the locations of fields of the CRD: in Go if known, otherwise in its file.
func (one *vetted) locations(fields []string, width int) []finding.Location {
	locations := one.inYAML(fields, width)
	if one.source != nil {
		for i, field := range fields {
			if at, line, ok := one.source.Position(field); ok {
				locations[i] = goLocation(at, line, field, width)
			}
		}
	}
	return locations
}

func goLocation(at markers.Position, line, field string, width int) finding.Location {
	return finding.Location{File: at.File, Line: at.Line, Column: at.Column, Field: field, Excerpt: finding.NewExcerpt(line, at.Column-1, len(line), width, nil)}
}

// A field that is not found has a zero Location. Only the first excerpt.Shown fields have an excerpt.
func (one *vetted) inYAML(fields []string, width int) []finding.Location {
	mapped := pathsOf(fields, func(field string) string { return resource.DocumentPath(one.doc, field) })
	excerpts := one.excerpts(width)
	locations := make([]finding.Location, len(fields))
	for i, at := range one.doc.Locate(mapped) {
		if at.Line == 0 {
			continue
		}
		locations[i] = finding.Location{File: one.doc.File, Line: at.Line, Column: at.Column, Field: fields[i]}
		if i < excerpt.Shown {
			locations[i].Excerpt = excerpts.At(at)
		}
	}
	return locations
}

// excerpts returns excerpts of the CRD, which contains no secrets.
func (one *vetted) excerpts(width int) *excerpt.Excerpts {
	return excerpt.NewExcerpts(one.doc, width, &secret.Secrets{}, nil)
}

// strict returns the locations of keys that strict decoding rejects, or of values that cannot be decoded, as
// far as they are found.
func (one *vetted) strict(width int) []finding.Location {
	var found []finding.Location
	switch {
	case one.report.Status == nil:
		return nil
	case len(one.report.Strict) == 0 && len(one.report.Causes) == 0:
		return hint.Mistyped(one.excerpts(width))
	}
	if one.doc.Duplicate != nil {
		found = excerpt.Duplicates(one.doc, one.excerpts(width))
	}
	return append(found, hint.Strict(one.report.Strict, one.excerpts(width))...)
}

func (one *vetted) causes(width int) []finding.Cause {
	list := one.located(one.report.Causes, width)
	hint.Explain(one.doc, one.data, one.kubeVersions, list, one.report.Needs, one.excerpts(width))
	one.outside(list, width)
	if one.source == nil {
		return list
	}
	for i := range list {
		if at, line, ok := one.source.Cause(i); ok {
			setLocation(&list[i], goLocation(at, line, list[i].Field, width))
		}
	}
	return list
}

func (one *vetted) outside(list []finding.Cause, width int) {
	path := func(field string) string { return resource.DocumentPath(one.doc, field) }
	(&hint.Subject{Excerpts: one.excerpts(width), Path: path}).Outside(list)
}

// following returns the causes that the server would report once other errors are fixed: causes next to
// misspelled keys and, without message, rules that do not compile but are not among causes.
func (one *vetted) following(causes []finding.Cause, width int) []finding.Cause {
	hidden := one.report.Following[:min(len(one.report.Following), excerpt.Shown)]
	for i := range one.report.Versions {
		v := &one.report.Versions[i]
		for _, r := range v.Rules {
			field := r.Field + ".rule"
			isKnown := func(c finding.Cause) bool { return c.Field == field }
			isHidden := func(c engine.Cause) bool {
				return c.Field == field || c.Rule != nil && c.Rule.Path == r.Path && c.Rule.Index == r.Index && (c.Rule.Version == "" || c.Rule.Version == v.Name)
			}
			if r.Broken && !slices.ContainsFunc(causes, isKnown) && !slices.ContainsFunc(hidden, isHidden) && len(hidden) < excerpt.Shown {
				hidden = append(hidden, engine.Cause{Field: field, Rule: &engine.RuleRef{Version: v.Name, Path: r.Path, Index: r.Index, Rule: r.Rule}})
			}
		}
	}
	if len(hidden) == 0 || one.source != nil {
		return nil
	}
	list := one.located(hidden, width)
	hint.Explain(one.doc, vet.CorrectKeys(one.data, one.report.Keys), one.kubeVersions, list, one.report.Needs, one.excerpts(width))
	one.outside(list, width)
	return slices.DeleteFunc(list, func(c finding.Cause) bool { return c.Line == 0 || c.Summary == "" && c.Message == "" })
}

// panic returns the part of a rule that makes the server panic, or nil if it is unknown.
func (one *vetted) panic(width int) *finding.Cause {
	if one.report.Panic == nil {
		return nil
	}
	return &one.located([]engine.Cause{*one.report.Panic}, width)[0]
}

func (one *vetted) located(causes []engine.Cause, width int) []finding.Cause {
	list := finding.NewCauses(causes)
	for i, at := range one.locations(pathsOf(causes, func(c engine.Cause) string { return c.Field }), width) {
		setLocation(&list[i], at)
	}
	return list
}

func setLocation(c *finding.Cause, at finding.Location) {
	c.File, c.Line, c.Column, c.Excerpt = at.File, at.Line, at.Column, at.Excerpt
}

func pathsOf[T any](list []T, path func(T) string) []string {
	paths := make([]string, len(list))
	for i := range list {
		paths[i] = path(list[i])
	}
	return paths
}

func (one *vetted) adviceLocations(list []vet.Advice) []finding.Location {
	return one.locations(pathsOf(list, func(a vet.Advice) string { return a.Field }), 0)
}

func (one *vetted) lintLocations(width int) []finding.Location {
	return one.locations(pathsOf(one.lints, func(l lint.Lint) string { return l.Field }), width)
}
