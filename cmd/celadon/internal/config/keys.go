package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/worktree"
)

// Class says who may set a flag in a file.
type Class uint8

const (
	// FromTree is what a file in the tree under check may set, whoever wrote it:
	// it says what is checked and how it is shown.
	FromTree Class = iota + 1
	// ByHand is what only a file counts for that the user named with --config:
	// it runs, connects, writes, weakens a check, hides findings, or brings old
	// objects, beside which what is wrong may stay.
	ByHand
	// Never is what no file sets.
	Never
)

// keys are all flags of the commands that a file serves, and what stands for their
// arguments. What a tree may set is a matter of each command: a new flag is by
// hand until someone has thought of a hostile tree.
var keys = map[string]map[string]Class{
	"check": {
		"objects":      FromTree,
		"crd":          FromTree,
		"kube-version": FromTree,
		"validate":     FromTree, // only strict
		"strict-kinds": FromTree,
		"output":       FromTree,
		"quiet":        FromTree,
		"verbose":      FromTree,
		"summary":      FromTree,

		"old":          ByHand,
		"base":         ByHand,
		"crd-old":      ByHand,
		"subresource":  ByHand,
		"max-findings": ByHand,
		"exclude":      ByHand,
		"no-vet":       ByHand,
		"convert":      ByHand,
		"convert-ca":   ByHand,
		"persisted":    ByHand,
		"diff":         ByHand,

		"baseline":           ByHand, // which hides findings
		"baseline-out":       ByHand,
		"out":                ByHand,
		"findings-exit-code": ByHand,
		"shard":              Never, // a part of one run
		"source":             Never,
		"sources":            Never,
		"run":                Never,

		"field-selector": ByHand, // which leaves objects out
		"now":            ByHand,

		"pipe":  Never, // requests come from who starts it
		"watch": Never,
		// Which server is asked, and whether one is, says who starts it.
		"cluster":   Never,
		"context":   Never,
		"namespace": Never,
		"selector":  Never,
		"config":    Never,
		"no-config": Never,
		"help":      Never,
	},
	"vet": {
		"crds":         FromTree,
		"crd":          FromTree,
		"kube-version": FromTree,
		"output":       FromTree,
		"explain":      FromTree,
		"all":          FromTree,
		"find":         FromTree,

		"old":     ByHand,
		"no-lint": ByHand,
		"fix":     ByHand,
		"dry-run": ByHand,

		"config":    Never,
		"no-config": Never,
		"help":      Never,
	},
	"test": {
		"suites":         FromTree,
		"crd":            FromTree,
		"output":         FromTree,
		"verbose":        FromTree,
		"exact-messages": FromTree, // which is stricter
		"cover":          FromTree,
		"cover-min":      FromTree,

		"run":           ByHand,
		"feature-gates": ByHand,
		"fail-fast":     ByHand,
		"update":        ByHand,
		"cover-out":     ByHand,
		"mutate":        ByHand, // which is much work
		"mutate-min":    ByHand,
		"mutate-out":    ByHand,
		"convert":       ByHand,
		"convert-ca":    ByHand,
		"exec":          ByHand,
		"timeout":       ByHand,

		"watch":     Never,
		"config":    Never,
		"no-config": Never,
		"help":      Never,
	},
	"diff": {
		"crds":         FromTree,
		"output":       FromTree,
		"strict":       FromTree,
		"kube-version": FromTree,

		"base":       ByHand,
		"allow":      ByHand,
		"steps":      ByHand,
		"seed":       ByHand,
		"convert":    ByHand,
		"convert-ca": ByHand,

		"objects":   Never, // here a flag, in other sections what stands without one
		"cluster":   Never,
		"context":   Never,
		"namespace": Never,
		"selector":  Never,
		"config":    Never,
		"no-config": Never,
		"help":      Never,
	},
	"convert-test": {
		"crd":    FromTree,
		"output": FromTree,

		"ignore":     ByHand, // which weakens
		"convert":    ByHand,
		"convert-ca": ByHand,
		"exec":       ByHand,
		"timeout":    ByHand,
		"objects":    Never, // here a number, in other sections paths
		"seed":       ByHand,
		"cases-out":  ByHand,

		"config":    Never,
		"no-config": Never,
		"help":      Never,
	},
	"eval": {
		"crd":          FromTree,
		"kube-version": FromTree,
		"output":       FromTree,

		"object":      ByHand,
		"name":        ByHand,
		"old":         ByHand,
		"at":          ByHand,
		"version":     ByHand,
		"exit-status": ByHand,

		"cluster":   Never,
		"context":   Never,
		"namespace": Never,
		"config":    Never,
		"no-config": Never,
		"help":      Never,
	},
	"find": {
		"crd":    FromTree,
		"output": FromTree,

		"version": ByHand,
		"want":    ByHand,
		"full":    ByHand,
		"minimal": ByHand,
		"steps":   ByHand,
		"seed":    ByHand,

		"at":        Never, // one question
		"rule":      Never,
		"solver":    Never,
		"config":    Never,
		"no-config": Never,
		"help":      Never,
	},
	"repl": {
		"crd":          FromTree,
		"kube-version": FromTree,

		"object": ByHand,
		"name":   ByHand,
		"old":    ByHand,

		"echo":       Never,
		"no-history": ByHand,
		"cluster":    Never,
		"context":    Never,
		"namespace":  Never,
		"config":     Never,
		"no-config":  Never,
		"help":       Never,
	},
}

// Keys are the keys of a command; nil of one that no file serves.
func Keys(command string) map[string]Class { return maps.Clone(keys[command]) }

// positional are the keys for what stands on a command line without a flag.
var positional = []string{"objects", "crds", "suites"}

// pathKeys are the keys whose values are paths, which a file gives from its own
// folder.
var pathKeys = []string{"objects", "crds", "suites", "crd", "object", "old", "crd-old", "allow", "cover-out", "mutate-out", "convert-ca", "cases-out", "baseline", "baseline-out", "out"}

// commands are those that a file serves, for messages.
func commands() string {
	names := slices.Sorted(maps.Keys(keys))
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// allows says what is wrong with a key of the file.
func (f *file) allows(command, key string, values []string) error {
	switch class := keys[command][key]; {
	case class == 0 || class == Never:
		return unknownKey(command)
	case f.tree == "":
		return nil
	case class == ByHand:
		return fmt.Errorf("not taken from a file in the tree under check: give --%s, or name the file with --config", key)
	case key == "validate" && !slices.Equal(values, []string{"strict"}) && !slices.Equal(values, []string{"true"}):
		return errors.New("a file in the tree under check may only say strict: give --validate, or name the file with --config")
	}
	return nil
}

func unknownKey(command string) error {
	for _, key := range positional {
		if keys[command][key] != 0 {
			return fmt.Errorf("no such setting: want %s or a flag of celadon %s", key, command)
		}
	}
	return fmt.Errorf("no such setting: want a flag of celadon %s", command)
}

// paths are the values of a key, where they are paths, as they are from here.
// In the tree's own file they must stay in the tree.
func (f *file) paths(key string, values []string) ([]string, error) {
	if !slices.Contains(pathKeys, key) {
		return values, nil
	}
	out := make([]string, len(values))
	for i, path := range values {
		if out[i] = path; path != "-" && !filepath.IsAbs(path) {
			out[i] = filepath.Join(filepath.Dir(f.path), path)
		}
		if f.tree != "" && (path == "-" || !worktree.Inside(f.tree, out[i])) {
			return nil, fmt.Errorf("%s: not in the tree %s: give it on the command line, or name the file with --config", strings.TrimSpace(path), f.tree)
		}
	}
	return out, nil
}
