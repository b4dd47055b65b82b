// Package config sets default values of flags from a configuration file. A file that was found in the
// tree under check can only set flags that cannot weaken the check.
package config

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/gitrevision"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
	"github.com/celadon-cel/celadon/types"
)

const (
	// Name is the name of the configuration file.
	Name = ".celadon.yaml"
	// Most is the maximum size in bytes.
	Most      = 1 << 20
	maxValues = 1000
)

type file struct {
	path string // from the working directory; relative paths in the file start at its folder
	name string // for messages
	tree string // the tree that must contain the file's paths; "" for a file that the user named
	data []byte
}

// Flags holds the configuration flags of a command.
type Flags struct {
	// Base is the git revision whose configuration file applies; "" means the working tree.
	Base string
	// NoTree is set if the input is in no tree. Then only a file that the user named applies.
	NoTree bool
	// Section is the command's section in the file; "" means the command's name.
	Section string
	// Arguments is the key for the command's arguments, which are paths; "" if no file can set them.
	Arguments string
	// Join is set if the arguments are not only paths. It converts an argument from a file in folder to the form that
	// the command reads. The command checks that the argument does not lead out of the tree.
	Join func(folder, argument string) string

	file string // the file that the user named
	off  bool
}

// Add adds --config and --no-config.
func (c *Flags) Add(f *pflag.FlagSet) {
	f.StringVar(&c.file, "config", "", "read defaults from `FILE` instead of the nearest .celadon.yaml")
	f.BoolVar(&c.off, "no-config", false, "do not read .celadon.yaml")
}

// Defaults sets the flags of cmd that the command line does not set from the command's section of the
// configuration file. It returns the section's values for the command's arguments. It also writes a note if
// the flags select a version that Kubernetes has not released.
func (c *Flags) Defaults(cmd *cobra.Command, stderr io.Writer) (arguments []string, err error) {
	arguments, err = c.defaults(cmd, stderr)
	for _, name := range []string{kubeVersion, "to-" + kubeVersion} {
		flag := cmd.Flags().Lookup(name)
		if err != nil || flag == nil {
			continue
		}
		list, _ := types.ParseVersions(flag.Value.String())
		if last := len(list) - 1; last >= 0 && list[last].Preview() {
			fmt.Fprintf(stderr, "celadon: Kubernetes %s is a preview: it is not released, and its results can change\n", list[last])
			break
		}
	}
	return arguments, err
}

func (c *Flags) defaults(cmd *cobra.Command, stderr io.Writer) (arguments []string, err error) {
	f, err := c.find(cmd.Context(), stderr)
	if f == nil || err != nil {
		return nil, err
	}
	section := cmp.Or(c.Section, cmd.Name())
	settings, err := f.settings(section)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		values, err := valuesOf(key, settings[key])
		flag, isArgument := cmd.Flags().Lookup(key), c.Arguments != "" && key == c.Arguments
		if err == nil && !isArgument {
			err = c.allows(f, section, key, flag, values)
		}
		if isArgument && c.Join != nil {
			for i := range values {
				values[i] = c.Join(filepath.Dir(f.path), values[i])
			}
		} else if err == nil {
			values, err = f.paths(cmd.Flags(), flag, values)
		}
		var other *otherVersionError
		switch {
		case errors.As(err, &other):
			if !cmd.Flags().Changed(key) {
				fmt.Fprintf(stderr, "celadon: %s: %s.%s: %s\n", f.name, section, key, other)
			}
			continue
		case err != nil:
		case isArgument:
			arguments = values
		default:
			err = setDefault(flag, values)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s.%s: %w", f.name, section, key, err)
		}
	}
	return arguments, nil
}

func setDefault(flag *pflag.Flag, values []string) error {
	if flag.Changed {
		return nil
	}
	if _, many := flag.Value.(pflag.SliceValue); !many && len(values) != 1 {
		return fmt.Errorf("want one value (got %d)", len(values))
	}
	for _, value := range values {
		if err := flag.Value.Set(value); err != nil {
			if want := command.Wanted(flag); want != "" {
				err = errors.New("want " + want)
			}
			return fmt.Errorf("%q: %w", value, err)
		}
	}
	flag.Changed = true // callers that check Changed must also see the file's values
	return nil
}

// find returns the file that --config names, or else the nearest file. It returns nil if no file applies.
// With --base, the nearest file of that revision applies: the change under check must not configure its own
// check.
func (c *Flags) find(ctx context.Context, stderr io.Writer) (*file, error) {
	switch {
	case c.off && c.file != "":
		return nil, errors.New("--config and --no-config: want only one of them")
	case c.off:
		return nil, nil
	case c.file != "":
		return named(c.file)
	case c.NoTree:
		return nil, nil
	}
	tree, err := worktree.Top(".")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	near, err := nearest(tree)
	if c.Base == "" || tree == "" {
		return near, err
	}
	path, data, err := gitrevision.Nearest(ctx, c.Base, Name, Most)
	if err != nil {
		return nil, err
	}
	if (path != "") != (near != nil) || near != nil && (path != near.path || !bytes.Equal(data, near.data)) {
		fmt.Fprintf(stderr, "celadon: %s differs from --base %s, whose version applies\n", Name, c.Base)
	}
	if path == "" {
		return nil, nil
	}
	return &file{path: path, name: path + " at " + c.Base, tree: tree, data: data}, nil
}

// named reads the file that the user named, which may be a pipe.
func named(path string) (*file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %s: %w", path, input.WithoutPath(err))
	}
	defer f.Close()
	data, err := input.ReadAll(f, Most)
	if err != nil {
		return nil, fmt.Errorf("--config: %s: %w", path, err)
	}
	return &file{path: path, name: path, data: data}, nil
}

// nearest reads the nearest file in the working directory and its parents, up to the top of the tree.
// Without a tree, it only tries the working directory. It returns nil if no file is found. The returned
// path is relative, which makes reports readable.
func nearest(tree string) (*file, error) {
	here, err := worktree.Resolve(".")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	if tree == "" {
		tree = here
	}
	path := Name
	for dir := here; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(path); err == nil {
			break
		}
		if dir == tree || dir == filepath.Dir(dir) {
			return nil, nil
		}
		path = filepath.Join("..", path)
	}
	found := &file{path: path, name: path, tree: tree}
	if !worktree.Inside(tree, path) {
		return found, fmt.Errorf("%s: a link out of the tree %s", path, tree)
	}
	if found.data, err = input.ReadFile(path, Most); err != nil {
		return found, fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}

func (f *file) settings(command string) (map[string]any, error) {
	v, duplicate, err := decode.Decode(f.data)
	if err == nil {
		err = duplicate
	}
	if err != nil || v == nil {
		return nil, err
	}
	bySection, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("want a section for each command: %s", commands())
	}
	for name, section := range bySection {
		if !slices.Contains(sections, name) {
			return nil, fmt.Errorf("%s: no such setting: want %s", name, commands())
		}
		if _, ok := section.(map[string]any); !ok && section != nil {
			return nil, fmt.Errorf("%s: want flags of celadon %s", name, name)
		}
	}
	settings, _ := bySection[command].(map[string]any)
	return settings, nil
}

// KubeVersion returns the Kubernetes version that data, a file in a tree, sets for a command, or "" if data sets no
// version. If the version is ignored, note is the reason.
func KubeVersion(data []byte, command string) (version, note string, err error) {
	settings, err := (&file{data: data}).settings(command)
	if err != nil || settings[kubeVersion] == nil {
		return "", "", err
	}
	values, err := valuesOf(kubeVersion, settings[kubeVersion])
	if err == nil && len(values) != 1 {
		err = fmt.Errorf("want one value (got %d)", len(values))
	}
	if err == nil {
		err = stricter(kubeVersion, values)
	}
	var other *otherVersionError
	switch {
	case errors.As(err, &other):
		return "", fmt.Sprintf("%s.%s: %s", command, kubeVersion, other), nil
	case err != nil:
		return "", "", fmt.Errorf("%s.%s: %w", command, kubeVersion, err)
	}
	return values[0], "", nil
}

func valuesOf(name string, v any) ([]string, error) {
	switch v := v.(type) {
	case string, bool, int64:
		return []string{fmt.Sprint(v)}, nil
	case float64:
		if name == kubeVersion {
			return nil, errors.New(`want a string in quotes, such as "1.30": without them it is the number 1.3`)
		}
		return []string{strconv.FormatFloat(v, 'f', -1, 64)}, nil
	case []any:
		if len(v) > maxValues {
			return nil, fmt.Errorf("more than %d values", maxValues)
		}
		var all []string
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, fmt.Errorf("%v: want a string", item)
			}
			all = append(all, s)
		}
		return all, nil
	}
	return nil, fmt.Errorf("%v: want a string, a number, true, false, or a list of strings", v)
}
