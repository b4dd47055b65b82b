package celadon_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// In YAML 1.2, which GitHub and this package read, "on" is a string.
type workflowFile struct {
	On          map[string]any    `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Concurrency map[string]any    `yaml:"concurrency"`
	Jobs        map[string]struct {
		TimeoutMinutes int               `yaml:"timeout-minutes"`
		Permissions    map[string]string `yaml:"permissions"`
		Steps          []struct {
			Name string         `yaml:"name"`
			Uses string         `yaml:"uses"`
			Run  string         `yaml:"run"`
			With map[string]any `yaml:"with"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// writes lists the jobs that may write, and the permissions that they have for it.
var writes = map[string][]string{
	"release.yml/release":     {"attestations", "contents", "id-token"},
	"site.yml/deploy":         {"id-token", "pages"},
	"scorecard.yml/scorecard": {"id-token", "security-events"},
}

func readWorkflows(t *testing.T) (files map[string]*workflowFile, texts map[string]string) {
	t.Helper()
	names, err := filepath.Glob(".github/workflows/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	files, texts = map[string]*workflowFile{}, map[string]string{}
	for _, path := range names {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		texts[name] = string(data)
		w := &workflowFile{}
		if err := yaml.Unmarshal(data, w); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		files[name] = w
	}
	return files, texts
}

func TestWorkflowPins(t *testing.T) {
	t.Parallel()
	pin := regexp.MustCompile(`^[\w.-]+(?:/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	commits := map[string]string{}
	for _, glob := range []string{".github/workflows/*", "docs/*.yaml"} {
		names, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(data)) {
				use, found := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(line), "- "), "uses: ")
				if !found {
					continue
				}
				if !pin.MatchString(use) {
					t.Errorf("%s: %s: want owner/name@COMMIT # vX.Y.Z", name, use)
				}
				action, commit, _ := strings.Cut(use, "@")
				if known := commits[action]; known != "" && known != commit {
					t.Errorf("%s: %s at %s: another workflow uses %s", name, action, commit, known)
				}
				commits[action] = commit
			}
		}
	}
	if len(commits) < 5 {
		t.Errorf("found %d actions, want at least 5", len(commits))
	}
}

func TestWorkflowPermissions(t *testing.T) {
	t.Parallel()
	files, texts := readWorkflows(t)
	writing := map[string]bool{}
	for name, w := range files {
		if !strings.Contains(texts[name], "\npermissions: {}\n") {
			t.Errorf("%s: want permissions: {} at the top", name)
		}
		for id, job := range w.Jobs {
			var write []string
			for scope, access := range job.Permissions {
				switch access {
				case "read":
				case "write":
					write = append(write, scope)
				default:
					t.Errorf("%s: job %s: permission %s: %s", name, id, scope, access)
				}
			}
			slices.Sort(write)
			if want := writes[name+"/"+id]; !slices.Equal(write, want) || len(job.Permissions) == 0 {
				t.Errorf("%s: job %s may write %q, want %q", name, id, write, want)
			}
			writing[name+"/"+id] = len(write) > 0
		}
	}
	for job := range writes {
		if !writing[job] {
			t.Errorf("%s: no such job", job)
		}
	}
}

// The code of a pull request must run without secrets and without permission to write.
func TestWorkflowTriggers(t *testing.T) {
	t.Parallel()
	allowed := []string{"branch_protection_rule", "pull_request", "push", "schedule", "workflow_dispatch"}
	files, texts := readWorkflows(t)
	for name, w := range files {
		for _, event := range slices.Sorted(maps.Keys(w.On)) {
			if !slices.Contains(allowed, event) {
				t.Errorf("%s: trigger %s: want one of %v", name, event, allowed)
			}
		}
		if strings.Contains(texts[name], "secrets.") || strings.Contains(texts[name], "secrets:") {
			t.Errorf("%s uses a secret: want github.token, with the permissions of the job", name)
		}
		if _, untrusted := w.On["pull_request"]; !untrusted {
			continue
		}
		if strings.Contains(texts[name], "github.token") {
			t.Errorf("%s gives a token to the code of a pull request", name)
		}
		for id := range w.Jobs {
			if writes[name+"/"+id] != nil {
				t.Errorf("%s: job %s runs code of pull requests and may write", name, id)
			}
		}
	}
}

func TestWorkflowSteps(t *testing.T) {
	t.Parallel()
	files, _ := readWorkflows(t)
	for name, w := range files {
		if w.Concurrency["group"] == nil {
			t.Errorf("%s: no concurrency group", name)
		}
		for id, job := range w.Jobs {
			if job.TimeoutMinutes == 0 {
				t.Errorf("%s: job %s: no timeout-minutes", name, id)
			}
			for i, step := range job.Steps {
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s: job %s: step %d: an expression in a script: pass it in env", name, id, i)
				}
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
					t.Errorf("%s: job %s: step %d: want persist-credentials: false", name, id, i)
				}
			}
		}
	}
}

func TestSignOff(t *testing.T) {
	t.Parallel()
	files, _ := readWorkflows(t)
	script := ""
	for _, step := range files["ci.yml"].Jobs["sign-off"].Steps {
		script += step.Run
	}
	dir := t.TempDir()
	run := func(name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "BASE=main", "HEAD=change")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	commit := func(author, message string) {
		t.Helper()
		if out, err := run("git", "-c", "user.name=c", "-c", "user.email=c@example.com", "commit", "--quiet", "--allow-empty", "--author", author, "-m", message); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if out, err := run("git", "init", "--quiet", "--initial-branch=main"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	commit("a <a@example.com>", "before the rule")
	if out, err := run("git", "checkout", "--quiet", "-b", "change"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	commit("a <a@example.com>", "fix\n\nSigned-off-by: a <A@example.com>")
	if out, err := run("bash", "-e", "-c", script); err != nil {
		t.Errorf("a commit with a sign-off: %v: %s", err, out)
	}
	for _, message := range []string{"none", "other\n\nSigned-off-by: b <b@example.com>", "Signed-off-by: a <a@example.com>\n\nnot a trailer"} {
		commit("a <a@example.com>", message)
		if out, err := run("bash", "-e", "-c", script); err == nil || !strings.Contains(out, "git rebase --signoff") {
			t.Errorf("%q: %v: %s", message, err, out)
		}
		if out, err := run("git", "reset", "--quiet", "--hard", "HEAD~1"); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}
