// Command scoreboard runs the conformance suite against several programs and writes docs/project/scoreboard.md:
//
//	make -C conformance scoreboard
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/celadon-cel/celadon/conformance/suite"
)

type program struct {
	name, about   string
	module, build string // the folder of the module, and the package
	minor         string
}

var programs = []program{
	{"Celadon", "package `engine` of this revision", ".", "./suite/celadon", "1.37"},
	{"apiextensions-apiserver v0.37.2", "the API server's library as embedders use it: defaults, then `NewSchemaValidator`, then `cel.NewValidator`", ".", "./scoreboard/library", "1.37"},
	{"kubectl-validate v0.0.4", "its library, with the CRD as `--local-crds`; it has the code of Kubernetes 1.30, and rejects all unknown fields", "scoreboard/kubectl-validate", ".", "1.30"},
	{"kubeconform v0.8.0", "its library, with schemas as its openapi2jsonschema.py makes them, and `-strict` for strict writes", ".", "./scoreboard/kubeconform", "1.37"},
}

func main() {
	page, err := run(context.Background())
	if err == nil {
		err = os.WriteFile("../docs/project/scoreboard.md", page, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scoreboard:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) ([]byte, error) {
	bin, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(bin)
	s, err := suite.Default()
	if err != nil {
		return nil, err
	}
	var reports []*suite.Report
	for _, p := range programs {
		file := filepath.Join(bin, strings.Fields(p.name)[0])
		build := exec.CommandContext(ctx, "go", "build", "-o", file, p.build)
		build.Dir = p.module
		if p.module != "." {
			build.Env = append(os.Environ(), "GOWORK=off")
		}
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", p.name, err, out)
		}
		report, err := s.Run(ctx, suite.Config{Command: []string{file}, Minors: []string{p.minor}, Timeout: time.Minute})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		reports = append(reports, report)
	}
	return page(s, reports), nil
}

const head = `# Scoreboard

The [conformance suite](conformance-suite.md) has %d writes of custom resources and the responses of API servers to
them. This page shows how many of them other programs and Celadon decide as the server does. It is written by
` + "`make -C conformance scoreboard`" + `, with adapters of at most 100 lines in ` + "`conformance/scoreboard`" + `.

Each program runs with the options that bring it closest to a server. A program is compared only on the writes that it
can express: only Celadon and the library take an old object. kubeconform ignores rules. The responses come from API servers, but the writes were made up for Celadon, which has seen them before.

## Programs

| Program | Kubernetes | How it is used |
|---|---|---|
`

func page(s *suite.Suite, reports []*suite.Report) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, head, len(s.Cases))
	for _, p := range programs {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p.name, p.minor, p.about)
	}
	b.WriteString("\n## Results\n\nRight verdicts of those compared. A cluster rejects the writes that are *wrongly accepted*. *Causes* compares fields and messages.\n\n" +
		"| Program | Verdicts | Wrongly accepted | Wrongly rejected | Causes | Not supported |\n|---|--:|--:|--:|--:|--:|\n")
	for i, p := range programs {
		v, c := reports[i].Score("", suite.LevelVerdict), reports[i].Score("", suite.LevelCauses)
		causes := "–"
		if c.Compared > 0 {
			causes = fmt.Sprintf("%d of %d", c.Right, c.Compared)
		}
		fmt.Fprintf(&b, "| %s | %d of %d | %d | %d | %s | %d |\n", p.name, v.Right, v.Compared,
			len(reports[i].Wrong(suite.LevelVerdict, suite.WronglyAccepted)), len(reports[i].Wrong(suite.LevelVerdict, suite.WronglyRejected)), causes, v.Unsupported)
	}
	b.WriteString("\n## Verdicts by topic\n\nRight verdicts of those compared, in percent; – if none is supported.\n\n| Topic |")
	for _, p := range programs {
		name, _, _ := strings.Cut(p.name, " ")
		b.WriteString(" " + name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(programs)) + "\n")
	for _, g := range s.Groups {
		b.WriteString("| " + g.Description + " |")
		for i := range programs {
			if v := reports[i].Score(g.Name, suite.LevelVerdict); v.Compared > 0 {
				fmt.Fprintf(&b, " %d |", 100*v.Right/v.Compared)
			} else {
				b.WriteString(" – |")
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("\n## Examples\n\nThe first wrong verdicts of each program, as IDs of cases in `conformance/suite/data/cases.jsonl`.\n\n| Program | Wrongly accepted | Wrongly rejected |\n|---|---|---|\n")
	for i, p := range programs {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p.name, examples(reports[i], suite.WronglyAccepted), examples(reports[i], suite.WronglyRejected))
	}
	return b.Bytes()
}

func examples(r *suite.Report, detail string) string {
	var list []string
	topics := map[string]bool{}
	for _, id := range r.Wrong(suite.LevelVerdict, detail) {
		topic, _, _ := strings.Cut(id, "/")
		if !topics[topic] && len(list) < 5 {
			list = append(list, "`"+id+"`")
		}
		topics[topic] = true
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
