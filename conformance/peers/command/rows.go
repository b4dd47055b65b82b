package command

import (
	"fmt"
	"time"
)

// Sizes are the numbers of objects and files in rows.
type Sizes struct {
	// Lines is for CPU per object of JSON lines. The YAML stream has a fifth.
	Lines, Files int
	// Memory is for the peak memory, and Wall for the run time.
	Memory, Wall int
}

// A Row is a use of celadon that is measured.
type Row struct {
	Name string
	// Args are the arguments of celadon.
	Args []string
	// Input is the file or folder with the objects that Args name, if there is one.
	Input string
	// Unit is the unit of Figure.
	Unit   string
	Figure func(Usage) float64
	// Repeat is the number of runs in a turn.
	Repeat int
	// MaxExit is the highest exit code that is not an error; 0 means 1.
	MaxExit int
}

// Program returns the program that runs the row with a celadon binary.
func (r *Row) Program(celadon string) Program {
	return Program{Name: r.Name, Args: append([]string{celadon}, r.Args...), Repeat: r.Repeat, MaxExit: r.MaxExit}
}

// cpuPer returns a Figure: processor time in units, for each of n.
func cpuPer(n int, unit time.Duration) func(Usage) float64 {
	return func(u Usage) float64 { return float64(u.CPU) / float64(unit) / float64(n) }
}

func wallSeconds(u Usage) float64 { return u.Wall.Seconds() }
func mebibytes(u Usage) float64   { return float64(u.Memory) / (1 << 20) }

// shortRuns is the number of runs in a turn if a run takes milliseconds.
const shortRuns = 10

// Names of rows that others refer to.
const (
	VersionRow = "celadon version"
	OneRow     = "check of one object"
)

// CheckRows returns the rows of celadon check.
func (in *Input) CheckRows(size Sizes) ([]Row, error) {
	var rows []Row
	for _, k := range []*Kind{in.Routes, in.Pools} {
		path, err := k.Lines(size.Lines)
		if err != nil {
			return nil, err
		}
		rows = append(rows, k.check(k.Name+", JSON lines, CPU per object", path, "µs", cpuPer(size.Lines, time.Microsecond)))
	}
	k := in.Routes
	stream, err := k.Stream(size.Lines / 5)
	if err != nil {
		return nil, err
	}
	files, err := k.Files(size.Files)
	if err != nil {
		return nil, err
	}
	rows = append(rows,
		k.check(k.Name+", YAML stream, CPU per object", stream, "µs", cpuPer(size.Lines/5, time.Microsecond)),
		k.check(fmt.Sprintf("%s, %s files, CPU", k.Name, thousands(size.Files)), files, "ms", cpuPer(1, time.Millisecond)))
	for _, many := range []struct {
		n            int
		figure, unit string
		of           func(Usage) float64
	}{{size.Memory, "peak memory", "MiB", mebibytes}, {size.Wall, "run time", "s", wallSeconds}} {
		if many.n == 0 {
			continue
		}
		path, err := k.Lines(many.n)
		if err != nil {
			return nil, err
		}
		rows = append(rows, k.check(fmt.Sprintf("%s, %s JSON lines, %s", k.Name, thousands(many.n), many.figure), path, many.unit, many.of))
	}
	return rows, nil
}

func (k *Kind) check(name, path, unit string, figure func(Usage) float64) Row {
	return Row{Name: name, Args: []string{"check", "--crd", k.CRD, path}, Input: path, Unit: unit, Figure: figure}
}

// StartRows returns the rows of short runs.
func (in *Input) StartRows() ([]Row, error) {
	one, err := in.Routes.Lines(1)
	if err != nil {
		return nil, err
	}
	ms := cpuPer(1, time.Millisecond)
	check := in.Routes.check(OneRow, one, "ms", ms)
	check.Repeat = shortRuns
	return []Row{{Name: VersionRow, Args: []string{"version"}, Unit: "ms", Figure: ms, Repeat: shortRuns}, check}, nil
}

// FindRow returns the row of celadon find for a CRD. The exit code is 2 if the work budget does not
// suffice for all rules.
func FindRow(name, crd string) Row {
	return Row{Name: name, MaxExit: 2, Args: []string{"find", "--want", "refused", "--crd", crd}, Input: crd, Unit: "s", Figure: cpuPer(1, time.Second)}
}

// VetRow returns the row of celadon vet for a CRD.
func VetRow(name, crd string) Row {
	return Row{Name: name, Args: []string{"vet", crd}, Input: crd, Unit: "s", Figure: cpuPer(1, time.Second)}
}

// thousands formats a number with commas.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
