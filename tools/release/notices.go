package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

type linkedModule struct{ Path, Version, Dir string }

// notices prints the licenses and notices that must be distributed with the command: of all modules that are linked on a
// supported system, and of Go.
func notices(w io.Writer, repo string) error {
	modules := map[string]linkedModule{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		if err := linked(repo, system, modules); err != nil {
			return err
		}
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	modules["Go"] = linkedModule{Path: "Go", Dir: strings.TrimSpace(string(goroot))}
	fmt.Fprint(w, "Celadon contains third-party code under these licenses.\n")
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		if err := notice(w, modules[name]); err != nil {
			return err
		}
	}
	return nil
}

func linked(repo, system string, modules map[string]linkedModule) error {
	cmd := exec.Command("go", "list", "-deps", "-json=Module", "./cmd/celadon")
	cmd.Dir, cmd.Stderr = repo, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ Module *linkedModule }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if p.Module != nil && p.Module.Path != root && p.Module.Path != root+"/cmd/celadon" {
			modules[p.Module.Path] = *p.Module
		}
	}
}

func notice(w io.Writer, m linkedModule) error {
	var files []string
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "License*", "COPYING*", "NOTICE*", "PATENTS*"} {
		found, err := filepath.Glob(filepath.Join(m.Dir, pattern))
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	texts := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a folder
		}
		texts++
		fmt.Fprintf(w, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.TrimSpace(m.Path+" "+m.Version+" "+filepath.Base(file)), bytes.TrimSpace(text))
	}
	if texts == 0 {
		return fmt.Errorf("%s %s has no license", m.Path, m.Version)
	}
	return nil
}
