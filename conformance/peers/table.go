package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// results holds the figures of all turns. The name of a benchmark is SECTION/ROW/OBJECT/SIDE. One side is
// celadon, and each other side is compared with it.
type results struct {
	cpu    string
	names  []string // in the order of the run
	values map[string][]float64
	units  map[string]string
}

const ours = "celadon"

// If a benchmark has figures in several of these units, the table shows the figure whose unit is listed
// first.
var shownUnits = []string{"MB", "MiB", "KiB-kept", "ns/op"}

func (r *results) add(out []byte) {
	if r.values == nil {
		r.values, r.units = map[string][]float64{}, map[string]string{}
	}
	if _, after, ok := bytes.Cut(out, []byte("\ncpu: ")); ok {
		name, _, _ := bytes.Cut(after, []byte("\n"))
		r.cpu = string(name)
	}
	chosen := map[string]figure{}
	var names []string
	for _, f := range parseFigures(out) {
		at := slices.Index(shownUnits, f.unit)
		if at < 0 || strings.Contains(f.name[strings.LastIndexByte(f.name, '/')+1:], "#") { // the second of two objects with the same name
			continue
		}
		other, ok := chosen[f.name]
		if !ok {
			names = append(names, f.name)
		}
		if !ok || at < slices.Index(shownUnits, other.unit) {
			chosen[f.name] = f
		}
	}
	for _, name := range names {
		if r.values[name] == nil {
			r.names = append(r.names, name)
		}
		f := chosen[name]
		r.values[name], r.units[name] = append(r.values[name], f.value), f.unit
	}
}

type table struct {
	section string
	rows    []*row
}

type row struct {
	name, side, unit string
	ratios           []float64 // of each object: the other side's figure divided by ours
	ours, theirs     []float64
}

func (r *results) tables() (all []*table) {
	for _, name := range r.names {
		words := strings.Split(name, "/")
		if len(words) < 4 || words[3] != ours {
			continue
		}
		section := strings.ToLower(strings.TrimPrefix(words[0], "Once"))
		i := slices.IndexFunc(all, func(t *table) bool { return t.section == section })
		if i < 0 {
			i, all = len(all), append(all, &table{section: section})
		}
		prefix := strings.Join(words[:3], "/") + "/"
		alone := true
		for _, other := range r.names {
			if side, ok := strings.CutPrefix(other, prefix); ok && side != ours {
				all[i].row(words[1], side, r.units[name]).add(r.values[name], r.values[other])
				alone = false
			}
		}
		if alone {
			all[i].row(words[1], "", r.units[name]).add(r.values[name], nil)
		}
	}
	return all
}

func (t *table) row(name, side, unit string) *row {
	for _, r := range t.rows {
		if r.name == name && r.side == side {
			return r
		}
	}
	t.rows = append(t.rows, &row{name: name, side: side, unit: unit})
	return t.rows[len(t.rows)-1]
}

func (r *row) add(ours, theirs []float64) {
	if median(ours) <= 0 { // a difference of two measurements that is smaller than their noise
		return
	}
	r.ours = append(r.ours, median(ours))
	if len(theirs) == 0 {
		return
	}
	r.theirs = append(r.theirs, median(theirs))
	var ratios []float64
	for i := range min(len(ours), len(theirs)) {
		ratios = append(ratios, theirs[i]/ours[i])
	}
	r.ratios = append(r.ratios, median(ratios))
}

// String formats the table. A ratio is how many times as fast Celadon is.
func (t *table) String() string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tobjects\tcompared with\tratio\tworst\tceladon\tother")
	for _, r := range t.rows {
		ratio, worst, theirs := "", "", ""
		if len(r.ratios) > 0 {
			ratio, theirs = ratioText(geomean(r.ratios)), figureText(median(r.theirs), r.unit)
		}
		if len(r.ratios) > 1 {
			worst = ratioText(slices.Min(r.ratios))
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n",
			spaced(r.name), len(r.ours), spaced(r.side), ratio, worst, figureText(median(r.ours), r.unit), theirs)
	}
	w.Flush()
	var text strings.Builder
	for line := range strings.Lines(b.String()) {
		text.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return text.String()
}

// A benchmark's name has _ instead of spaces.
func spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }

func geomean(ratios []float64) float64 {
	sum := 0.0
	for _, r := range ratios {
		sum += math.Log(r)
	}
	return math.Exp(sum / float64(len(ratios)))
}

func ratioText(ratio float64) string {
	if ratio < 10 {
		return fmt.Sprintf("%.2fx", ratio)
	}
	return fmt.Sprintf("%.0fx", ratio)
}

// Times are in nanoseconds.
func figureText(value float64, unit string) string {
	if unit == "ns/op" {
		unit = "ns"
		for _, larger := range []string{"µs", "ms", "s"} {
			if value < 1000 {
				break
			}
			value, unit = value/1000, larger
		}
	}
	return fmt.Sprintf("%.*f %s", max(0, 2-int(math.Log10(max(value, 1)))), value, strings.TrimSuffix(unit, "-kept"))
}
