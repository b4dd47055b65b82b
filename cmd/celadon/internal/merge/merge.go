// Package merge implements celadon merge, which combines the reports of shards and of several clusters.
package merge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/check"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// How it works. Each report is read twice. The first pass checks each report against its own
// summary, and then all reports against each other; only reports of the same run are merged. The
// second pass merges the objects of a source's shards by their positions in the input, reading one
// line of each report at a time. It prints them as celadon check would.

// Options are the flags of celadon merge.
type Options struct {
	check.Options
	// Sources lists the sources that must have reports.
	Sources []string
	// Run selects the reports of a run. If it is "", all reports must be of the same run.
	Run string
}

// Formats lists the output formats of a merged report. The tables of -o wide only suit a single run.
var Formats = slices.DeleteFunc(print.Formats(), func(format string) bool { return format == "wide" })

// Flags adds the flags of celadon merge to f.
func (o *Options) Flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringSliceVar(&o.Sources, "source", nil, "require reports from source `NAME`, or from several sources separated by commas (repeatable)")
	f.StringVar(&o.Run, "run", "", "merge only reports that celadon check --run wrote with this `NAME`")
	o.ReportFlags(f, Formats)
}

func (o *Options) check(paths []string) error {
	switch {
	case len(paths) == 0:
		return errors.New("no reports given: want files or folders (see celadon merge --help)")
	case o.Output == "wide":
		return fmt.Errorf("--output %q: want %s", o.Output, phrase.Or(Formats))
	}
	if o.Run != "" {
		if err := finding.CheckSource(o.Run); err != nil {
			return fmt.Errorf("--run: %w", err)
		}
	}
	for _, name := range o.Sources {
		if err := finding.CheckSource(name); err != nil {
			return fmt.Errorf("--source: %w", err)
		}
	}
	return nil
}

// Run implements celadon merge: it writes the report of the parts at paths.
func Run(ctx context.Context, s command.Streams, o *Options, paths []string) error {
	if err := o.check(paths); err != nil {
		return err
	}
	files, links, err := find(paths)
	if err != nil {
		return err
	}
	if err := apart(o.Out, paths); err != nil {
		return err
	}
	p, err := read(ctx, files, o)
	if err != nil {
		return err
	}
	for _, name := range links {
		p.problems = append(p.problems, fmt.Errorf("%s: a link in a folder is not followed: name it to merge it", name))
	}
	if p.other > 0 {
		s.Complain(fmt.Errorf("skipped: %s of runs other than %q", phrase.Count(p.other, "report"), o.Run))
	}
	for _, problem := range p.problems {
		s.Complain(problem)
	}
	switch {
	case len(p.sources) == 0:
		return &command.ExitError{Code: command.Usage, Err: errors.New("no report can be merged")}
	case o.Output == "yaml" && !p.head.Has(finding.WithPersisted):
		return fmt.Errorf("--output yaml: the reports have no persisted objects: create them with celadon check %s", finding.WithPersisted)
	}
	return check.WriteMerged(ctx, s, &o.Options, &check.Results{
		Head:    p.head,
		CRDs:    p.crds,
		Objects: p.objects,
		Missing: p.missing,
		Unclear: len(p.problems) > 0,
	})
}

func apart(out string, paths []string) error {
	if filepath.Ext(out) != ".jsonl" {
		return nil
	}
	for _, path := range paths {
		below, err := filepath.Rel(path, out)
		if info, bad := os.Stat(path); err == nil && bad == nil && info.IsDir() && filepath.IsLocal(below) {
			return fmt.Errorf("--out %s: in %s it would be read as a report to merge: use another folder or file extension", out, path)
		}
	}
	return nil
}

// find selects files named *.jsonl in folders, and does not follow links there.
func find(paths []string) (files, links []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: no such file or directory", path)
		}
		if err != nil {
			return nil, nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case name != path && strings.HasPrefix(d.Name(), "."):
				if d.IsDir() {
					return fs.SkipDir
				}
			case filepath.Ext(name) != ".jsonl":
			case d.Type().IsRegular():
				files = append(files, name)
			case d.Type() == fs.ModeSymlink:
				links = append(links, name)
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	if len(files) == 0 {
		return nil, nil, fmt.Errorf("no report in %s: want files that end in .jsonl", strings.Join(paths, ", "))
	}
	slices.Sort(files)
	return slices.Compact(files), links, nil
}
