package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/celadon-cel/celadon/conformance/peers/command"
)

// processes measures whole runs of celadon.
type processes struct {
	in                    *command.Input
	dir                   string
	celadon, floor, other string // paths of programs; other is kubectl-validate, if it is installed
	turns                 int
	million               bool
}

// Numbers of objects. A million objects are measured with less, unless a flag requires all.
const (
	manyLines  = 100_000
	manyFiles  = 1000
	manyInHeap = 200_000
	million    = 1_000_000
)

func newProcesses(dir string, o options) (*processes, error) {
	p := &processes{dir: dir, celadon: filepath.Join(dir, "celadon"), floor: filepath.Join(dir, "floor"), turns: o.turns, million: o.million}
	for _, b := range []struct{ to, module, pkg string }{
		{p.celadon, "github.com/celadon-cel/celadon/cmd/celadon", "."},
		{p.floor, "github.com/celadon-cel/celadon/conformance", "./peers/floor"},
	} {
		module, err := command.ModuleDir(b.module)
		if err != nil {
			return nil, err
		}
		if err := command.Build(b.to, module, b.pkg); err != nil {
			return nil, err
		}
	}
	p.other = command.FindPeer(o.peer)
	var err error
	p.in, err = command.NewInput(dir, filepath.SplitList(os.Getenv("CELADON_CORPUS")))
	return p, err
}

// floorWith returns a program that decodes a row's input. It collects garbage as seldom as celadon check.
func (p *processes) floorWith(decoder string, r *command.Row) command.Program {
	return command.Program{Name: "decoding with " + decoder, Args: []string{p.floor, decoder, r.Input}, Env: []string{"GOGC=200"}}
}

// printRow measures a row together with its peers, and returns the usage of celadon and of each peer.
func (p *processes) printRow(out io.Writer, r command.Row, peers ...command.Program) ([]command.Usage, error) {
	used, err := command.Measure(append([]command.Program{r.Program(p.celadon)}, peers...), p.turns)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	ours := r.Figure(used[0])
	if len(peers) == 0 {
		fmt.Fprintf(out, rowFormat, r.Name, "", "", figure(ours, r.Unit), "")
	}
	name := r.Name
	for i, peer := range peers {
		theirs := r.Figure(used[i+1])
		fmt.Fprintf(out, rowFormat, name, ratio(ours/theirs), peer.Name, figure(ours, r.Unit), figure(theirs, r.Unit))
		name = ""
	}
	return used, nil
}

const rowFormat = "%-48s %7s  %-31s %9s %9s\n"

func printRowHeading(out io.Writer, title string) {
	fmt.Fprintf(out, rowFormat, title, "ratio", "compared with", "celadon", "other")
}

// ratio formats Celadon's usage as a multiple of another program's, as "2.05" or "1/15".
func ratio(of float64) string {
	if of < 0.2 {
		return fmt.Sprintf("1/%.0f", 1/of)
	}
	return fmt.Sprintf("%.2f", of)
}

func figure(value float64, unit string) string {
	digits := 2
	if value >= 10 {
		digits = 1
	}
	if value >= 100 {
		digits = 0
	}
	return fmt.Sprintf("%.*f %s", digits, value, unit)
}

// printCheck measures celadon check on many objects.
func (p *processes) printCheck(out io.Writer) error {
	size := command.Sizes{Lines: manyLines, Files: manyFiles, Memory: manyInHeap, Wall: manyLines}
	if p.million {
		size.Wall = million
	}
	rows, err := p.in.CheckRows(size)
	if err != nil {
		return err
	}
	printRowHeading(out, "celadon check")
	for _, r := range rows {
		peers, err := p.peersOf(r)
		if err != nil {
			return err
		}
		used, err := p.printRow(out, r, peers...)
		if err != nil {
			return err
		}
		if r.Unit == "s" && filepath.Base(r.Input) == fmt.Sprintf("%d.jsonl", manyLines) {
			fmt.Fprintf(out, rowFormat, "  the same for 1,000,000, if ten times as long", "", "", figure(r.Figure(used[0])*million/manyLines, r.Unit), "")
		}
	}
	return nil
}

// peersOf returns the programs that a row of check is compared with.
func (p *processes) peersOf(r command.Row) ([]command.Program, error) {
	switch {
	case filepath.Ext(r.Input) == ".yaml":
		return []command.Program{p.floorWith("yaml", &r)}, nil
	case filepath.Ext(r.Input) == "":
		peers := []command.Program{p.floorWith("yaml", &r)}
		if p.other == "" {
			return peers, nil
		}
		if err := command.SameVerdicts(p.celadon, p.other, p.in.Routes, r.Input); err != nil {
			return nil, err
		}
		return append(peers, command.KubectlValidate(p.other, p.in.Routes, r.Input)), nil
	case r.Unit == "µs":
		return []command.Program{p.floorWith("jsonvalue", &r), p.floorWith("jsontext", &r), p.floorWith("sigs.k8s.io/json", &r)}, nil
	}
	return nil, nil
}

// printStart measures short runs, and the size of the command.
func (p *processes) printStart(out io.Writer) error {
	rows, err := p.in.StartRows()
	if err != nil {
		return err
	}
	printRowHeading(out, "start")
	empty := command.Program{Name: "a Go program that does nothing", Args: []string{p.floor}, Repeat: rows[0].Repeat}
	if _, err := p.printRow(out, rows[0], empty); err != nil {
		return err
	}
	used, err := p.printRow(out, rows[1], rows[0].Program(p.celadon))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, rowFormat, "  less "+command.VersionRow, "", "", figure(rows[1].Figure(used[0])-rows[0].Figure(used[1]), rows[1].Unit), "")
	size, err := p.strippedSize()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, rowFormat, "size of the stripped command", "", "", figure(float64(size)/1e6, "MB"), "")
	return nil
}

// strippedSize returns the size of the command without symbols and debug information, in bytes.
func (p *processes) strippedSize() (int64, error) {
	module, err := command.ModuleDir("github.com/celadon-cel/celadon/cmd/celadon")
	if err != nil {
		return 0, err
	}
	stripped := filepath.Join(p.dir, "stripped")
	if err := command.Build(stripped, module, ".", "-ldflags=-s -w"); err != nil {
		return 0, err
	}
	info, err := os.Stat(stripped)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
