package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

const configName = ".celadon.yaml"

// configPaths are the flags whose values are paths, which a file gives from its
// own folder.
var configPaths = []string{"crd", "old", "crd-old"}

// defaults sets the flags that the command line does not from the nearest
// configuration file, and returns its objects.
func (o *checkOptions) defaults(cmd *cobra.Command) (objects []string, err error) {
	path := o.config
	if path == "" {
		if path = nearestConfig(); path == "" {
			return nil, nil
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	var file struct {
		Check map[string]any `json:"check"`
	}
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for name, value := range file.Check {
		values, err := configValues(name, value)
		if err != nil {
			return nil, fmt.Errorf("%s: check.%s: %w", path, name, err)
		}
		if name == "objects" {
			objects = relativeTo(path, values)
			continue
		}
		if err := setDefault(cmd, path, name, values); err != nil {
			return nil, fmt.Errorf("%s: check.%s: %w", path, name, err)
		}
	}
	return objects, nil
}

func setDefault(cmd *cobra.Command, path, name string, values []string) error {
	flag := cmd.Flags().Lookup(name)
	if flag == nil || name == "config" || name == "help" || name == "watch" {
		return errors.New("no such setting: want objects or a flag of celadon check")
	}
	if flag.Changed {
		return nil
	}
	if slices.Contains(configPaths, name) {
		values = relativeTo(path, values)
	}
	for _, value := range values {
		if err := flag.Value.Set(value); err != nil {
			return fmt.Errorf("%q: %w", value, err)
		}
	}
	return nil
}

// configValues are one or more values of a flag.
func configValues(name string, v any) ([]string, error) {
	switch v := v.(type) {
	case string, bool:
		return []string{fmt.Sprint(v)}, nil
	case float64:
		if name == "kube-version" {
			return nil, errors.New(`want a string in quotes, such as "1.30": without them it is the number 1.3`)
		}
		return []string{strconv.FormatFloat(v, 'f', -1, 64)}, nil
	case []any:
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

func relativeTo(file string, paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		if out[i] = path; path != "-" && !filepath.IsAbs(path) {
			out[i] = filepath.Join(filepath.Dir(file), path)
		}
	}
	return out
}

// nearestConfig looks in this folder and above it, up to the top of a git
// repository; "" is none. The path is relative, so that reports read well.
func nearestConfig() string {
	dir := "."
	for range strings.Count(absolute(dir), string(filepath.Separator)) + 1 {
		path := filepath.Join(dir, configName)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); !errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		dir = filepath.Join(dir, "..")
	}
	return ""
}

func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}
