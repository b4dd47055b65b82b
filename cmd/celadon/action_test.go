package main

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

type action struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Branding    map[string]string `json:"branding"`
	Outputs     map[string]struct {
		Description string `json:"description"`
		Value       string `json:"value"`
	} `json:"outputs"`
	Inputs map[string]struct {
		Description string `json:"description"`
		Default     string `json:"default"`
	} `json:"inputs"`
	Runs struct {
		Using string `json:"using"`
		Steps []struct {
			ID    string            `json:"id"`
			Name  string            `json:"name"`
			If    string            `json:"if"`
			Shell string            `json:"shell"`
			Env   map[string]string `json:"env"`
			Run   string            `json:"run"`
		} `json:"steps"`
	} `json:"runs"`
}

// readAction returns the scripts of action.yml by step. No script may contain an expression, which would run a
// hostile name as code.
func readAction(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.UnmarshalStrict(data, &a); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, match := range workflowInput.FindAllStringSubmatch(string(data), -1) {
		used[match[1]] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(a.Inputs)), slices.Sorted(maps.Keys(used))); diff != "" {
		t.Errorf("inputs (-declared +used):\n%s", diff)
	}
	scripts := map[string]string{}
	for _, step := range a.Runs.Steps {
		scripts[step.Name] = step.Run
		if list := unquoted(step.Run); len(list) > 0 || strings.Contains(step.Run, "${{") || step.Shell != "bash" {
			t.Errorf("%s: the script contains an expression, expands without quotes, or is for another shell: %q", step.Name, list)
		}
		for name, value := range step.Env {
			if strings.Contains(value, "token") && (step.Name != "comment" && step.Name != "install" || name != "GH_TOKEN") {
				t.Errorf("%s: %s has the token", step.Name, name)
			}
		}
	}
	steps := slices.Sorted(maps.Keys(scripts))
	if want := []string{"check", "comment", "diff", "install", "render", "test", "vet"}; a.Runs.Using != "composite" || !slices.Equal(steps, want) {
		t.Fatalf("%s with the steps %v, want %v", a.Runs.Using, steps, want)
	}
	return scripts
}

func actionStep(t *testing.T, dir, script string, env ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir = dir
	temp := tree(t, map[string]string{"celadon-reports/x": ""})
	cmd.Env = append(os.Environ(), "RUNNER_TEMP="+temp, "GITHUB_STEP_SUMMARY="+filepath.Join(temp, "summary"), "GITHUB_OUTPUT="+filepath.Join(temp, "output"))
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestActionInstalls(t *testing.T) {
	t.Parallel()
	install := readAction(t)["install"]
	releases := tree(t, map[string]string{"celadon": "#!/bin/sh\necho made up\n", "v1.2.3/x": "", "v1.2.4/x": "", "v1.2.5/x": ""})
	if err := os.Chmod(filepath.Join(releases, "celadon"), 0o755); err != nil {
		t.Fatal(err)
	}
	for version, spoil := range map[string]string{"v1.2.3": "", "v1.2.4": "spoilt"} {
		archive := fmt.Sprintf("celadon_%s_linux_amd64.tar.gz", version[1:])
		if out, err := exec.Command("tar", "-C", releases, "-czf", filepath.Join(releases, version, archive), "celadon").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		data, err := os.ReadFile(filepath.Join(releases, version, archive))
		if err != nil {
			t.Fatal(err)
		}
		sums := fmt.Sprintf("%x  another.tar.gz\n%x  %s\n", sha256.Sum256(nil), sha256.Sum256(append(data, spoil...)), archive)
		if err := os.WriteFile(filepath.Join(releases, version, "checksums.txt"), []byte(sums), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ version, system, arch, sum, want string }{
		{"v1.2.3", "Linux", "X64", "", "linux_amd64.tar.gz: OK"},
		{"v1.2.3", "Linux", "X64", strings.Repeat("0", 64), "FAILED"},
		{"v1.2.4", "Linux", "X64", "", "FAILED"},
		{"v1.2.5", "Linux", "X64", "", "curl"}, // no such release
		{"v1.2.3", "Plan 9", "X64", "", "no release for Plan 9"},
		{"v1.2.3", "Linux", "ARM", "", "no release for ARM"},
		{"main", "Linux", "X64", "", "no release is named"},
		{"", "Linux", "X64", "", "no release is named"},
		{"v1.2.3/../../x", "Linux", "X64", "", "no release is named"},
	} {
		temp := t.TempDir()
		path := filepath.Join(temp, "path")
		out, err := actionStep(t, temp, install, "VERSION="+c.version, "SHA256="+c.sum, "RELEASES=file://"+releases, "RUNNER_OS="+c.system, "RUNNER_ARCH="+c.arch, "RUNNER_TEMP="+temp, "GITHUB_PATH="+path)
		if want := strings.HasSuffix(c.want, "OK"); (err == nil) != want || !strings.Contains(out, c.want) {
			t.Errorf("%v: %v: %s", c, err, out)
			continue
		}
		added, _ := os.ReadFile(path)
		if err != nil && len(added) > 0 {
			t.Errorf("%v: %s is on the path", c, added)
		}
		if err == nil {
			if out, err := exec.Command(filepath.Join(strings.TrimSpace(string(added)), "celadon")).Output(); err != nil || string(out) != "made up\n" {
				t.Errorf("%v: installed %q: %v: %s", c, added, err, out)
			}
		}
	}
}

func TestActionChecks(t *testing.T) {
	t.Parallel()
	check := readAction(t)["check"]
	const good = "examples/crontab/objects/good.yaml"
	for objects, want := range map[string]bool{good: true, good + "\n\n" + good + "\n": true, "examples/crontab/objects": false, good + " " + good: false} {
		out, err := actionStep(t, "../..", check, "CRD=examples/crontab/crd.yaml", "KUBE_VERSION=1.33", "BASE=", "OBJECTS="+objects)
		if (err == nil) != want || strings.Contains(out, "::error") == want && !strings.Contains(out, "no such file") {
			t.Errorf("%s: %v: %s", objects, err, out)
		}
	}
	if out, err := actionStep(t, "../..", check, "CRD=", "KUBE_VERSION=", "BASE=", "OBJECTS=examples/crontab/objects/good.yaml\nexamples/crontab/crd.yaml"); err != nil {
		t.Errorf("with the CRD among the objects: %v: %s", err, out)
	}
	dir := tree(t, map[string]string{"m/a b/*.yaml": goodCronTab, "m/a b/x.yaml": goodCronTab + "unknown: field\n", "m/--validate=ignore": goodCronTab + "unknown: field\n"})
	if out, err := actionStep(t, filepath.Join(dir, "m"), check, "CRD=../crds", "KUBE_VERSION=", "BASE=", "OBJECTS=--validate=ignore"); err == nil || !strings.Contains(out, "::error") {
		t.Errorf("a name is parsed as a flag: %s", out)
	}
	if out, err := actionStep(t, filepath.Join(dir, "m"), check, "CRD=../crds", "KUBE_VERSION=", "BASE=", "OBJECTS=a b/*.yaml"); err != nil {
		t.Errorf("a name with a space and a star: %v: %s", err, out)
	}
}

func TestActionAttests(t *testing.T) {
	t.Parallel()
	install := readAction(t)["install"]
	verify := regexp.MustCompile(`(?m)^\[ "\$ATTESTATION".*$`).FindString(install)
	if verify == "" {
		t.Fatal("no line verifies the attestation")
	}
	bin := tree(t, map[string]string{"gh": "#!/bin/sh\n[ \"$*\" = 'attestation verify good.tar.gz --repo celadon-cel/celadon' ]\n"})
	if err := os.Chmod(filepath.Join(bin, "gh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		on, archive string
		ok          bool
	}{{"true", "good.tar.gz", true}, {"true", "bad.tar.gz", false}, {"false", "bad.tar.gz", true}} {
		out, err := actionStep(t, bin, verify, "ATTESTATION="+c.on, "archive="+c.archive, "PATH="+bin+":"+os.Getenv("PATH"))
		if (err == nil) != c.ok || strings.Contains(out, "::error::celadon: the provenance of "+c.archive+" is not verified") == c.ok {
			t.Errorf("%v: %v: %s", c, err, out)
		}
	}
}

func TestActionRenders(t *testing.T) {
	t.Parallel()
	render := readAction(t)["render"]
	dir := tree(t, map[string]string{
		"a b/kustomization.yaml": "", "chart/Chart.yaml": "name: chart\n", "--validate=ignore/kustomization.yaml": "",
		"bin/kustomize": "#!/bin/sh\ncat <<'E'\n" + goodCronTab + "E\n", "bin/helm": "#!/bin/sh\ncat <<'E'\n" + goodCronTab + "unknown: field\nE\n",
	})
	for _, name := range []string{"bin/kustomize", "bin/helm"} {
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for paths, want := range map[string]bool{"a b": true, "a b\n\n--validate=ignore\n": true, "chart": false, "a b\nchart": false, "none": false} {
		out, err := actionStep(t, dir, render, "CRD=crds", "KUBE_VERSION=", "RENDER="+paths, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		if (err == nil) != want {
			t.Errorf("%q: %v: %s", paths, err, out)
		}
	}
}

func TestPinned(t *testing.T) {
	t.Parallel()
	changes, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## (v\S+)`).FindSubmatch(changes)
	if newest == nil {
		t.Fatal("CHANGELOG.md has no version")
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pinned := regexp.MustCompile(`(?:rev: |default: |celadon:|celadon-cel/celadon\S*@|VERSION=)(v\d+\.\d+\.\d+(?:-\w+(?:\.\w+)*)?)`)
	found := 0
	pages = append(pages, "../../action.yml", "../../README.md")
	for _, glob := range []string{"../../docs/*.yaml", fleetExample + "*.yaml"} {
		files, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, files...)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range pinned.FindAllSubmatch(text, -1) {
			found++
			if string(match[1]) != string(newest[1]) {
				t.Errorf("%s pins %s, where %s is the newest", page, match[1], newest[1])
			}
		}
	}
	if found < 3 {
		t.Errorf("%d versions are pinned: want those of the hook, the action and the modules", found)
	}
}
