package test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/reports"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/converter"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
)

// Outputs lists the values of --output.
var Outputs = []string{"text", "json", "junit", "github", "gitlab", "markdown"}

// Options holds the flags of celadon test.
type Options struct {
	CRDs          []string
	Run           string
	FeatureGates  []string
	Update, Watch bool
	FailFast      bool
	Exact         bool
	Verbose       bool
	Output        string
	Reports       reports.Files
	KubeVersion   string
	Measures      Measures
	Config        config.Flags
	Converter     converter.OrCommand

	run   *regexp.Regexp
	gates []string
}

// Flags adds the flags to f.
func (o *Options) Flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringArrayVar(&o.CRDs, "crd", nil, "read CRDs from `PATH`: a file or a folder (repeatable; default: the usual folders next to the suites)")
	f.StringVar(&o.Run, "run", "", "run only the cases whose \"suite/case\" matches `REGEXP`")
	f.StringVar(&o.KubeVersion, "kube-version", "", "Kubernetes `X.Y` to emulate in cases without kubeVersions (default: the newest supported)")
	f.BoolVar(&o.FailFast, "fail-fast", false, "stop at the first case that does not pass")
	f.BoolVar(&o.Exact, "exact-messages", false, "fail if an expected message differs from the server's only in the printed value")
	f.StringSliceVar(&o.FeatureGates, "feature-gates", nil, "run only suites that match the feature gates in this `LIST`, such as A,B,-C; gates not listed are off")
	f.BoolVar(&o.Update, "update", false, "write the actual results of failed cases into the suites as expectations")
	f.BoolVarP(&o.Watch, "watch", "w", false, "test again whenever a file changes")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "print every case")
	o.Reports.Flag(f, &o.Output, Outputs)
	o.Measures.flags(f)
	o.Converter.Add(f)
	o.Config.Arguments = "suites"
	o.Config.Add(f)
	config.FromTree.Set(f, "crd", "output", "verbose", "exact-messages", "cover", "cover-min")
	config.Stricter.Set(f, "kube-version")
}

// Check returns an error if the flags are invalid. f is the set that parsed them.
func (o *Options) Check(f *pflag.FlagSet, paths []string) error {
	if o.Run != "" {
		re, err := regexp.Compile(o.Run)
		if err != nil {
			return fmt.Errorf("--run %q: %w", o.Run, err)
		}
		o.run = re
	}
	if f.Changed("feature-gates") {
		o.gates = append([]string{}, o.FeatureGates...)
	}
	if _, err := types.ParseVersion(o.KubeVersion); err != nil {
		return fmt.Errorf("--kube-version: %w", err)
	}
	stdin := slices.Contains(slices.Concat(paths, o.CRDs), "-")
	switch {
	case len(paths) == 0:
		return errors.New("no suites given: want files or folders (see celadon test --help)")
	case !slices.Contains(Outputs, o.Output):
		return fmt.Errorf("--output %q: want %s", o.Output, phrase.Or(Outputs))
	case stdin && (o.Watch || o.Update):
		return errors.New("--watch and --update: standard input is not a file: want files or folders")
	case slices.Contains(o.CRDs, "-") && slices.Contains(paths, "-"):
		return errors.New("- is given more than once: standard input can be read only once")
	case o.Update && o.Watch:
		return errors.New("--update and --watch: want only one of them")
	}
	return o.Measures.check(f, o)
}
