package main

import (
	"bytes"
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

	"github.com/celadon-cel/celadon/cmd/celadon/internal/gitbase"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/yamldoc"
)

const (
	configName = ".celadon.yaml"
	maxConfig  = 1 << 20
	// maxConfigValues is how many a setting may have.
	maxConfigValues = 1000
)

// configFile is a configuration file that counts.
type configFile struct {
	path string // from the working directory; the paths in it begin there
	name string // for messages
	tree string // that the file and its paths are in; "" for a file named by hand
	data []byte
}

// defaults sets the flags that the command line does not from a configuration
// file, and returns its objects.
func (o *checkOptions) defaults(cmd *cobra.Command) (objects []string, err error) {
	file, err := o.configFile(cmd.Context(), cmd.ErrOrStderr())
	if file == nil || err != nil {
		return nil, err
	}
	settings, err := file.settings()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.name, err)
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		values, err := configValues(key, settings[key])
		if err == nil {
			err = file.allows(key, values)
		}
		if err == nil {
			values, err = file.paths(key, values)
		}
		switch {
		case err != nil:
		case key == "objects":
			objects = values
		default:
			err = setDefault(cmd, key, values)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: check.%s: %w", file.name, key, err)
		}
	}
	return objects, nil
}

func setDefault(cmd *cobra.Command, key string, values []string) error {
	flag := cmd.Flags().Lookup(key)
	if flag.Changed {
		return nil
	}
	for _, value := range values {
		if err := flag.Value.Set(value); err != nil {
			return fmt.Errorf("%q: %w", value, err)
		}
	}
	return nil
}

// configFile is the file that --config names, or else the nearest one; nil is
// none. With --base what is checked is a change of what stands there, which must
// not say itself how it is judged: then the nearest file of the revision counts.
func (o *checkOptions) configFile(ctx context.Context, stderr io.Writer) (*configFile, error) {
	switch {
	case o.noConfig && o.config != "":
		return nil, errors.New("--config and --no-config: want one")
	case o.noConfig:
		return nil, nil
	case o.config != "":
		return namedConfig(o.config)
	}
	tree, err := gitbase.Top(".")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configName, err)
	}
	nearest, err := nearestConfig(tree)
	if o.base == "" || tree == "" {
		return nearest, err
	}
	path, data, err := gitbase.Nearest(ctx, o.base, configName, maxConfig)
	if err != nil {
		return nil, err
	}
	if (path != "") != (nearest != nil) || nearest != nil && (path != nearest.path || !bytes.Equal(data, nearest.data)) {
		fmt.Fprintf(stderr, "celadon: %s is not that of --base %s, which counts\n", configName, o.base)
	}
	if path == "" {
		return nil, nil
	}
	return &configFile{path: path, name: path + " at " + o.base, tree: tree, data: data}, nil
}

// namedConfig reads the file that the user named, which may be a pipe.
func namedConfig(path string) (*configFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	defer f.Close()
	data, err := input.ReadAll(f, maxConfig)
	if err != nil {
		return nil, fmt.Errorf("--config: %s: %w", path, err)
	}
	return &configFile{path: path, name: path, data: data}, nil
}

// nearestConfig looks in this folder and above it up to the top of the tree, or
// where there is none only here; nil is none. Its path is relative, so that
// reports read well.
func nearestConfig(tree string) (*configFile, error) {
	here, err := filepath.Abs(".")
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configName, err)
	}
	if tree == "" {
		tree = here
	}
	path := configName
	for dir := here; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(path); err == nil {
			break
		}
		if dir == tree || dir == filepath.Dir(dir) {
			return nil, nil
		}
		path = filepath.Join("..", path)
	}
	file := &configFile{path: path, name: path, tree: tree}
	if !gitbase.Inside(tree, path) {
		return file, fmt.Errorf("%s: a link out of the tree %s", path, tree)
	}
	if file.data, err = input.ReadFile(path, maxConfig); err != nil {
		return file, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// settings are what the file says of celadon check.
func (f *configFile) settings() (map[string]any, error) {
	v, duplicate, err := yamldoc.Decode(f.data)
	if err == nil {
		err = duplicate
	}
	if err != nil || v == nil {
		return nil, err
	}
	file, _ := v.(map[string]any)
	check, _ := file["check"].(map[string]any)
	for key := range file {
		if key != "check" {
			return nil, fmt.Errorf("%s: no such setting: want check", key)
		}
	}
	if file == nil || check == nil && file["check"] != nil {
		return nil, errors.New("want check with objects and flags of celadon check")
	}
	return check, nil
}

// configValues are one or more values of a flag.
func configValues(name string, v any) ([]string, error) {
	switch v := v.(type) {
	case string, bool, int64:
		return []string{fmt.Sprint(v)}, nil
	case float64:
		if name == "kube-version" {
			return nil, errors.New(`want a string in quotes, such as "1.30": without them it is the number 1.3`)
		}
		return []string{strconv.FormatFloat(v, 'f', -1, 64)}, nil
	case []any:
		if len(v) > maxConfigValues {
			return nil, fmt.Errorf("more than %d values: want less", maxConfigValues)
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
	return nil, fmt.Errorf("%v: want a string, a number, true, false or a list of strings", v)
}
