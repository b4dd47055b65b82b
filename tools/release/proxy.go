package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// writeProxy writes each module at its tag, in the layout of a module proxy. Use it with GOPROXY=file://DIR.
func writeProxy(repo, version, out string) error {
	for _, dir := range published {
		if err := serveModule(repo, dir, version, out); err != nil {
			return fmt.Errorf("%s: %w", path.Join(dir, version), err)
		}
	}
	return nil
}

func serveModule(repo, dir, version, out string) error {
	m := module.Version{Path: path.Join(root, dir), Version: version}
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	folder := filepath.Join(out, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	revision := path.Join(dir, version)
	stamp, err := git(repo, "log", "-1", "--format=%cI", revision)
	if err != nil {
		return err
	}
	date, err := time.Parse(time.RFC3339, strings.TrimSpace(stamp))
	if err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, date.UTC()})
	if err != nil {
		return err
	}
	goMod, err := git(repo, "show", revision+":"+path.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	for suffix, text := range map[string]string{".info": string(info), ".mod": goMod} {
		if err := os.WriteFile(filepath.Join(folder, version+suffix), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "list"), []byte(version+"\n"), 0o644); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(folder, version+".zip"))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := zip.CreateFromVCS(file, m, repo, revision, dir); err != nil {
		return err
	}
	return file.Close()
}
