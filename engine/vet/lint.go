package vet

import (
	"slices"
)

// Lint is something that the server accepts and that authors regret.
type Lint struct {
	// Name is what switches the lint off.
	Name string
	// Version, Path, Index and Rule say which rule.
	Version string
	Path    string
	Index   int
	Rule    string
	// Field is the rule's place in the CRD.
	Field string
	// Message says what is wrong and what to do.
	Message string
}

// lint looks at one rule that compiles; "" is no finding.
type lint struct {
	name string
	look func(*rule) string
}

// lints are all there are; docs/lints.md has a section for each.
func lints() []lint {
	return []lint{
		{"optional-immutable", optionalImmutable},
		{"optional-read", optionalRead},
		{"constant-rule", constantRule},
		{"message-limits", messageLimits},
		{"hidden-work", hiddenWork},
	}
}

// LintNames are the names that Config.WithoutLints may have.
func LintNames() []string {
	var names []string
	for _, l := range lints() {
		names = append(names, l.name)
	}
	return names
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
					one := Lint{Name: l.name, Path: r.at.place(), Index: r.index, Rule: r.spec.Rule, Field: r.path.String(), Message: text}
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
