// Package diff implements celadon diff, which reports the incompatible changes between two versions of
// CRDs and demonstrates each with an example object.
package diff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/reports"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/gitrevision"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/converter"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/compare"
)

// Outputs lists the values of --output.
var Outputs = []string{"text", "json", "github", "gitlab", "sarif", "markdown"}

// Options holds the flags of celadon diff.
type Options struct {
	Base    string
	Objects []string
	Strict  bool
	Allow   string
	Steps   int
	Seed    uint64
	Output  string
	Reports reports.Files
	Verbose bool
	Config  config.Flags
	Convert converter.Flags
	Cluster cluster.Flags

	KubeVersion, ToKubeVersion string
}

// Flags adds the flags to f.
func (o *Options) Flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.Base, "base", "", "read the old CRDs from PATH at a git `REV`")
	f.StringArrayVar(&o.Objects, "objects", nil, "report the effect of the change on each existing object in `PATH`: a file, a folder, or - (repeatable)")
	f.BoolVar(&o.Strict, "strict", false, "report changes as findings unless they are proved to break nothing")
	f.StringVar(&o.Allow, "allow", "", "`FILE` of accepted breaking changes, each with a reason; with --base, its version at REV")
	f.IntVar(&o.Steps, "steps", compare.DefaultSteps, "number of objects to try for each change")
	f.StringVar(&o.KubeVersion, "kube-version", "", "Kubernetes `X.Y` to emulate (default: the newest supported, or the cluster's)")
	f.StringVar(&o.ToKubeVersion, "to-kube-version", "", "compare Kubernetes --kube-version with `X.Y` for the same CRDs")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the search")
	o.Reports.Flag(f, &o.Output, Outputs)
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "name unchanged CRDs; with -o markdown, report every change with its example")
	o.Cluster.Add(f, "read the old CRDs and the objects from a cluster (see docs/cluster.md)")
	o.Cluster.AddSelector(f)
	o.Convert.Add(f)
	o.Config.Arguments = "crds"
	o.Config.Add(f)
	config.FromTree.Set(f, "output", "strict", "verbose")
	config.Stricter.Set(f, "kube-version")
	config.Never.Set(f, "objects")
}

func (o *Options) check(paths []string) error {
	switch {
	case o.two() && len(paths) != 2:
		return fmt.Errorf("diff compares two paths (got %d): OLD and NEW, or PATH with --base REV", len(paths))
	case o.Cluster.On && (o.Base != "" || len(o.Objects) > 0):
		return errors.New("--cluster: provides the old CRDs and the objects: do not set --base or --objects")
	case o.ToKubeVersion != "" && o.Base != "":
		return errors.New("--to-kube-version: compares Kubernetes versions for the same CRDs: do not set --base")
	case o.ToKubeVersion != "" && o.KubeVersion == "" && !o.Cluster.On:
		return errors.New("--to-kube-version: set --kube-version to the version before the upgrade")
	case len(paths) == 0 && !o.wholeCluster():
		return errors.New("no CRDs given: want a file or a folder")
	case !slices.Contains(Outputs, o.Output):
		return fmt.Errorf("--output %q: want %s", o.Output, phrase.Or(Outputs))
	case o.Steps <= 0:
		return fmt.Errorf("--steps %d: want 1 or more", o.Steps)
	case o.Convert.URL != "" && len(o.Objects) == 0 && !o.Cluster.On:
		return errors.New("--convert: only applies to objects: use --objects PATH too")
	case o.Allow == "-":
		return errors.New("--allow -: want a file that the change cannot modify")
	case o.Base != "" && slices.Contains(paths, "-"):
		return errors.New("--base: standard input has no revision: want files or folders")
	}
	if _, err := types.ParseVersion(o.KubeVersion); err != nil {
		return fmt.Errorf("--kube-version: %w", err)
	}
	if _, err := types.ParseVersion(o.ToKubeVersion); err != nil {
		return fmt.Errorf("--to-kube-version: %w", err)
	}
	return cmp.Or(command.OneStdin(slices.Concat(paths, o.Objects)...), o.Cluster.Check())
}

func (o *Options) two() bool { return o.Base == "" && !o.Cluster.On && o.ToKubeVersion == "" }

// wholeCluster reports whether all CRDs of the cluster may be compared.
func (o *Options) wholeCluster() bool { return o.Cluster.On && o.ToKubeVersion != "" }

// An allowance accepts a breaking, unknown, or unproved change.
type allowance struct {
	CRD     string `json:"crd"`
	Version string `json:"version"` // "" for all versions
	Path    string `json:"path"`
	Subject string `json:"what"`
	Reason  string `json:"reason"`

	location string
	used     bool
}

const maxAllowances = 1000

// allowances reads the file of --allow. With --base, it reads the file's version at the base, because a
// change must not allow itself. Without --base, the file may not be among the new CRDs.
func allowances(ctx context.Context, o *Options, paths []string) (list []*allowance, err error) {
	if o.Allow == "" {
		return nil, nil
	}
	var docs []*input.Document
	each := func(chunk input.Chunk) bool {
		return chunk.Each(func(doc *input.Document) bool { docs = append(docs, doc); return true })
	}
	if o.Base != "" {
		err = gitrevision.Read(ctx, o.Base, []string{o.Allow}, func(chunk input.Chunk) error { each(chunk); return nil })
		if err == nil && len(docs) == 0 {
			err = fmt.Errorf("the file does not exist at %s", o.Base)
		}
	} else if slices.ContainsFunc(o.changed(paths), func(path string) bool { return worktree.Inside(path, o.Allow) }) {
		err = errors.New("is among the new CRDs: use a file that the change cannot modify")
	} else {
		input.Selection{}.Scan(nil, []string{o.Allow}, func() {}, each)
	}
	for _, doc := range docs {
		if err == nil {
			list, err = allowed(doc, list)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("--allow %s: %w", o.Allow, err)
	}
	return list, nil
}

// With two Kubernetes versions, the CRDs do not change.
func (o *Options) changed(paths []string) []string {
	switch {
	case o.ToKubeVersion != "":
		return nil
	case o.two():
		return paths[1:]
	}
	return paths
}

func allowed(doc *input.Document, list []*allowance) ([]*allowance, error) {
	data, err := doc.JSON()
	if err != nil {
		return nil, err
	}
	var file struct {
		Allow []allowance `json:"allow"`
	}
	if err := input.UnmarshalStrict(data, &file); err != nil {
		return nil, fmt.Errorf("want only a list named allow, with strings for crd, version, path, what, and reason: %w", err)
	}
	if file.Allow == nil {
		return nil, errors.New("want only a list named allow")
	}
	for i := range file.Allow {
		a := &file.Allow[i]
		a.location = fmt.Sprintf("allow[%d]", i)
		switch {
		case a.CRD == "" || a.Subject == "":
			return nil, fmt.Errorf("%s: want crd and what, as in the report", a.location)
		case a.Reason == "":
			return nil, fmt.Errorf("%s: want a reason", a.location)
		}
		if list = append(list, a); len(list) > maxAllowances {
			return nil, fmt.Errorf("more than %d", maxAllowances)
		}
	}
	return list, nil
}

func allow(list []*allowance, crd *CRD) {
	for _, c := range crd.Changes {
		if !c.Effect.Breaks() && c.Effect != compare.Unknown && !c.unproved() {
			continue
		}
		permits := permitsOf(list, crd.Name, c)
		for _, a := range permits {
			a.used = true
		}
		if len(permits) > 0 {
			c.Allowed = permits[0].Reason
		}
	}
}

// permitsOf returns the allowances that cover c in every version, or nil if any version is not covered.
func permitsOf(list []*allowance, crd string, c *Change) (permits []*allowance) {
	for _, version := range append([]string{c.Version}, c.Also...) {
		i := slices.IndexFunc(list, func(a *allowance) bool {
			return a.CRD == crd && a.Subject == c.Subject && a.Path == c.Path && (a.Version == "" || a.Version == version)
		})
		if i < 0 {
			return nil
		}
		permits = append(permits, list[i])
	}
	return permits
}
