package celadon_test

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func readYAML(t *testing.T, name string, value any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, value); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestDependabot(t *testing.T) {
	t.Parallel()
	var config struct {
		Updates []struct {
			Ecosystem   string   `yaml:"package-ecosystem"`
			Directory   string   `yaml:"directory"`
			Directories []string `yaml:"directories"`
		} `yaml:"updates"`
	}
	readYAML(t, ".github/dependabot.yml", &config)
	patterns := map[string][]string{}
	for _, u := range config.Updates {
		patterns[u.Ecosystem] = append(patterns[u.Ecosystem], u.Directories...)
		if u.Directory != "" {
			patterns[u.Ecosystem] = append(patterns[u.Ecosystem], u.Directory)
		}
	}
	for ecosystem, file := range map[string]string{"gomod": "go.mod", "npm": "package.json"} {
		files, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "*"+file).Output()
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s: %v", file, err)
		}
		for name := range strings.FieldsSeq(string(files)) {
			dir := path.Join("/", path.Dir(name))
			listed := slices.ContainsFunc(patterns[ecosystem], func(pattern string) bool {
				ok, err := path.Match(pattern, dir)
				return ok && err == nil
			})
			if path.Base(name) == file && !strings.Contains(dir, "/testdata/") && !listed {
				t.Errorf(".github/dependabot.yml: %s: %s is in no directory", ecosystem, dir)
			}
		}
	}
	if !slices.Contains(patterns["github-actions"], "/") {
		t.Error(".github/dependabot.yml: actions are not updated")
	}
}

func TestIssueForms(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(".github/ISSUE_TEMPLATE/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return filepath.Base(name) == "config.yml" })
	if len(names) < 4 {
		t.Fatalf("only the forms %v", names)
	}
	for _, name := range names {
		var form struct {
			Name, Description string
			Body              []struct {
				Type, ID    string
				Attributes  struct{ Label, Value string }
				Validations struct{ Required bool }
			}
		}
		readYAML(t, name, &form)
		version, ids := false, map[string]bool{}
		for _, field := range form.Body {
			if field.Type == "markdown" {
				continue
			}
			if field.ID == "" || ids[field.ID] || field.Attributes.Label == "" {
				t.Errorf("%s: field %q: want a unique id and a label", name, field.ID)
			}
			ids[field.ID] = true
			version = version || field.ID == "version" && field.Validations.Required && strings.Contains(field.Attributes.Label, "celadon version")
		}
		if !version || form.Name == "" || form.Description == "" {
			t.Errorf("%s: want a name, a description, and a required field for the output of celadon version", name)
		}
	}
}

// Lock files of npm name packages by their hash only, so that any registry can provide them.
func TestLockFiles(t *testing.T) {
	t.Parallel()
	files, err := exec.Command("git", "ls-files", "*package-lock.json").Output()
	if err != nil || len(files) == 0 {
		t.Fatalf("no lock files: %v", err)
	}
	for name := range strings.FieldsSeq(string(files)) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), `"resolved":`) || !strings.Contains(string(data), `"integrity":`) {
			t.Errorf("%s: want an integrity and no resolved for each package (npm install --omit-lockfile-registry-resolved)", name)
		}
	}
}

// binaries lists the files of the repository that are neither text nor pictures: JSON that is compressed
// because of its size.
var binaries = []string{
	"conformance/minors/compare/testdata/recorded.jsonl.gz", "engine/x/builtin/schemas.json.gz", "internal/testing/exchange/testdata/recorded.json.gz",
}

func TestNoBinaries(t *testing.T) {
	t.Parallel()
	files, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		if slices.Contains(binaries, name) || strings.HasSuffix(name, ".png") {
			continue
		}
		data, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue // removed, but not yet committed
		}
		if err != nil {
			t.Error(err)
		}
		if bytes.IndexByte(data, 0) >= 0 {
			t.Errorf("%s is a binary file: a reviewer cannot read it", name)
		}
	}
}
