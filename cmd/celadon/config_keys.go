package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/gitbase"
)

// configKey says who may set a flag of celadon check in a file.
type configKey uint8

const (
	// fromTree is what a file in the tree under check may set, whoever wrote it:
	// it says what is checked and how it is shown.
	fromTree configKey = iota + 1
	// byHand is what only a file counts for that the user named with --config:
	// it runs, connects, writes, weakens a check, hides findings, or brings old
	// objects, beside which what is wrong may stay.
	byHand
	// never is what no file sets.
	never
)

// configKeys are all flags of celadon check, and objects.
var configKeys = map[string]configKey{
	"objects":      fromTree,
	"crd":          fromTree,
	"kube-version": fromTree,
	"validate":     fromTree, // only strict
	"strict-kinds": fromTree,
	"output":       fromTree,
	"quiet":        fromTree,
	"verbose":      fromTree,
	"summary":      fromTree,

	"old":          byHand,
	"base":         byHand,
	"crd-old":      byHand,
	"subresource":  byHand,
	"max-findings": byHand,

	"watch":     never,
	"config":    never,
	"no-config": never,
	"help":      never,
}

// configPaths are the keys whose values are paths, which a file gives from its
// own folder.
var configPaths = []string{"objects", "crd", "old", "crd-old"}

// allows says what is wrong with a key of the file.
func (f *configFile) allows(key string, values []string) error {
	switch class := configKeys[key]; {
	case class == 0 || class == never:
		return errors.New("no such setting: want objects or a flag of celadon check")
	case f.tree == "":
		return nil
	case class == byHand:
		return fmt.Errorf("not taken from a file in the tree under check: give --%s, or name the file with --config", key)
	case key == "validate" && !slices.Equal(values, []string{"strict"}) && !slices.Equal(values, []string{"true"}):
		return errors.New("a file in the tree under check may only say strict: give --validate, or name the file with --config")
	}
	return nil
}

// paths are the values of a key, where they are paths, as they are from here.
// In the tree's own file they must stay in the tree.
func (f *configFile) paths(key string, values []string) ([]string, error) {
	if !slices.Contains(configPaths, key) {
		return values, nil
	}
	out := make([]string, len(values))
	for i, path := range values {
		if out[i] = path; path != "-" && !filepath.IsAbs(path) {
			out[i] = filepath.Join(filepath.Dir(f.path), path)
		}
		if f.tree != "" && (path == "-" || !gitbase.Inside(f.tree, out[i])) {
			return nil, fmt.Errorf("%s: not in the tree %s: give it on the command line, or name the file with --config", strings.TrimSpace(path), f.tree)
		}
	}
	return out, nil
}
