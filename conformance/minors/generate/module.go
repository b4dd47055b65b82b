package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	modulePrefix = "github.com/celadon-cel/celadon/conformance/minors/"
	upstream     = "k8s.io/apiextensions-apiserver"
)

// A modFile is the part of a go.mod that the modules take from upstream.
type modFile struct {
	Go      string
	Godebug []struct{ Key, Value string }
	Require []struct{ Path, Version string }
}

// writeModule writes the go.mod and the go.sum of the module in a folder of root. It requires the module
// in the folder library, unless that is "".
func writeModule(root, folder, library string, m minor) error {
	want, err := upstreamModFile(m.libraries())
	if err != nil {
		return err
	}
	dir := filepath.Join(root, folder)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), newModFile(folder, library, m.libraries(), want), 0o644); err != nil {
		return err
	}
	if _, err := goCommand(dir, "mod", "tidy"); err != nil {
		return err
	}
	return checkVersions(dir, want)
}

// upstreamModFile returns the go.mod of a version of upstream.
func upstreamModFile(version string) (*modFile, error) {
	out, err := goCommand(".", "mod", "download", "-json", upstream+"@"+version)
	if err != nil {
		return nil, err
	}
	var module struct{ GoMod string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, err
	}
	return readModFile(module.GoMod)
}

func readModFile(path string) (*modFile, error) {
	out, err := goCommand(".", "mod", "edit", "-json", path)
	if err != nil {
		return nil, err
	}
	f := &modFile{}
	return f, json.Unmarshal(out, f)
}

// newModFile returns a go.mod with the directives of want, before go mod tidy.
func newModFile(folder, library, version string, want *modFile) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "module %s%s\n\ngo %s\n", modulePrefix, folder, want.Go)
	for _, d := range want.Godebug {
		fmt.Fprintf(&b, "godebug %s=%s\n", d.Key, d.Value)
	}
	fmt.Fprintf(&b, "require %s %s\n", upstream, version)
	for _, r := range want.Require {
		fmt.Fprintf(&b, "require %s %s\n", r.Path, r.Version)
	}
	if library != "" {
		up := strings.Repeat("../", strings.Count(folder, "/")+1)
		fmt.Fprintf(&b, "require %[1]s v0.0.0-00010101000000-000000000000\nreplace %[1]s => %[2]s%[3]s\n", modulePrefix+library, up, library)
	}
	return b.Bytes()
}

// checkVersions checks that the module in dir requires the versions that upstream requires.
func checkVersions(dir string, want *modFile) error {
	got, err := readModFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	versions := map[string]string{}
	for _, r := range want.Require {
		versions[r.Path] = r.Version
	}
	var errs []error
	for _, r := range got.Require {
		if v := versions[r.Path]; v != "" && v != r.Version {
			errs = append(errs, fmt.Errorf("%s: got %s, want %s", r.Path, r.Version, v))
		}
	}
	return errors.Join(errs...)
}

// goCommand runs a go command in dir and returns its output.
func goCommand(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}
