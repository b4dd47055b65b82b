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

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
)

type workflow struct {
	Name string `json:"name"`
	On   struct {
		Call struct {
			Inputs map[string]struct {
				Description string  `json:"description"`
				Type        string  `json:"type"`
				Required    bool    `json:"required"`
				Default     *string `json:"default"`
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

// workflows maps each workflow file of docs to the permissions of its job and to the steps
// that check files.
var workflows = map[string]struct {
	permissions map[string]string
	checks      []string
}{
	"ci-workflow.yaml":      {map[string]string{"contents": "read"}, []string{"annotate", "test"}},
	"ci-code-scanning.yaml": {map[string]string{"contents": "read", "security-events": "write"}, []string{"report"}},
}

func readWorkflow(t *testing.T, name string) *workflow {
	t.Helper()
	data, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	w := &workflow{}
	// "on" is true in YAML 1.1, but not for GitHub.
	if err := yaml.UnmarshalStrict([]byte(strings.Replace(string(data), "\non:\n", "\n\"on\":\n", 1)), w); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	used := map[string]bool{}
	for _, match := range workflowInput.FindAllStringSubmatch(string(data), -1) {
		used[match[1]] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(w.On.Call.Inputs)), slices.Sorted(maps.Keys(used))); diff != "" {
		t.Errorf("%s: inputs (-declared +used):\n%s", name, diff)
	}
	return w
}

func (w *workflow) steps(t *testing.T, names []string) (steps []workflowStep) {
	t.Helper()
	for _, step := range w.Jobs["check"].Steps {
		if slices.Contains(names, step.Name) {
			steps = append(steps, step)
		}
	}
	if len(steps) != len(names) {
		t.Fatalf("%d steps are called %v", len(steps), names)
	}
	return steps
}

func (s workflowStep) run(dir string, env ...string) (string, error) {
	cmd := exec.Command("bash", "-e", "-c", s.Run)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestWorkflow(t *testing.T) {
	t.Parallel()
	const good = "examples/crontab/objects/good.yaml"
	for name, want := range workflows {
		w := readWorkflow(t, name)
		for _, step := range w.steps(t, want.checks) {
			temp := t.TempDir()
			for objects, valid := range map[string]bool{good: true, "\n" + good + "\n" + good + "\n": true, "examples/crontab/objects": false} {
				valid = valid || step.Name == "report"
				suites := strings.ReplaceAll(objects, "objects/good.yaml", "tests")
				out, err := step.run("../..", "RUNNER_TEMP="+temp, "CRD=examples/crontab/crd.yaml", "KUBE_VERSION=1.33", "BASE=", "OBJECTS="+objects, "SUITES="+suites)
				if (err == nil) != valid {
					t.Errorf("%s: %s of %q: %v, want success %t\n%s", name, step.Name, objects, err, valid, out)
				}
			}
			if step.Name != "report" {
				continue
			}
			if info, err := os.Stat(filepath.Join(temp, "celadon.sarif")); err != nil || info.Size() == 0 {
				t.Errorf("%s: the report: %v", name, err)
			}
			if out, err := step.run("../..", "RUNNER_TEMP="+temp, "CRD=examples/crontab/crd.yaml", "KUBE_VERSION=", "BASE=", "OBJECTS=none"); err == nil {
				t.Errorf("%s: the step succeeds for objects that are not there: %s", name, out)
			}
		}
	}
}

// TestAttackWorkflow checks the properties of the workflows that keep a hostile tree from using them.
func TestAttackWorkflow(t *testing.T) {
	t.Parallel()
	commit := regexp.MustCompile(`@[0-9a-f]{40}$`)
	for name, want := range workflows {
		w := readWorkflow(t, name)
		job := w.Jobs["check"]
		if diff := cmp.Diff(want.permissions, job.Permissions); diff != "" || len(w.Permissions) > 0 || len(w.Jobs) != 1 {
			t.Errorf("%s: %d jobs, permissions %v, of the job (-want +got):\n%s", name, len(w.Jobs), w.Permissions, diff)
		}
		if v := w.On.Call.Inputs["celadon-version"].Default; v == nil || !regexp.MustCompile(`^v\d+\.\d+\.\d+$`).MatchString(*v) {
			t.Errorf("%s: the default of celadon-version is not a version", name)
		}
		checkedOut := false
		for i, step := range job.Steps {
			if list := unquoted(step.Run); len(list) > 0 || strings.Contains(step.Run, "${{") {
				t.Errorf("%s: step %d contains an expression, or expands without quotes: %q\n%s", name, i, list, step.Run)
			}
			if step.Uses != "" && !commit.MatchString(step.Uses) {
				t.Errorf("%s: step %d: %s: want a commit", name, i, step.Uses)
			}
			if strings.Contains(step.Run, "install") && checkedOut {
				t.Errorf("%s: step %d installs after the checkout", name, i)
			}
			if strings.HasPrefix(step.Uses, "actions/checkout@") {
				checkedOut = true
				if step.With["persist-credentials"] != false {
					t.Errorf("%s: step %d: the token stays in the tree", name, i)
				}
			}
		}
		dir := tree(t, map[string]string{
			"m/--validate=ignore": goodCronTab + "unknown: field\n", "outside": "", "m/celadon.sarif -> ../outside": "",
		})
		for _, step := range w.steps(t, want.checks) {
			out, err := step.run(filepath.Join(dir, "m"), "RUNNER_TEMP="+t.TempDir(), "CRD=../crds", "KUBE_VERSION=", "BASE=", "OBJECTS=--validate=ignore")
			if step.Name == "annotate" && (err == nil || !strings.Contains(out, "::error")) {
				t.Errorf("%s: a name is parsed as a flag: %v: %s", name, err, out)
			}
		}
		if info, err := os.Stat(filepath.Join(dir, "outside")); err != nil || info.Size() > 0 {
			t.Errorf("%s: the report went through a link: %v", name, err)
		}
	}
}

// unquoted returns the expansions of a Bash script that are not in double quotes, where
// Bash splits a value into words and expands patterns in it. It understands quotes and
// backslashes, but no expansion with quotes in it.
func unquoted(script string) (list []string) {
	expansion := regexp.MustCompile(`^\$[A-Za-z0-9_{(@*]\w*`)
	quote := byte(0)
	for i := 0; i < len(script); i++ {
		switch c := script[i]; {
		case c == '\\' && quote != '\'':
			i++
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == '$' && quote == 0:
			if found := expansion.FindString(script[i:]); found != "" {
				list = append(list, found)
			}
		}
	}
	return list
}

func TestUnquoted(t *testing.T) {
	t.Parallel()
	for script, want := range map[string][]string{
		`a "$B" "x ${C:0} y"`:                nil,
		`a $B`:                               {"$B"},
		`a "$B"$C'$D'`:                       {"$C"},
		`a ${B:+--b "$B"} $(c) $@`:           {"${B", "$(c", "$@"},
		`[[ "$A" =~ ^v[0-9]+$ ]] \$A "\"$A"`: nil,
	} {
		if got := unquoted(script); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", script, got, want)
		}
	}
}

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
		// AdditionalDependencies are packages that pre-commit installs in addition to ./..., which
		// does not include the command's module.
		AdditionalDependencies []string `json:"additional_dependencies"`
	}
	if err := yaml.UnmarshalStrict(data, &hooks); err != nil || len(hooks) != 5 {
		t.Fatalf("%d hooks: %v", len(hooks), err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/crontab")); err != nil {
		t.Fatal(err)
	}
	settings := "check:\n  crd: crd.yaml\n  objects: objects\ntest:\n  suites: .\nvet:\n  crds: crd.yaml\n"
	if err := os.WriteFile(filepath.Join(dir, config.Name), []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		code int
		text string
	}{{command.Findings, "5 objects checked: 2 valid, 3 invalid"}, {command.OK, "12 passed, 0 failed"}, {command.OK, "1 CRD"}, {command.Findings, "3 invalid"}, {command.OK, "1 CRD"}} {
		hook := hooks[i]
		if built := hook.Language == "golang"; built != slices.Equal(hook.AdditionalDependencies, []string{"./cmd/celadon"}) || built == strings.HasSuffix(hook.ID, "-system") {
			t.Errorf("%s: pre-commit installs %q", hook.ID, hook.AdditionalDependencies)
		}
		for name, want := range map[string]bool{"a.yaml": true, "b/c.yml": true, "d.json": true, "e.go": strings.Contains(hook.ID, "vet"), "f.md": false} {
			if regexp.MustCompile(hook.Files).MatchString(name) != want {
				t.Errorf("files %s: %s, want %t", hook.Files, name, want)
			}
		}
		if list := unquoted(hook.Entry); len(list) > 0 {
			t.Errorf("%s expands without quotes: %q", hook.ID, list)
		}
		cmd := exec.Command("bash", "-c", hook.Entry)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != want.code || !strings.Contains(string(out), want.text) {
			t.Errorf("%s: %v: %s", hook.ID, err, out)
		}
	}
}
