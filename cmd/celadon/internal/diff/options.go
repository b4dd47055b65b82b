// Package diff implements celadon diff, which reports the incompatible changes between two versions of
// CRDs and demonstrates each with an example object.
package diff

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/reports"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
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

// two reports whether both sides of the comparison are files.
func (o *Options) two() bool { return o.Base == "" && !o.Cluster.On && o.ToKubeVersion == "" }

// wholeCluster reports whether all CRDs of the cluster may be compared.
func (o *Options) wholeCluster() bool { return o.Cluster.On && o.ToKubeVersion != "" }
