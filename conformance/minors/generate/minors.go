package main

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// A minor is a Kubernetes minor and its latest patch release.
type minor struct {
	Minor, Patch   string
	RatchetsStatus bool
}

// libraries is the module version of the Kubernetes libraries.
func (m minor) libraries() string { return strings.Replace(m.Patch, "v1.", "v0.", 1) }

// A program exists once per minor. Each is a module in a subfolder of dir, with the name of the minor,
// and calls the package in library, a module that is compiled with the first minor. Both folders are
// relative to root.
type program struct {
	dir, library string
	minors       []minor
	// variants lists the variants of each file, oldest first. Files have several variants to adapt the
	// package to an interface that differs between minors.
	variants map[string][]variant
}

var programs = []program{
	{dir: ".", library: "oracle", minors: minors, variants: map[string][]variant{
		"environment.go": {{28, "environment"}, {30, "environment_strict"}, {35, "environment"}},
		"rules.go":       {{28, "rules_transition"}, {29, "rules"}},
		"strategy.go":    {{28, "strategy_versions"}, {29, "strategy_version"}, {30, "strategy_selectable"}},
		"validate.go":    {{28, "validate"}, {29, "validate_ratcheting"}},
		"main.go":        {{28, "main"}},
	}},
	{dir: "servers", library: "server", minors: served, variants: map[string][]variant{
		"main.go": {{28, "server"}},
	}},
}

// folder returns the folder of the module of a minor.
func (p *program) folder(m minor) string { return path.Join(p.dir, m.Minor) }

// minors lists the minors, oldest first.
var minors = []minor{
	{"1.28", "v1.28.15", false},
	{"1.29", "v1.29.15", false},
	{"1.30", "v1.30.14", false},
	{"1.31", "v1.31.14", false},
	{"1.32", "v1.32.13", false},
	{"1.33", "v1.33.13", true},
	{"1.34", "v1.34.13", true},
	{"1.35", "v1.35.10", true},
	{"1.36", "v1.36.6", true},
	{"1.37", "v1.37.2", true},
}

// served lists the minors that have a server. Package conformance runs one of the newest.
var served = []minor{minors[1], minors[3], minors[6]}

// A variant is the form of a file since a minor.
type variant struct {
	since    int
	template string
}

// template returns the name of the template of a file for a minor.
func (p *program) template(file string, m minor) (string, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(m.Minor, "1."))
	if err != nil {
		return "", err
	}
	name := ""
	for _, v := range p.variants[file] {
		if v.since <= n {
			name = v.template
		}
	}
	if name == "" {
		return "", fmt.Errorf("%s: no variant of %s", m.Minor, file)
	}
	return name + ".go.tmpl", nil
}
