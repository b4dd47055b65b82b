package docs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/publish"
)

// ExplainOutputs lists the values of --output of celadon explain. kubectl calls its own format plaintext.
var ExplainOutputs = []string{"text", "plaintext"}

// ExplainOptions holds the flags of celadon explain.
type ExplainOptions struct {
	CRDs       []string
	APIVersion string
	Recursive  bool
	MaxDepth   int
	Output     string
}

// Flags adds the flags to f.
func (o *ExplainOptions) Flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.CRDs, "crd", nil, "read CRDs from `PATH`: a file, a folder, or - (repeatable)")
	f.StringVar(&o.APIVersion, "api-version", "", "`GROUP/VERSION` to explain (default: the version that a server prefers)")
	f.BoolVarP(&o.Recursive, "recursive", "R", false, "print the names and types of nested fields, one per line")
	f.IntVar(&o.MaxDepth, "max-depth", 0, "with --recursive: maximum depth `N` (0 is unlimited)")
	f.StringVarP(&o.Output, "output", "o", "text", "text, or plaintext for exactly the output of kubectl")
}

// Check returns an error if the command line is invalid.
func (o *ExplainOptions) Check(args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("you must specify the type of resource to explain: want TYPE or TYPE.FIELD, such as crontabs.spec")
	case args[0] == "":
		return errors.New("no type of resource: want TYPE or TYPE.FIELD, such as crontabs.spec")
	case len(o.CRDs) == 0:
		return errors.New("no CRDs given: want explain TYPE CRD, with the files or folders of the CRDs")
	case o.MaxDepth < 0:
		return fmt.Errorf("--max-depth %d: must be non-negative", o.MaxDepth)
	case o.MaxDepth > 0 && !o.Recursive:
		return errors.New("--max-depth requires --recursive")
	case !slices.Contains(ExplainOutputs, o.Output):
		return fmt.Errorf("--output %q: want %s", o.Output, phrase.Or(ExplainOutputs))
	}
	return nil
}

// IsPath reports whether an argument looks like a path of a file or folder, and not like a type.
func IsPath(arg string) bool {
	return arg == "-" || strings.ContainsAny(arg, `/\`) || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(arg))
}

// Explain implements celadon explain. An empty name is the type of the only CRD.
func Explain(ctx context.Context, s command.Streams, o *ExplainOptions, name string) error {
	crds, broken, err := Read(ctx, s, o.CRDs)
	if err != nil {
		return err
	}
	switch {
	case name == "" && len(crds) != 1:
		return fmt.Errorf("%d CRDs: want TYPE or TYPE.FIELD before them, such as crontabs.spec", len(crds))
	case name == "":
		name = crds[0].Spec.Names.Plural
	}
	at, err := publish.Find(crds, name, o.APIVersion)
	if err != nil {
		return err
	}
	layout := publish.Layout{Recursive: o.Recursive, MaxDepth: o.MaxDepth, Plain: o.Output == "plaintext"}
	if !layout.Plain {
		if layout.Costs, err = costs(ctx, at.CRD); err != nil {
			return bug(ctx, at.CRD, err)
		}
	}
	text, err := at.Explain(layout)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(s.Stdout, shown(text)); err != nil {
		return err
	}
	if broken {
		return &command.ExitError{Code: command.Usage}
	}
	return nil
}

// shown makes text safe for a terminal. It keeps tabs, which kubectl's layout uses.
func shown(text string) string {
	parts := strings.Split(text, "\t")
	for i, part := range parts {
		parts[i] = string(untrusted.Text(part))
	}
	return strings.Join(parts, "\t")
}
