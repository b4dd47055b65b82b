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

// OpenShift generates several CRDs of one name: one for each set of feature gates,
// and where these differ by cluster profile too. Which gates are on in which, a
// table at the top of the repository says.

const (
	featureSetKey = "release.openshift.io/feature-set"
	profileKey    = "include.release.openshift.io/"
	custom        = "CustomNoUpgrade" // has all gates
	tableName     = "features.md"
	maxTable      = 1 << 20
)

// profiles are the table's names for them.
var profiles = map[string]string{
	"ibm-cloud-managed":              "Hypershift",
	"self-managed-high-availability": "SelfManagedHA",
	"single-node-developer":          "SingleNode",
}

// table says of gates which sets, as "Default on Hypershift", have them.
type table map[string]map[string]bool

// parseTable reads a table in Markdown whose first column is the gate.
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

// tableFor is that of the nearest folder above; nil where there is none.
func (d *definitions) tableFor(dirs []string) table {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, dir := range dirs {
		t, known := d.tables[dir]
		if !known {
			file := filepath.Join(dir, tableName)
			if text, err := input.ReadFile(file, maxTable); err == nil && worktree.Inside(dir, file) {
				t = parseTable(string(text))
			}
			d.tables[dir] = t
		}
		if len(t) > 0 {
			return t
		}
	}
	return nil
}

// goes is true of a CRD whose set of feature gates goes with what a suite asks for,
// as openshift/api's tests/crd_filter.go has it.
func goes(crd *apiextensionsv1.CustomResourceDefinition, gates []string, t table) bool {
	set := crd.Annotations[featureSetKey]
	if slices.Contains(strings.Split(set, ","), custom) {
		return !slices.ContainsFunc(gates, func(gate string) bool { return strings.HasPrefix(gate, "-") })
	}
	profile := ""
	for _, key := range slices.Sorted(maps.Keys(crd.Annotations)) {
		if name, ok := strings.CutPrefix(key, profileKey); ok && crd.Annotations[key] == "true" {
			profile = profiles[name]
			break // of several the schema is the same
		}
	}
	if profile == "" || t == nil {
		return set == "" || t != nil || slices.ContainsFunc(gates, func(gate string) bool { return strings.HasPrefix(gate, "-") })
	}
	if set == "" {
		set = "Default"
	}
	for _, gate := range gates {
		name, off := strings.CutPrefix(gate, "-")
		if t[name][set+" on "+profile] == off {
			return false
		}
	}
	return true
}

// withGates is true of a suite that goes with the gates that are on.
func withGates(suite, on []string) bool {
	for _, gate := range suite {
		name, off := strings.CutPrefix(gate, "-")
		if slices.Contains(on, name) == off {
			return false
		}
	}
	return true
}
