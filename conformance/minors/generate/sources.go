package main

import (
	"bytes"
	"embed"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed template
var templateFS embed.FS

var templates = template.Must(template.ParseFS(templateFS, "template/*.tmpl"))

// sources returns the Go files of the program of a minor.
func (p *program) sources(m minor) (map[string][]byte, error) {
	files := map[string][]byte{}
	for file := range p.variants {
		name, err := p.template(file, m)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := templates.ExecuteTemplate(&b, name, m); err != nil {
			return nil, err
		}
		files[file] = b.Bytes()
	}
	return files, nil
}

func writeSources(root, folder string, files map[string][]byte) error {
	dir := filepath.Join(root, folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
