package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/findingtest"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

func shardTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, script := range []string{"check_unbounded", "check_upgrade", "check_secrets", "check_strict"} {
		archive, err := txtar.ParseFile("testdata/script/" + script + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			plant(t, filepath.Join(dir, script), map[string]string{f.Name: string(f.Data)})
		}
	}
	crd, err := os.ReadFile(crontabCRD)
	if err != nil {
		t.Fatal(err)
	}
	var lines, list strings.Builder
	for i := range 60 {
		schedule := "0 3 * * *"
		if i%5 == 0 {
			schedule = "@daily"
		}
		fmt.Fprintf(&lines, crontab, i, schedule)
		if list.Len() > 0 {
			list.WriteString(",\n")
		}
		list.WriteString(strings.TrimSpace(fmt.Sprintf(crontab, i+40, schedule)))
	}
	plant(t, dir, map[string]string{
		"crd.yaml":             string(crd),
		"warns.yaml":           strings.Replace(string(crd), "    storage: true\n", "    storage: true\n    deprecated: true\n    selectableFields: [{jsonPath: .spec.image}]\n", 1),
		"spoilt.yaml":          strings.Replace(string(crd), "x-kubernetes-validations", "x-kubernetes-validation", 1),
		"m/a.jsonl.json":       lines.String() + "{\"apiVersion\": broken\n" + strings.Repeat(fmt.Sprintf(crontab, 7, "@daily"), 2),
		"m/half.json":          `{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"half"},"spec":{"a":tru}}` + "\n" + strings.TrimSuffix(fmt.Sprintf(crontab, 99, "@daily"), "}\n") + `,"kind":"Other"}`,
		"m/b.json":             `{"apiVersion":"v1","kind":"List","items":[` + list.String() + "]}",
		"m/c.yaml":             "a: b\n---\n" + goodCronTab + "sped: {}\n---\n" + goodCronTab + "spec: {}\n---\n- x\n---\napiVersion: example.org/v1\nkind: Gadget\nmetadata: {name: s}\n---\na: [\n",
		"m/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
		"m/t.yaml":             "apiVersion: {{ .Values.x }}\n---\nb: {{ .Values.y }}\n--- \nc: {{ d }}\n",
		"m/esc\x1b.yaml":       "apiVersion: stable.example.com/v1\nkind: CronTab\nmetadata: {name: \"a\\u202e\\e[31m\"}\nspec: {schedule: x, image: \"\\0\"}\n",
		"gone.yaml":            strings.Replace(goodCronTab, "nightly", "gone", 1) + "---\n- unreadable\n",
		"m/twice.yaml":         goodCronTab + "---\n" + goodCronTab,
	})
	return dir
}

func shardCases(dir string) map[string][]string {
	in := func(names ...string) []string {
		for i := range names {
			if !strings.HasPrefix(names[i], "-") {
				names[i] = filepath.Join(dir, names[i])
			}
		}
		return names
	}
	return map[string][]string{
		"all kinds":     append(in("--crd", "crd.yaml", "m"), "--strict-kinds", "--summary", "--persisted"),
		"warnings":      append(in("--crd", "warns.yaml", "m"), "--validate", "warn", "--field-selector", "metadata.namespace=default", "--persisted", "--source", "eu-1"),
		"a spoilt CRD":  in("--crd", "spoilt.yaml", "--old", "m/b.json", "--old", "m/c.yaml", "--old", "gone.yaml", "m"),
		"undecided":     append(in("--crd", "check_unbounded/crd.yaml", "check_unbounded/objects.yaml", "check_unbounded/both.yaml"), "--summary"),
		"an upgrade":    in("--crd", "check_upgrade/new.yaml", "--crd-old", "check_upgrade/old.yaml", "check_upgrade/objects.yaml"),
		"both of these": in("--crd", "check_unbounded/crd.yaml", "--crd-old", "check_unbounded/before.yaml", "check_unbounded/objects.yaml"),
		"strict":        in("--crd", "crd.yaml", "check_strict/object.yaml", "check_strict/duplicate.yaml", "check_strict/duplicate.json"),
		"secrets":       in("--crd", "check_secrets/crd.yaml", "check_secrets/objects.yaml", "check_secrets/list.json"),
		"no CRD":        in("--crd", "check_upgrade/new.yaml", "--no-vet", "m/twice.yaml"),
	}
}

func shardRun(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs}
	code = a.run(t.Context(), args)
	return out.String(), errs.String(), code
}

func shardReports(t *testing.T, of int, args []string) string {
	t.Helper()
	reports := t.TempDir()
	for i := range of {
		out := filepath.Join(reports, fmt.Sprintf("%03d.jsonl", of-i))
		stdout, stderr, code := shardRun(t, slices.Concat([]string{"check", "--no-config", "--shard", fmt.Sprintf("%d/%d", i, of), "-o", "jsonl", "--out", out}, args)...)
		if stdout != "" || code > command.Usage {
			t.Fatalf("shard %d/%d: exit code %d, %s%s", i, of, code, stdout, stderr)
		}
	}
	return reports
}

var shardFormats = [][]string{
	{"-o", "text"}, {"-o", "text", "--verbose"}, {"-o", "text", "--quiet"}, {"-o", "text", "--max-findings", "3"},
	{"-o", "json"}, {"-o", "json", "--verbose"}, {"-o", "jsonl"}, {"-o", "junit"}, {"-o", "sarif"}, {"-o", "github"}, {"-o", "yaml"},
}

func TestShardsMerged(t *testing.T) {
	t.Parallel()
	dir := shardTree(t)
	holdCases(t, dir)
	for name, args := range shardCases(dir) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			type answer struct {
				Out  string
				Code int
			}
			want := map[string]answer{}
			for _, format := range shardFormats {
				yaml, lines := format[1] == "yaml", format[1] == "jsonl"
				if yaml && !slices.Contains(args, "--persisted") || lines && slices.Contains(args, "--source") {
					continue // yaml needs objects, and jsonl with a source is itself a part
				}
				whole := args
				if !lines && format[1] != "json" {
					whole = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "--persisted" })
				}
				out, stderr, code := shardRun(t, slices.Concat([]string{"check", "--no-config"}, format, whole)...)
				if out == "" && !slices.Contains(format, "--quiet") {
					t.Fatalf("%v: %s", format, stderr)
				}
				want[strings.Join(format, " ")] = answer{out, code}
			}
			counts := []int{1, 7}
			if name == "all kinds" || name == "an upgrade" || level.Long() {
				counts = append(counts, 100)
			}
			for _, of := range counts {
				reports := shardReports(t, of, args)
				for format, want := range want {
					out, stderr, code := shardRun(t, slices.Concat([]string{"merge"}, strings.Fields(format), []string{reports})...)
					if diff := cmp.Diff(want, answer{out, code}); diff != "" {
						t.Fatalf("%d shards, %s: -one run +merged:\n%.4000s\n%s", of, format, diff, stderr)
					}
				}
			}
		})
	}
}

func holdCases(t *testing.T, dir string) {
	t.Helper()
	var all strings.Builder
	for _, args := range shardCases(dir) {
		args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "--persisted" })
		out, _, _ := shardRun(t, slices.Concat([]string{"check", "--no-config", "--verbose"}, args)...)
		all.WriteString(out)
	}
	for _, text := range []string{
		"Warning: ", "is valid (update", "undecided", "unreadable", "skipped: no CRD", "ignored: ", "not JSON", "a template: ", "without a new object",
		"silently changed", "duplicate key", "RUNS", "KIND", "CRD rejected", "(hidden)", "strict decoding error", "source: eu-1", "\\x1b", "unknown field",
	} {
		if !strings.Contains(all.String(), text) {
			t.Errorf("no case has %q", text)
		}
	}
}

func TestShardKilled(t *testing.T) {
	t.Parallel()
	reports := t.TempDir()
	out := filepath.Join(reports, "0.jsonl")
	args := []string{"check", "--no-config", "--no-vet", "--crd", crontabCRD, "--shard", "0/1", "--run", "a", "-o", "jsonl", "--out", out, "-"}
	var whole strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&whole, crontab, i, "@daily")
	}
	run := func(in io.Reader) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "celadon", args...)
		cmd.Stdin = in
		return cmd
	}
	_ = run(strings.NewReader(whole.String())).Run() // it has findings
	first := folder(t, reports)
	if len(first) != 1 || strings.Count(first["0.jsonl"], "\n") != 2002 {
		t.Fatalf("%d files: %.1000s", len(first), first["0.jsonl"])
	}
	in, feed := io.Pipe()
	defer feed.Close()
	cmd := run(in)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.WriteString(feed, whole.String()) // without EOF
	}()
	for left := ""; len(left) < 64<<10; { // wait until it has started to write
		for name, text := range folder(t, reports) {
			if name != "0.jsonl" {
				left = text
			}
		}
		if cmd.ProcessState != nil || t.Context().Err() != nil {
			t.Fatal("it ended")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	feed.Close()
	_ = cmd.Wait()
	killed := folder(t, reports)
	if len(killed) != 2 || killed["0.jsonl"] != first["0.jsonl"] {
		t.Errorf("killed: %d files, the same %t", len(killed), killed["0.jsonl"] == first["0.jsonl"])
	}
	if merged, _, code := shardRun(t, "merge", "-o", "jsonl", reports); code != command.Findings || strings.Count(merged, "\n") != 2001 {
		t.Errorf("merge with the reports of the killed run: exit code %d, %d lines", code, strings.Count(merged, "\n"))
	}
	_ = run(strings.NewReader(whole.String())).Run()
	if diff := cmp.Diff(first, folder(t, reports)); diff != "" {
		t.Errorf("run again: %s", diff)
	}
}

func TestShardAgain(t *testing.T) {
	t.Parallel()
	dir := shardTree(t)
	args := shardCases(dir)["all kinds"]
	reports := shardReports(t, 3, args)
	first := folder(t, reports)
	out := filepath.Join(reports, "002.jsonl")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}
	if code := a.run(ctx, slices.Concat([]string{"check", "--no-config", "--shard", "1/3", "-o", "jsonl", "--out", out}, args)); code != command.Interrupted {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	if diff := cmp.Diff(first, folder(t, reports)); diff != "" {
		t.Errorf("killed: %s", diff)
	}
	shardRun(t, slices.Concat([]string{"check", "--no-config", "--shard", "1/3", "-o", "jsonl", "--out", out}, args)...)
	if diff := cmp.Diff(first, folder(t, reports)); diff != "" {
		t.Errorf("run again: %s", diff)
	}
}

func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return files
}

func TestPartSchema(t *testing.T) {
	t.Parallel()
	const schema = "../../docs/check-report.schema.json"
	dir := shardTree(t)
	for name, args := range shardCases(dir) {
		reports := shardReports(t, 2, args)
		for _, text := range folder(t, reports) {
			for line := range strings.Lines(text) {
				findingtest.JSON(t, schema, "#/definitions/line", []byte(line))
			}
		}
		out, _, _ := shardRun(t, "merge", "-o", "json", "--source", "no-such", reports)
		if !strings.Contains(out, `"missing"`) {
			t.Errorf("%s: %s", name, out)
		}
		findingtest.JSON(t, schema, "", []byte(out))
	}
}
