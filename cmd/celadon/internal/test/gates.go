package test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
)

// OpenShift generates several CRDs with the same name: a CRD for each feature set and, if they differ,
// for each cluster profile. A table at the top of the repository lists the gates that each of them
// enables.

const (
	featureSetKey    = "release.openshift.io/feature-set"
	profileKey       = "include.release.openshift.io/"
	custom           = "CustomNoUpgrade" // enables all gates
	featureTableFile = "features.md"
	maxTable         = 1 << 20
)

// profiles maps cluster profiles in annotations to their names in the table.
var profiles = map[string]string{
	"ibm-cloud-managed":              "Hypershift",
	"self-managed-high-availability": "SelfManagedHA",
	"single-node-developer":          "SingleNode",
}

// table maps each gate and feature set, such as "Default on Hypershift", to whether the set enables
// the gate.
type table map[string]map[string]bool

// parseTable parses a Markdown table whose first column is the gate.
func parseTable(text string) table {
	t := table{}
	var sets []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case cells[0] == "FeatureGate":
			sets = cells
		case len(cells) == len(sets) && !strings.HasPrefix(cells[0], "-"):
			on := map[string]bool{}
			for i, cell := range cells[1:] {
				on[sets[i+1]] = strings.Contains(cell, "Enabled")
			}
			t[cells[0]] = on
		}
	}
	return t
}

// tableFor returns the first table found in dirs, or nil.
func (d *definitions) tableFor(dirs []string) table {
	for _, dir := range dirs {
		if t := d.tables.get(dir, func() table {
			file := filepath.Join(dir, featureTableFile)
			text, err := input.ReadFile(file, maxTable)
			if err != nil || !worktree.Inside(dir, file) {
				return nil
			}
			return parseTable(string(text))
		}); len(t) > 0 {
			return t
		}
	}
	return nil
}

// matchesGates reports whether the feature set of crd matches the gates that a suite requires, like
// tests/crd_filter.go in openshift/api.
func matchesGates(crd *apiextensionsv1.CustomResourceDefinition, gates []string, t table) bool {
	set := crd.Annotations[featureSetKey]
	anyOff := slices.ContainsFunc(gates, func(gate string) bool { return strings.HasPrefix(gate, "-") })
	if slices.Contains(strings.Split(set, ","), custom) {
		return !anyOff
	}
	profile := ""
	for _, key := range slices.Sorted(maps.Keys(crd.Annotations)) {
		if name, ok := strings.CutPrefix(key, profileKey); ok && crd.Annotations[key] == "true" {
			profile = profiles[name]
			break // the schema is the same for each of them
		}
	}
	if profile == "" || t == nil {
		return set == "" || t != nil || anyOff
	}
	if set == "" {
		set = "Default"
	}
	return allAs(gates, func(name string) bool { return t[name][set+" on "+profile] })
}

// allAs reports whether all gates are on, except that gates with a leading "-" must be off.
func allAs(gates []string, on func(name string) bool) bool {
	for _, gate := range gates {
		if name, off := strings.CutPrefix(gate, "-"); on(name) == off {
			return false
		}
	}
	return true
}
