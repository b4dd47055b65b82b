package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"
)

const licenseList = "../../THIRD_PARTY_LICENSES.md"

func TestLicenses(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	list.WriteString("# Licenses of the modules linked into the command\n\n`go test ./cmd/celadon -run TestLicenses -update` writes this list.\n\n| module | version | license |\n|---|---|---|\n")
	for _, m := range linkedModules(t) {
		licence := licenseOf(t, m.Dir) // CC-BY-SA-4.0 is the license of documentation
		for _, id := range strings.Split(licence, ", ") {
			if !slices.Contains([]string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "CC0-1.0", "Unlicense", "CC-BY-SA-4.0"}, id) {
				t.Errorf("%s %s: licence %q: see whether it may be linked", m.Path, m.Version, licence)
			}
		}
		fmt.Fprintf(&list, "| %s | %s | %s |\n", m.Path, m.Version, licence)
	}
	if *update {
		if err := os.WriteFile(licenseList, []byte(list.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(licenseList)
	if err != nil {
		t.Fatal(err)
	}
	if string(was) != list.String() {
		t.Errorf("%s does not match the linked modules: rewrite it with go test ./cmd/celadon -run TestLicenses -update", licenseList)
	}
}

type linkedModule struct{ Path, Version, Dir string }

func linkedModules(t *testing.T) (modules []linkedModule) {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-json=Module", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{"github.com/celadon-cel/celadon": true, "github.com/celadon-cel/celadon/cmd/celadon": true, "github.com/celadon-cel/celadon/builtin": true}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ Module *linkedModule }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			slices.SortFunc(modules, func(a, b linkedModule) int { return strings.Compare(a.Path, b.Path) })
			return modules
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module != nil && !seen[p.Module.Path] {
			seen[p.Module.Path] = true
			modules = append(modules, *p.Module)
		}
	}
}

func licenseOf(t *testing.T, dir string) string {
	t.Helper()
	var ids []string
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*", "License*"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // a folder
			}
			for _, m := range licensecheck.Scan(text).Match {
				if !m.IsURL && !slices.Contains(ids, m.ID) {
					ids = append(ids, m.ID)
				}
			}
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, ", ")
}
