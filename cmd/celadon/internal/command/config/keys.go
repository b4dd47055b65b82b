package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	// write files, weaken a check, hide findings, or supply old objects, whose errors may be tolerated in an update.
	ByHand
	// Never keys may not be set by any file.
	Never
)

const classKey = "celadon_config"

// Set gives flags the class. A flag without a class is ByHand: give it another only after you have considered
// a hostile tree and added the flag to the attack test.
func (c Class) Set(f *pflag.FlagSet, flags ...string) {
	for _, flag := range flags {
		if err := f.SetAnnotation(flag, classKey, []string{strconv.Itoa(int(c))}); err != nil {
			panic(err) // a flag is not declared
		}
	}
}

// never lists flags that are Never in all commands. Only the user decides whether to connect, and to which
// cluster, and whether to read out of the tree.
var never = []string{
	"cluster", "context", "kubeconfig", "namespace", "all-namespaces", "selector", "filename", "watch", "config", "no-config", command.FollowFlag, "help",
}

// ClassOf returns the class of a flag.
func ClassOf(f *pflag.Flag) Class {
	if values := f.Annotations[classKey]; len(values) == 1 {
		c, _ := strconv.Atoi(values[0])
		return Class(c)
	}
	if slices.Contains(never, f.Name) {
		return Never
	}
	return ByHand
}

// sections are the commands that read a file.
var sections = []string{"check", "convert-test", "crds", "diff", "eval", "find", "repl", "test", "vet"}

func commands() string {
	last := len(sections) - 1
	return strings.Join(sections[:last], ", ") + " or " + sections[last]
}

// allows expects a nil flag if no flag has the name key.
func (c *Flags) allows(f *file, section, key string, flag *pflag.Flag, values []string) error {
	switch {
	case flag == nil || ClassOf(flag) == Never:
		return c.unknownKey(section)
	case key == "output" && strings.Contains(strings.Join(values, ""), "="):
		return errors.New("want a format: name reports in files on the command line")
	case f.tree == "":
		return nil
	case ClassOf(flag) == ByHand:
		return fmt.Errorf("not read from a file in the checked tree: use --%s, or name the file with --config", key)
	case ClassOf(flag) == Stricter:
		return stricter(key, values)
	}
	return nil
}

const kubeVersion = "kube-version"

// An otherVersionError reports a kube-version that a file in the tree may not set. It is a note: the key is ignored.
type otherVersionError struct{ version types.Version }

func (e *otherVersionError) Error() string {
	return fmt.Sprintf("%s is ignored: it is not the default, 1.%d, and could accept more: pass --kube-version %[1]s, or name the file with --config", e.version, types.Newest)
}

// stricter returns an error if the values could weaken a check.
func stricter(key string, values []string) error {
	switch key {
	case "validate":
		if !slices.Equal(values, []string{"strict"}) && !slices.Equal(values, []string{"true"}) {
			return errors.New("a file in the checked tree may only set strict: use --validate, or name the file with --config")
		}
		return nil
	case "ignore-field":
		if slices.ContainsFunc(values, func(field string) bool { return field != "sops" }) {
			return errors.New("a file in the checked tree may only set sops: use --ignore-field, or name the file with --config")
		}
		return nil
	case kubeVersion:
		for _, value := range values {
			list, err := types.ParseVersions(value)
			if err != nil {
				return err
			}
			if !slices.Contains(list, types.Version{Minor: types.Newest}) { // all versions must accept
				return &otherVersionError{list[len(list)-1]}
			}
		}
		return nil
	}
	return fmt.Errorf("no value is known to be safe: use --%s, or name the file with --config", key)
}

func (c *Flags) unknownKey(section string) error {
	if c.Arguments != "" {
		return fmt.Errorf("no such setting: want %s or a flag of celadon %s", c.Arguments, section)
	}
	return fmt.Errorf("no such setting: want a flag of celadon %s", section)
}

// paths returns the values of a flag, or of the arguments if flag is nil, relative to the working directory if they
// are paths. Paths from the tree's own file must stay in the tree. Paths from a file that the user named follow the
// rules of the command line. The package outfile checks links in the paths that a command writes.
func (f *file) paths(flags *pflag.FlagSet, flag *pflag.Flag, values []string) ([]string, error) {
	reads := flag == nil || command.IsOperand(flag)
	if !reads && flag.Name != "out" && !strings.HasSuffix(flag.Name, "-out") {
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
