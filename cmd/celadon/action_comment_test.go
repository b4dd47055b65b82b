package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// fakeGH is a gh that lists the comments in $COMMENTS, records its other calls in $CALLS, and keeps the body
// of a comment in $CALLS.body. If $COMMENTS is denied, it may not write.
const fakeGH = `#!/usr/bin/env bash
set -eu
case "$*" in
*--paginate*) [ "$COMMENTS" = denied ] || printf '%s' "$COMMENTS" ;;
*)
  [ "$COMMENTS" != denied ] || { echo "HTTP 403" >&2; exit 1; }
  echo "$*" >> "$CALLS"
  cp "${!##body=@}" "$CALLS.body" ;;
esac
`

type actionRun struct {
	scripts map[string]string
	dir     string
	temp    string
	env     []string
}

func newActionRun(t *testing.T, dir string, env ...string) *actionRun {
	t.Helper()
	temp := tree(t, map[string]string{"bin/gh": fakeGH, "celadon-reports/x": ""})
	if err := os.Chmod(filepath.Join(temp, "bin/gh"), 0o755); err != nil {
		t.Fatal(err)
	}
	env = append(env, "RUNNER_TEMP="+temp, "CALLS="+filepath.Join(temp, "calls"), "PATH="+filepath.Join(temp, "bin")+":"+os.Getenv("PATH"),
		"KUBE_VERSION=", "GITHUB_STEP_SUMMARY="+filepath.Join(temp, "summary"), "GITHUB_OUTPUT="+filepath.Join(temp, "output"), "GITHUB_REPOSITORY=a/b", "GITHUB_JOB=celadon", "PULL_REQUEST=7")
	return &actionRun{scripts: readAction(t), dir: dir, temp: temp, env: env}
}

func (r *actionRun) step(t *testing.T, name string, env ...string) (string, error) {
	t.Helper()
	return actionStep(t, r.dir, r.scripts[name], append(r.env, env...)...)
}

func (r *actionRun) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.temp, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

func TestActionVetsAndTests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step string
		env  []string
		want string // in the output; "" for success
	}{
		{"vet", []string{"CRD=examples/crontab/crd.yaml"}, ""},
		{"vet", []string{"CRD=examples/costly"}, "::error file=examples/costly/crd.yaml"},
		{"vet", []string{"CRD=--fix"}, "::error"},
		{"vet", []string{"CRD="}, "::error::celadon: vet without the input crd"},
		{"test", []string{"CRD=examples/crontab/crd.yaml", "SUITES=examples/crontab/tests\n"}, ""},
		{"test", []string{"CRD=", "SUITES=examples/crontab"}, ""},
		{"test", []string{"CRD=examples/crontab/crd.yaml", "SUITES=--update"}, "--update"},
		{"diff", []string{"CRD=", "BASE=HEAD"}, "::error::celadon: diff without the input crd"},
	} {
		r := newActionRun(t, "../..")
		out, err := r.step(t, c.step, c.env...)
		if (err == nil) != (c.want == "") || !strings.Contains(out, c.want) {
			t.Errorf("%s %q: %v: %s", c.step, c.env, err, out)
		}
		ran := !strings.Contains(c.want, "without")
		if output := r.read(t, "output"); strings.HasPrefix(output, "code=") != ran {
			t.Errorf("%s %q: the output: %q", c.step, c.env, output)
		}
		if summary := r.read(t, "summary"); strings.HasPrefix(summary, "### celadon "+c.step+"\n") != ran {
			t.Errorf("%s %q: the summary: %s", c.step, c.env, summary)
		}
	}
}

func TestActionDiffs(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{"crontab": "", "crontab-next": "::error file=crd.yaml"} {
		dir := t.TempDir()
		for _, example := range []string{"crontab", next} {
			crd, err := os.ReadFile("../../examples/" + example + "/crd.yaml")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "crd.yaml"), crd, 0o644); err != nil {
				t.Fatal(err)
			}
			if example != "crontab" {
				break
			}
			script := "git init -q; git add .; git -c user.name=a -c user.email=a@example.com commit -qm base || true"
			if out, err := actionStep(t, dir, script); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		r := newActionRun(t, dir, "CRD=crd.yaml", "BASE=HEAD")
		out, err := r.step(t, "diff")
		if (err == nil) != (want == "") || !strings.Contains(out, want) {
			t.Errorf("%s: %v: %s", next, err, out)
		}
		if report := r.read(t, "celadon-reports/diff.md"); !strings.HasPrefix(report, "## CRD changes: ") {
			t.Errorf("%s: the report: %s", next, report)
		}
	}
}

func TestActionComments(t *testing.T) {
	t.Parallel()
	const marker = "<!-- celadon celadon -->\n"
	for _, c := range []struct{ objects, comments, call, body string }{
		{"bad", "", "api --silent --method POST repos/a/b/issues/7/comments --field body=@", "**celadon check**: failed\n\n### celadon check\n\n- **error** `examples/crontab/objects/bad.yaml:"},
		{"bad", "41\n52\n", "api --silent --method PATCH repos/a/b/issues/comments/41 --field body=@", "**celadon check**: failed"},
		{"good", "41\n", "api --silent --method PATCH repos/a/b/issues/comments/41 --field body=@", "**celadon check**: passed\n\n### celadon check\n\n\n    2 objects checked: 2 valid, 0 invalid\n"},
		{"good", "", "", ""},
	} {
		r := newActionRun(t, "../..", "CRD=examples/crontab/crd.yaml", "BASE=", "HEAD_REPOSITORY=a/b", "COMMENTS="+c.comments)
		if out, err := r.step(t, "check", "OBJECTS=examples/crontab/objects/"+c.objects+".yaml"); (err == nil) != (c.objects == "good") {
			t.Errorf("%+v: check: %v: %s", c, err, out)
		}
		if out, err := r.step(t, "comment"); err != nil {
			t.Errorf("%+v: %v: %s", c, err, out)
		}
		calls, body := r.read(t, "calls"), r.read(t, "calls.body")
		if !strings.HasPrefix(calls, c.call) || strings.Count(calls, "\n") != min(1, len(c.call)) || !strings.Contains(body, c.body) || body != "" && !strings.HasPrefix(body, marker) {
			t.Errorf("%+v: called %q with\n%s", c, calls, body)
		}
	}
}

func TestActionCommentsDenied(t *testing.T) {
	t.Parallel()
	r := newActionRun(t, "../..", "CRD=examples/crontab/crd.yaml", "BASE=", "OBJECTS=examples/crontab/objects")
	if _, err := r.step(t, "check"); err == nil {
		t.Error("the check succeeds")
	}
	out, err := r.step(t, "comment", "HEAD_REPOSITORY=evil/b", "COMMENTS=")
	if calls := r.read(t, "calls"); err != nil || calls != "" || !strings.Contains(out, "fork") {
		t.Errorf("a fork: %v: %s: called %s", err, out, calls)
	}
	out, err = r.step(t, "comment", "HEAD_REPOSITORY=a/b", "COMMENTS=denied")
	if err == nil || !strings.Contains(out, "give the job the permission pull-requests: write") {
		t.Errorf("denied: %v: %s", err, out)
	}
}

func TestActionCommentFilter(t *testing.T) {
	t.Parallel()
	jq, err := exec.LookPath("jq")
	if err != nil {
		t.Skip("jq is not installed")
	}
	_, filter, _ := strings.Cut(readAction(t)["comment"], "--jq '")
	filter, _, _ = strings.Cut(filter, "'")
	cmd := exec.Command(jq, filter)
	cmd.Env = append(os.Environ(), "MARKER=<!-- celadon j -->")
	var comments []string
	for i, c := range [][2]string{{"someone", "<!-- celadon j -->"}, {"github-actions[bot]", "x <!-- celadon j -->"}, {"github-actions[bot]", "<!-- celadon j -->\\nold"}} {
		comments = append(comments, fmt.Sprintf(`{"id":%d,"user":{"login":"%s"},"body":"%s"}`, i, c[0], c[1]))
	}
	cmd.Stdin = strings.NewReader("[" + strings.Join(comments, ",") + "]")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "2\n" {
		t.Errorf("%v: %s", err, out)
	}
}

func TestActionPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(data, &a); err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, block := range strings.Split(string(page), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		var example struct {
			Steps []struct {
				Uses string         `json:"uses"`
				With map[string]any `json:"with"`
			} `json:"steps"`
		}
		if err := yaml.Unmarshal([]byte(block), &example); err != nil {
			continue // a part of an example
		}
		for _, step := range example.Steps {
			if !strings.HasPrefix(step.Uses, "celadon-cel/celadon@") {
				continue
			}
			for input := range step.With {
				used++
				if _, ok := a.Inputs[input]; !ok {
					t.Errorf("docs/ci.md: the action has no input %s", input)
				}
			}
		}
	}
	if used < 8 {
		t.Errorf("docs/ci.md uses %d inputs, want at least 8", used)
	}
}
