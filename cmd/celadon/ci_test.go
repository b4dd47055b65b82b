package main

import (
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

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/config"
)

// workflow is what of a workflow file of GitHub Actions is held.
type workflow struct {
	Name string `json:"name"`
	On   struct {
		Call struct {
			Inputs map[string]struct {
				Description string `json:"description"`
				Type        string `json:"type"`
				Required    bool   `json:"required"`
				Default     any    `json:"default"`
			} `json:"inputs"`
		} `json:"workflow_call"`
	} `json:"on"`
	Permissions map[string]string `json:"permissions"`
	Jobs        map[string]struct {
		RunsOn      string            `json:"runs-on"`
		Permissions map[string]string `json:"permissions"`
		Env         map[string]string `json:"env"`
		Steps       []workflowStep    `json:"steps"`
	} `json:"jobs"`
}

type workflowStep struct {
	Name string         `json:"name"`
	If   string         `json:"if"`
	Uses string         `json:"uses"`
	With map[string]any `json:"with"`
	Run  string         `json:"run"`
}

var workflowInput = regexp.MustCompile(`inputs\.([a-z-]+)`)

// TestWorkflow holds the workflow of docs/: it has no field but those above, all
// inputs are declared and used, and what it runs works on the examples.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/ci-workflow.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	// "on" is true in YAML 1.1, not so for GitHub.
	if err := yaml.UnmarshalStrict([]byte(strings.Replace(string(data), "\non:\n", "\n\"on\":\n", 1)), &w); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, match := range workflowInput.FindAllStringSubmatch(string(data), -1) {
		used[match[1]] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(w.On.Call.Inputs)), slices.Sorted(maps.Keys(used))); diff != "" {
		t.Errorf("inputs (-declared +used):\n%s", diff)
	}
	dir := t.TempDir()
	ran := 0
	for _, step := range w.Jobs["check"].Steps {
		if !strings.HasPrefix(step.Run, "celadon") {
			continue
		}
		ran++
		for objects, want := range map[string]bool{"examples/crontab/objects/good.yaml": true, "examples/crontab/objects": strings.Contains(step.Run, "|| true")} {
			cmd := exec.Command("bash", "-e", "-c", step.Run)
			cmd.Dir = "../.."
			suites := strings.Replace(objects, "objects/good.yaml", "tests", 1)
			cmd.Env = append(os.Environ(), "RUNNER_TEMP="+dir, "CRD=examples/crontab/crd.yaml", "KUBE_VERSION=1.33", "BASE=", "OBJECTS="+objects, "SUITES="+suites)
			if out, err := cmd.CombinedOutput(); (err == nil) != want {
				t.Errorf("%s of %s: %v, want success %t\n%s", step.Name, objects, err, want, out)
			}
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "celadon.sarif")); ran != 3 || err != nil || info.Size() == 0 {
		t.Errorf("%d steps ran, the log: %v", ran, err)
	}
}

// TestAttackWorkflow holds of the workflow what a hostile tree would make use of:
// no expression stands in a script, no token in the tree, what is installed comes
// before the tree, actions are named by their commit, names are no flags, and the
// report is written outside.
func TestAttackWorkflow(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/ci-workflow.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(data, &w); err != nil {
		t.Fatal(err)
	}
	if job := w.Jobs["check"]; len(w.Permissions) > 0 || job.Permissions["contents"] != "read" || len(job.Permissions) != 2 {
		t.Errorf("permissions: %v, of the job %v", w.Permissions, job.Permissions)
	}
	checkedOut := false
	dir := tree(t, map[string]string{
		"m/a.yaml": goodCronTab + "unknown: field\n", "m/--validate=ignore": "", "outside": "", "m/celadon.sarif -> ../outside": "",
	})
	for i, step := range w.Jobs["check"].Steps {
		if strings.Contains(step.Run, "${{") {
			t.Errorf("step %d: an expression in a script: %s", i, step.Run)
		}
		if step.Uses != "" && !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(step.Uses) {
			t.Errorf("step %d: %s: want a commit", i, step.Uses)
		}
		if strings.Contains(step.Run, "install") && checkedOut {
			t.Errorf("step %d installs after the checkout", i)
		}
		if strings.HasPrefix(step.Uses, "actions/checkout@") {
			checkedOut = true
			if step.With["persist-credentials"] != false {
				t.Errorf("step %d: the token stays in the tree", i)
			}
		}
		if !strings.HasPrefix(step.Run, "celadon") {
			continue
		}
		cmd := exec.Command("bash", "-c", "cd m; "+step.Run)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "RUNNER_TEMP="+t.TempDir(), "CRD=../crds", "KUBE_VERSION=", "BASE=", "OBJECTS=*")
		out, err := cmd.CombinedOutput()
		if err == nil && step.Name == "annotate" {
			t.Errorf("step %d: a name is taken for a flag: %s", i, out)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "outside")); err != nil || info.Size() > 0 {
		t.Errorf("the report went through a link: %v", err)
	}
}

// TestHook holds the hook of pre-commit: it has no field but these, and what it
// runs checks what .celadon.yaml names.
func TestHook(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct {
		ID            string `json:"id"`
		Name          string `json:"name"`
		Description   string `json:"description"`
		Entry         string `json:"entry"`
		Language      string `json:"language"`
		Files         string `json:"files"`
		PassFilenames bool   `json:"pass_filenames"`
		RequireSerial bool   `json:"require_serial"`
	}
	if err := yaml.UnmarshalStrict(data, &hooks); err != nil || len(hooks) != 2 {
		t.Fatalf("%d hooks: %v", len(hooks), err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/crontab")); err != nil {
		t.Fatal(err)
	}
	settings := "check:\n  crd: crd.yaml\n  objects: objects\ntest:\n  suites: .\n"
	if err := os.WriteFile(filepath.Join(dir, config.Name), []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		code int
		text string
	}{{cli.Findings, "5 objects checked: 2 valid, 3 invalid"}, {cli.OK, "12 passed, 0 failed"}} {
		hook := hooks[i]
		for name, want := range map[string]bool{"a.yaml": true, "b/c.yml": true, "d.json": true, "e.go": false} {
			if regexp.MustCompile(hook.Files).MatchString(name) != want {
				t.Errorf("files %s: %s, want %t", hook.Files, name, want)
			}
		}
		cmd := exec.Command("bash", "-c", hook.Entry)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != want.code || !strings.Contains(string(out), want.text) {
			t.Errorf("%s: %v: %s", hook.ID, err, out)
		}
	}
}
