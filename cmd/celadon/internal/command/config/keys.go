package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
	"github.com/celadon-cel/celadon/types"
)

// A Class determines which files may set a flag.
type Class uint8

const (
	// FromTree keys may be set by a file in the tree under check, whose author may be hostile. They select the
	// input and the form of the output. No value of them weakens a check.
	FromTree Class = iota + 1
	// Stricter keys may be set by a file in the tree, but only to values that cannot weaken a check: see stricter.
	Stricter
	// ByHand keys may only be set by a file that the user named with --config. They run programs, open connections,
	// write files, weaken a check, hide findings, or supply old objects, next to which an error may be tolerated.
	ByHand
	// Never keys may not be set by any file.
	Never
)

// keys holds all flags of the commands that read a file, and the keys for their arguments. A key can
// have another class in another command. A new flag is ByHand until its author has considered a hostile
// tree and added it to the attack test.
var keys = map[string]map[string]Class{
	"check": {
		"objects":      FromTree,
		"crd":          FromTree,
		"kube-version": Stricter,
		"validate":     Stricter,
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

		"baseline":           ByHand, // hides findings
		"baseline-out":       ByHand,
		"out":                ByHand,
		"findings-exit-code": ByHand,
		"shard":              Never, // a part of a run
		"source":             Never,
		"sources":            Never,
		"run":                Never,

		"field-selector": ByHand, // leaves objects out
		"now":            ByHand,

		"policy":    ByHand, // a policy may change an object so that it is accepted
		"as":        ByHand, // a policy may exempt a user
		"as-group":  ByHand,
		"operation": ByHand,

		"pipe":  Never, // the calling program sends the requests
		"watch": Never,
		// Only the user decides whether to connect, and to which cluster.
		"cluster":   Never,
		"context":   Never,
		"namespace": Never,
		"selector":  Never,
		"config":    Never,
		"no-config": Never,
		"follow":    Never, // reads out of the tree
		"help":      Never,
	},
	"vet": {
		"crds":         FromTree,
		"crd":          FromTree,
		"kube-version": Stricter,
		"output":       FromTree,
		"explain":      FromTree,
		"all":          FromTree,
		"find":         FromTree,

		"old":     ByHand,
		"no-lint": ByHand,
		"quiet":   ByHand, // hides lints
		"fix":     ByHand,
		"dry-run": ByHand,

		"config":    Never,
		"no-config": Never,
		"follow":    Never, // reads out of the tree
		"help":      Never,
	},
	"test": {
		"suites":         FromTree,
		"crd":            FromTree,
		"output":         FromTree,
		"verbose":        FromTree,
		"exact-messages": FromTree, // stricter than the default
		"kube-version":   Stricter,
		"cover":          FromTree,
		"cover-min":      FromTree,

		"run":           ByHand,
		"feature-gates": ByHand,
		"fail-fast":     ByHand,
		"update":        ByHand,
		"cover-out":     ByHand,
		"mutate":        ByHand, // expensive
		"mutate-min":    ByHand,
		"convert":       ByHand,
		"convert-ca":    ByHand,
		"exec":          ByHand,
		"timeout":       ByHand,

		"watch":     Never,
		"config":    Never,
		"no-config": Never,
		"follow":    Never, // reads out of the tree
		"help":      Never,
	},
	"diff": {
		"crds":         FromTree,
		"output":       FromTree,
		"strict":       FromTree,
		"kube-version": Stricter,
		"verbose":      FromTree,

		"base":            ByHand,
		"allow":           ByHand,
		"steps":           ByHand,
		"seed":            ByHand,
		"convert":         ByHand,
		"convert-ca":      ByHand,
		"to-kube-version": ByHand,

		"objects":   Never, // a flag here; arguments in other sections
		"cluster":   Never,
		"context":   Never,
		"namespace": Never,
		"selector":  Never,
		"config":    Never,
		"no-config": Never,
		"follow":    Never, // reads out of the tree
		"help":      Never,
	},
	"convert-test": {
		"crd":    FromTree,
		"output": FromTree,

		"ignore":     ByHand, // weakens the check
		"convert":    ByHand,
		"convert-ca": ByHand,
		"exec":       ByHand,
		"timeout":    ByHand,
		"objects":    Never, // a number here; paths in other sections
		"seed":       ByHand,
		"cases-out":  ByHand,

		"config":    Never,
		"no-config": Never,
		"follow":    Never, // reads out of the tree
		"help":      Never,
	},
	"eval": {
		"crd":          FromTree,
		"kube-version": Stricter,
		"output":       FromTree,

		"object":      ByHand,
		"name":        ByHand,
		"old":         ByHand,
		"at":          ByHand,
		"version":     ByHand,
		"subresource": ByHand,
		"exit-status": ByHand,

		"cluster":   Never,
		"context":   Never,
		"namespace": Never,
		"config":    Never,
		"no-config": Never,
		"follow":    Never, // reads out of the tree
		"help":      Never,
	},
	"find": {
		"crd":    FromTree,
		"output": FromTree,

		"kube-version": Stricter,

		"policy":  ByHand,
		"version": ByHand,
		"want":    ByHand,

		"old-policy": ByHand,

		"full":    ByHand,
		"minimal": ByHand,
		"steps":   ByHand,
		"seed":    ByHand,

		"at":        Never, // selects rules for a single run
		"rule":      Never,
		"config":    Never,
		"no-config": Never,
		"follow":    Never, // reads out of the tree
		"help":      Never,
	},
	"repl": {
		"crd":          FromTree,
		"kube-version": Stricter,

		"object":      ByHand,
		"name":        ByHand,
		"old":         ByHand,
		"subresource": ByHand,

		"echo":       Never,
		"no-history": ByHand,
		"cluster":    Never,
		"context":    Never,
		"namespace":  Never,
		"config":     Never,
		"no-config":  Never,
		"follow":     Never,
		"help":       Never,
	},
}

// Keys returns a copy of the keys that a file can set for command, or nil if the command reads no file.
func Keys(command string) map[string]Class { return maps.Clone(keys[command]) }

// positional holds the keys for arguments, that is, for values without a flag.
var positional = []string{"objects", "crds", "suites"}

// The values of these keys are paths, relative to the folder of the file. The package outfile checks
// links in outputPaths.
var (
	inputPaths  = []string{"objects", "crds", "suites", "crd", "object", "old", "crd-old", "allow", "convert-ca", "baseline", "policy"}
	outputPaths = []string{"cover-out", "cases-out", "baseline-out", "out"}
)

// commands lists the commands that read a file, for messages.
func commands() string {
	names := slices.Sorted(maps.Keys(keys))
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// allows returns an error if the file may not set the key to the values.
func (f *file) allows(command, key string, values []string) error {
	switch class := keys[command][key]; {
	case class == 0 || class == Never:
		return unknownKey(command)
	case f.tree == "":
		return nil
	case class == ByHand:
		return fmt.Errorf("not read from a file in the checked tree: use --%s, or name the file with --config", key)
	case class == Stricter:
		return stricter(key, values)
	}
	return nil
}

const kubeVersion = "kube-version"

// An olderVersionError reports a kube-version that a file in the tree may not set. It is a note: the key is ignored.
type olderVersionError struct{ version types.Version }

func (e *olderVersionError) Error() string {
	return fmt.Sprintf("%s is ignored: it is older than the default, 1.%d, and could accept more: pass --kube-version %[1]s, or name the file with --config", e.version, types.Newest)
}

// stricter returns an error if the values could weaken a check.
func stricter(key string, values []string) error {
	switch key {
	case "validate":
		if !slices.Equal(values, []string{"strict"}) && !slices.Equal(values, []string{"true"}) {
			return errors.New("a file in the checked tree may only set strict: use --validate, or name the file with --config")
		}
		return nil
	case kubeVersion:
		for _, value := range values {
			list, err := types.ParseVersions(value)
			if err != nil {
				return err
			}
			if newest := list[len(list)-1]; newest.Minor < types.Newest { // a list must be accepted by all
				return &olderVersionError{newest}
			}
		}
		return nil
	}
	return fmt.Errorf("no value is known to be safe: use --%s, or name the file with --config", key)
}

func unknownKey(command string) error {
	for _, key := range positional {
		if keys[command][key] != 0 {
			return fmt.Errorf("no such setting: want %s or a flag of celadon %s", key, command)
		}
	}
	return fmt.Errorf("no such setting: want a flag of celadon %s", command)
}

// paths returns the values of a key, relative to the working directory if they are paths. Paths from the tree's own file must
// stay in the tree. Paths from a file that the user named follow the rules of the command line.
func (f *file) paths(flags *pflag.FlagSet, key string, values []string) ([]string, error) {
	reads := slices.Contains(inputPaths, key)
	if !reads && !slices.Contains(outputPaths, key) {
		return values, nil
	}
	out := make([]string, len(values))
	for i, path := range values {
		if out[i] = path; path != "-" && !filepath.IsAbs(path) {
			out[i] = filepath.Join(filepath.Dir(f.path), path)
		}
		if f.tree != "" && (path == "-" || !worktree.Inside(f.tree, out[i])) {
			return nil, fmt.Errorf("%s: not in the tree %s: set it on the command line, or name the file with --config", strings.TrimSpace(path), f.tree)
		}
		if info, err := os.Stat(out[i]); f.tree != "" && reads && err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s: want a regular file or a folder", strings.TrimSpace(path))
		}
	}
	if reads {
		return out, command.CheckPaths(flags, out...)
	}
	return out, nil
}
