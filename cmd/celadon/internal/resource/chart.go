package resource

import (
	"os"
	"path/filepath"
)

// ChartOf returns the folder of the Helm chart that has a file among its templates, or "".
func ChartOf(file string) string {
	for dir := filepath.Dir(file); ; {
		parent := filepath.Dir(dir)
		if filepath.Base(dir) == "templates" {
			if info, err := os.Lstat(filepath.Join(parent, "Chart.yaml")); err == nil && info.Mode().IsRegular() {
				return parent
			}
		}
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
