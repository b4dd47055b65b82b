// Command floor reads YAML files, decodes each with sigs.k8s.io/yaml, and does nothing else. It
// measures the minimum work of a program that checks them.
//
//	floor CRD OBJECTS...
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

func main() {
	for _, root := range os.Args[1:] {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			return decode(path)
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, "floor:", err)
			os.Exit(1)
		}
	}
}

func decode(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var object map[string]any
	if err := yaml.Unmarshal(data, &object); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
