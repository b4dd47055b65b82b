package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

func BenchmarkStart(b *testing.B) {
	command, in := celadon(b), newInput(b)
	version := often(command, "version")
	const row, one = "version", "check of one object"
	bench(b, row, single, ours, version)
	bench(b, row, single, "a Go program that does nothing", func(b *testing.B) {
		often(emptyProgram(b))(b)
	})
	bench(b, one, single, ours, often(command, "check", "--crd", in.Routes.CRD, written(b)(in.Routes.Lines(1))))
	bench(b, one, single, "celadon version", version)
	bench(b, "size of the stripped command", single, ours, func(b *testing.B) {
		info, err := os.Stat(command)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/1e6, "MB")
		b.ReportMetric(0, "ns/op") // is not shown
	})
}

func often(args ...string) func(b *testing.B) {
	const times = 10
	return inSequence(slices.Repeat([]run{{args: args, per: times}}, times)...)
}

func written(b *testing.B) func(path string, err error) string {
	return func(path string, err error) string {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
		return path
	}
}

func emptyProgram(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", "empty", "main.go")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "empty")
}

// The peers of celadon check decode the same file in this process, and discard the objects.
func BenchmarkCheck(b *testing.B) {
	command, in, n := celadon(b), newInput(b), manyLines(b)
	check := func(k *Kind, path string, per int) run {
		return run{args: []string{command, "check", "--crd", k.CRD, path}, per: per}
	}
	for _, k := range []*Kind{in.Routes, in.Pools} {
		row, path := k.Name+", JSON lines, for each object", written(b)(k.Lines(n))
		bench(b, row, single, ours, check(k, path, n).bench)
		for _, decoder := range []string{"jsontext", "sigs.k8s.io/json"} {
			bench(b, row, single, "decoding with "+decoder, decoding(decoder, path, n))
		}
	}
	k := in.Routes
	stream, files := written(b)(k.Stream(n/5)), written(b)(k.Files(manyFiles))
	row := k.Name + ", YAML stream, for each object"
	bench(b, row, single, ours, check(k, stream, n/5).bench)
	bench(b, row, single, "decoding with yaml", decoding("yaml", stream, n/5))
	row = fmt.Sprintf("%s, %d files", k.Name, manyFiles)
	bench(b, row, single, ours, check(k, files, 1).bench)
	bench(b, row, single, "decoding with yaml", decoding("yaml", files, 1))
	memory := check(k, written(b)(k.Lines(2*n)), 1)
	memory.peak = true
	bench(b, fmt.Sprintf("%s, %d JSON lines, peak memory", k.Name, 2*n), single, ours, memory.bench)
	wall := check(k, written(b)(k.Lines(n)), 1)
	wall.wall = true
	bench(b, fmt.Sprintf("%s, %d JSON lines, run time", k.Name, n), single, ours, wall.bench)
}

const (
	manyFiles = 1000
	validator = "kubectl-validate"
)

// BenchmarkOnceCheck first checks that both programs reject the same files.
func BenchmarkOnceCheck(b *testing.B) {
	command, in := celadon(b), newInput(b)
	other, err := exec.LookPath(validator)
	if err != nil {
		b.Skipf("%s is not in PATH; get it with: go install sigs.k8s.io/kubectl-validate@v0.0.4", validator)
	}
	k := in.Routes
	files, row := written(b)(k.Files(manyFiles)), fmt.Sprintf("%s, %d files, once", k.Name, manyFiles)
	if err := sameVerdicts(command, other, k, files); err != nil {
		b.Fatal(err)
	}
	bench(b, row, single, ours, run{args: []string{command, "check", "--crd", k.CRD, files}}.bench)
	bench(b, row, single, validator, run{args: []string{other, "--local-crds", k.folder(), files}}.bench)
}

func sameVerdicts(celadon, other string, k *Kind, files string) error {
	var report struct {
		Objects []struct{ File, Verdict string }
	}
	var statuses map[string][]metav1.Status
	err := errors.Join(runJSON(&report, celadon, "check", "--crd", k.CRD, "-o", "json", files),
		runJSON(&statuses, other, "--local-crds", k.folder(), "-o", "json", files))
	if err != nil {
		return err
	}
	rejected, different := 0, 0
	for _, o := range report.Objects {
		theirs, found := statuses[o.File]
		failed := false
		for _, s := range theirs {
			failed = failed || s.Status != metav1.StatusSuccess
		}
		if o.Verdict != "valid" {
			rejected++
		}
		if !found || failed != (o.Verdict != "valid") {
			different++
		}
	}
	want := (len(report.Objects) + rejectedIn - 1) / rejectedIn
	if different > 0 || len(report.Objects) != len(statuses) || rejected != want {
		return fmt.Errorf("%d verdicts differ, of %d and %d files; %d were rejected, want %d",
			different, len(report.Objects), len(statuses), rejected, want)
	}
	return nil
}

// Exit code 1 means that objects were rejected and is not an error.
func runJSON(to any, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = json.Unmarshal(out, to)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
}

func BenchmarkFind(b *testing.B) {
	command, in := celadon(b), newInput(b)
	const row = "the CRD with the most rules"
	bench(b, row, single, ours, findRun(command, in.MostRules).bench)
	bench(b, row, single, "celadon vet", run{args: []string{command, "vet", in.MostRules}}.bench)
}

// The exit code is 2 if the work budget does not suffice for all rules.
func findRun(command, crd string) run {
	return run{args: []string{command, "find", "--want", "refused", "--crd", crd}, maxExit: 2}
}

func BenchmarkOnceFind(b *testing.B) {
	command, in := celadon(b), newInput(b)
	var finds, vets []run
	for _, crd := range in.CRDs {
		finds, vets = append(finds, findRun(command, crd)), append(vets, run{args: []string{command, "vet", crd}})
	}
	row := fmt.Sprintf("all %d CRDs", len(in.CRDs))
	bench(b, row, single, ours, inSequence(finds...))
	bench(b, row, single, "celadon vet", inSequence(vets...))
}

// The decoders reject duplicate keys.
func decoding(decoder, root string, per int) func(b *testing.B) {
	return func(b *testing.B) {
		loop(func() {
			err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				return decodeFile(decoder, path)
			})
			if err != nil {
				b.Fatal(err)
			}
		}, nil, per)(b)
	}
}

func decodeFile(decoder, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if decoder == "yaml" {
		return decodeYAML(f)
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 1<<16), 1<<20)
	for lines.Scan() {
		if err := decodeJSON[decoder](lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}

func decodeYAML(r io.Reader) error {
	documents := yamlstream.NewYAMLReader(bufio.NewReader(r))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var object map[string]any
		if err := yaml.UnmarshalStrict(bytes.TrimPrefix(text, []byte("---\n")), &object); err != nil {
			return err
		}
	}
}

var decodeJSON = map[string]func([]byte) error{
	"sigs.k8s.io/json": func(line []byte) error {
		var object map[string]any
		duplicates, err := kjson.UnmarshalStrict(line, &object)
		return errors.Join(append(duplicates, err)...)
	},
	"jsontext": func(line []byte) error {
		var object map[string]any
		return jsonv2.Unmarshal(line, &object)
	},
}
