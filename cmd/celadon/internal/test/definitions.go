package test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/x/ruletest"
)

type definition struct {
	file, name string
	decode     func() (*ruletest.CRD, error)
}

func newDefinition(doc *input.Document) *definition {
	resource.Complete(doc)
	if doc.Err != nil || doc.Object["kind"] != resource.Kind || catalog.IsPatchObject(doc.Object) {
		return nil
	}
	name, _ := input.Metadata(doc.Object)["name"].(string)
	return &definition{file: doc.File, name: name, decode: sync.OnceValues(func() (*ruletest.CRD, error) {
		read := resource.One(doc)
		if read.Err != nil {
			return nil, fmt.Errorf("%s: %w", read.Location, read.Err)
		}
		return &ruletest.CRD{File: doc.File, Definition: read.CRD.ForEngine()}, nil
	})}
}

// definitions holds the CRDs that suites can run against. The author of a suite may be hostile, so
// only files below the roots, next to suites, and in the usual CRD folders above them are read.
type definitions struct {
	given  []*definition // from --crd
	walked []*definition // found while searching for suites
	roots  []string      // folders in which a suite may name files

	policyFiles memo[policyList] // by the paths that suites name and the files of CRDs near them
	dirs        memo[[]*definition]
	files       memo[readFile]
	tables      memo[table]
}

// A memo keeps results, because suites that run concurrently need the same files.
type memo[T any] struct{ known sync.Map } // of functions without arguments

// get returns the result for a key. Only the first call for a key computes it.
func (m *memo[T]) get(key string, compute func() T) T {
	result, ok := m.known.Load(key)
	if !ok {
		result, _ = m.known.LoadOrStore(key, sync.OnceValue(compute))
	}
	return result.(func() T)()
}

func newDefinitions(suites, crds []string) *definitions {
	return &definitions{roots: slices.Concat(roots(suites), roots(crds))}
}

// layouts are the usual CRD folders, relative to a suite's folder or one of its parents, in
// openshift/api, in projects with controller-gen, and in others.
var layouts = []string{"zz_generated.crd-manifests", filepath.Join("config", "crd", "bases"), filepath.Join("config", "crd"), "crds"}

// maxUp is the maximum number of folders that are searched: the suite's folder and its parents.
const maxUp = 6

// find returns the CRDs that suite s runs against, or nil if it tests built-in kinds.
func (d *definitions) find(s *ruletest.Suite) ([]*ruletest.CRD, error) {
	if s.CRDPath != "" && !slices.ContainsFunc(d.given, func(def *definition) bool { return def.name == s.CRDPath }) {
		return d.named(s)
	}
	is, name := wanted(s)
	for _, all := range [][]*definition{d.given, nil, d.walked} {
		if all == nil {
			all = d.laidOut(s, is)
		}
		if found, err := d.matching(s, all, is); len(found) > 0 || err != nil {
			return found, err
		}
	}
	if s.TestsBuiltins() {
		return nil, nil
	}
	return nil, fmt.Errorf("%s is missing: use --crd PATH%s", name, d.suggestion(name))
}

func wanted(s *ruletest.Suite) (is func(*definition) bool, name string) {
	if name = cmp.Or(s.CRDName, s.CRDPath); name == "" {
		return func(def *definition) bool { return def.definesKindOf(s) }, "a CRD for kind " + s.Kind.Kind
	}
	return func(def *definition) bool { return def.name == name }, name
}

func (d *definitions) suggestion(name string) string {
	var names []string
	for _, def := range slices.Concat(d.given, d.walked) {
		names = append(names, def.name)
	}
	if near := spell.Nearest(name, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

func (d *definition) definesKindOf(s *ruletest.Suite) bool {
	crd, err := d.decode()
	return err == nil && crd.Definition.Spec.Group == s.Kind.Group && crd.Definition.Spec.Names.Kind == s.Kind.Kind
}

func (d *definitions) matching(s *ruletest.Suite, all []*definition, is func(*definition) bool) (found []*ruletest.CRD, err error) {
	var t table
	if len(s.FeatureGates) > 0 {
		t = d.tableFor(above(filepath.Dir(s.File)))
	}
	others := 0
	for _, def := range all {
		if !is(def) {
			continue
		}
		crd, err := def.decode()
		if err != nil {
			return nil, err
		}
		if len(s.FeatureGates) > 0 && !matchesGates(crd.Definition, s.FeatureGates, t) {
			others++
			continue
		}
		found = append(found, crd)
	}
	if len(found) == 0 && others > 0 {
		return nil, fmt.Errorf("featureGates: none of the %d CRDs of that name has %s", others, strings.Join(s.FeatureGates, ", "))
	}
	return found, nil
}

func (d *definitions) named(s *ruletest.Suite) ([]*ruletest.CRD, error) {
	path := filepath.Join(filepath.Dir(s.File), filepath.FromSlash(s.CRDPath))
	if s.File == "-" || filepath.IsAbs(s.CRDPath) || !d.mayRead(path) {
		return nil, fmt.Errorf("crd: %s: a suite may only name files in the folders on the command line and their git work trees: use --crd PATH", s.CRDPath)
	}
	read := d.file(path)
	if read.err != nil {
		return nil, fmt.Errorf("crd: %s: %w", s.CRDPath, read.err)
	}
	is := func(def *definition) bool {
		return len(read.crds) == 1 || s.CRDName != "" && def.name == s.CRDName || s.CRDName == "" && def.definesKindOf(s)
	}
	found, err := d.matching(s, read.crds, is)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("crd: %s: it has no CustomResourceDefinition for the suite", s.CRDPath)
	}
	return found, err
}

type readFile struct {
	crds []*definition
	err  error
}

func (d *definitions) file(path string) readFile {
	return d.files.get(path, func() readFile {
		data, err := input.ReadFile(path, input.MaxFile)
		if err != nil {
			return readFile{nil, err}
		}
		return readFile{definitionsIn(path, data), nil}
	})
}

func definitionsIn(file string, text []byte) (all []*definition) {
	for doc := range (input.Text{File: file, Data: text}).Documents {
		if def := newDefinition(doc); def != nil {
			all = append(all, def)
		}
	}
	return all
}

func (d *definitions) mayRead(path string) bool {
	return slices.ContainsFunc(d.roots, func(root string) bool { return worktree.Inside(root, path) })
}

// laidOut returns the CRDs in the suite's folder or in the nearest of the usual folders, whichever
// is the first to contain a CRD for which is returns true.
func (d *definitions) laidOut(s *ruletest.Suite, is func(*definition) bool) []*definition {
	if s.File == "-" {
		return nil
	}
	own := filepath.Dir(s.File)
	if all := d.folder(own, own); slices.ContainsFunc(all, is) {
		return all
	}
	for _, dir := range above(own) {
		for _, layout := range layouts {
			if all := d.folder(filepath.Join(dir, layout), dir); slices.ContainsFunc(all, is) {
				return all
			}
		}
	}
	return nil
}

// above returns dir and its parents, at most maxUp folders, up to the top of the repository, if there is one.
func above(dir string) (dirs []string) {
	top, err := worktree.Top(dir)
	if err != nil {
		return []string{dir}
	}
	for range maxUp {
		dirs = append(dirs, dir)
		if abs, err := filepath.Abs(dir); err != nil || abs == top || abs == filepath.Dir(abs) {
			break
		}
		dir = filepath.Join(dir, "..")
	}
	return dirs
}

// folder returns the CRDs in the regular files of the folder path, without subfolders, or nil if
// path leads out of top.
func (d *definitions) folder(path, top string) []*definition {
	return d.dirs.get(path, func() (all []*definition) {
		entries, err := os.ReadDir(path)
		if err != nil || !worktree.Inside(top, path) {
			return nil
		}
		for _, e := range entries {
			file := filepath.Join(path, e.Name())
			if !e.Type().IsRegular() || !input.Readable(file) {
				continue
			}
			all = append(all, d.file(file).crds...)
		}
		return all
	})
}

// SuiteRunner runs suites that are open in an editor.
type SuiteRunner struct {
	// Roots are the folders in which a suite may name files.
	Roots []string
	// Open maps the paths of open files to their unsaved content.
	Open map[string][]byte
	// Known holds the workspace's CRDs. They apply to suites without a CRD next to them.
	Known []resource.Read
}

// Run runs the suite in doc as celadon test would. It returns nil if doc is not a suite.
func (d *SuiteRunner) Run(ctx context.Context, doc *input.Document) *ruletest.SuiteReport {
	of := classify(doc, true, nil)
	if of.suite == nil {
		return nil
	}
	defs := &definitions{roots: d.Roots}
	for path, text := range d.Open {
		all := definitionsIn(path, text)
		defs.files.get(path, func() readFile { return readFile{crds: all} })
		defs.walked = append(defs.walked, all...)
	}
	for _, r := range d.Known {
		decode := func() (*ruletest.CRD, error) {
			return &ruletest.CRD{File: r.Location, Definition: r.CRD.ForEngine()}, nil
		}
		defs.walked = append(defs.walked, &definition{r.Location, r.CRD.Name, sync.OnceValues(decode)})
	}
	crds, err := defs.find(of.suite)
	return ruletest.New(ruletest.Config{Policies: defs.policies, Server: builtins.Alone()}).Run(ctx, of.suite, crds, err)
}

// Why returns lines that explain the outcome of case c.
func Why(s *ruletest.SuiteReport, c *ruletest.CaseReport) string {
	var b strings.Builder
	showCase(&b, s, c)
	return b.String()
}

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
