package vet

import (
	"slices"
)

// Lint is a problem in a rule or CRD that the server accepts.
type Lint struct {
	// Name is the name for Config.WithoutLints.
	Name string
	// Version, Path, Index, and Rule identify the rule. Rule is "" for a lint about the whole CRD.
	Version string
	Path    string
	Index   int
	Rule    string
	// Field is the path of the rule, or of the part of the problem, in the CRD.
	Field string
	// Message describes the problem and the fix.
	Message string
}

// lint checks a rule that compiles. look returns the message, or "" if it finds nothing.
type lint struct {
	name string
	look func(*rule) string
}

// lints returns all lints. docs/lints.md has a section for each.
func lints() []lint {
	return []lint{
		{"optional-immutable", optionalImmutable},
		{"optional-read", optionalRead},
		{"constant-rule", constantRule},
		{"message-limits", messageLimits},
		{"hidden-work", hiddenWork},
	}
}

// LintNames returns the valid names for Config.WithoutLints.
func LintNames() []string {
	var names []string
	for _, l := range lints() {
		names = append(names, l.name)
	}
	return append(names, largeCRD)
}

func (a *admission) lints() []Lint {
	var found []Lint
	for _, u := range a.units {
		for _, r := range u.rules {
			if r.expr == nil || r.expr.refused {
				continue
			}
			for _, l := range lints() {
				if slices.Contains(a.cfg.WithoutLints, l.name) {
					continue
				}
				if text := l.look(r); text != "" {
					one := Lint{Name: l.name, Path: r.at.objectPath(), Index: r.index, Rule: r.spec.Rule, Field: r.path.String(), Message: text}
					if len(u.versions) == 1 {
						one.Version = u.versions[0]
					}
					found = append(found, one)
				}
			}
		}
	}
	return found
}
