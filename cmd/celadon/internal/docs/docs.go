package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/parallel"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/internal/text/filename"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/publish"
)

// DocsOutputs lists the values of --output of celadon docs.
var DocsOutputs = []string{"md", "html", "jsonschema"}

// DocsOptions holds the flags of celadon docs.
type DocsOptions struct {
	CRDs   []string
	Output string
	Out    string
	Steps  int
	Seed   uint64
}

// Flags adds the flags to f.
func (o *DocsOptions) Flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.CRDs, "crd", nil, "read CRDs from `PATH`: a file, a folder, or - (repeatable)")
	f.StringVarP(&o.Output, "output", "o", "md", "write "+strings.Join(DocsOutputs, ", "))
	f.StringVar(&o.Out, "out", "", "write one file per CRD into `DIR`, which is created")
	f.IntVar(&o.Steps, "steps", search.DefaultSteps, "number of objects to try for each example")
	f.Uint64Var(&o.Seed, "seed", 1, "seed for the examples")
}

// Check returns an error if the flags are invalid.
func (o *DocsOptions) Check() error {
	switch {
	case len(o.CRDs) == 0:
		return errors.New("no CRDs given: want files or folders")
	case !slices.Contains(DocsOutputs, o.Output):
		return fmt.Errorf("--output %q: want %s", o.Output, phrase.Or(DocsOutputs))
	case o.Steps <= 0:
		return fmt.Errorf("--steps %d: want 1 or more", o.Steps)
	}
	return nil
}

// Docs implements celadon docs.
func Docs(ctx context.Context, s command.Streams, o *DocsOptions) error {
	crds, broken, err := Read(ctx, s, o.CRDs)
	if err != nil {
		return err
	}
	if o.Output == "jsonschema" {
		if err := o.writeSchemas(s, crds); err != nil || !broken {
			return err
		}
		return &command.ExitError{Code: command.Usage}
	}
	if err := o.names(crds); err != nil {
		return err
	}
	pages, err := o.pages(ctx, s, crds)
	if err != nil {
		return err
	}
	missing, err := o.write(s, pages)
	if err != nil {
		return err
	}
	if broken || missing {
		return &command.ExitError{Code: command.Usage}
	}
	return nil
}

func (o *DocsOptions) writeSchemas(s command.Streams, crds []*apiextensionsv1.CustomResourceDefinition) error {
	files, err := schemaFiles(crds)
	if err != nil {
		return err
	}
	if o.Out == "" {
		return print.JSON(untrusted.NewWriter(s.Stdout), combine(files, false))
	}
	if err := outfile.MkdirAll(o.Out, 0o777); err != nil {
		return err
	}
	for _, f := range append(files, schemaFile{combined, combine(files, true)}) {
		var b bytes.Buffer
		if err := print.JSON(&b, f.schema); err != nil {
			return err
		}
		if err := outfile.Write(filepath.Join(o.Out, f.name), b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// names checks the names of CRDs, which are untrusted.
func (o *DocsOptions) names(crds []*apiextensionsv1.CustomResourceDefinition) error {
	if o.Out == "" && len(crds) > 1 {
		return fmt.Errorf("%d CRDs: use --out DIR to write one page per CRD", len(crds))
	}
	seen := map[string]bool{}
	for _, crd := range crds {
		if err := resource.CheckNames(crd.Name); err != nil {
			return err
		}
		if seen[crd.Name] {
			return fmt.Errorf("%s: duplicate: a server can have only one", crd.Name)
		}
		seen[crd.Name] = true
	}
	return nil
}

type pageResult struct {
	crd  *apiextensionsv1.CustomResourceDefinition
	page []byte
	err  error
}

// pages returns the pages in the order of the CRDs. The error is ctx.Err() or an internal error.
func (o *DocsOptions) pages(ctx context.Context, s command.Streams, crds []*apiextensionsv1.CustomResourceDefinition) (all []pageResult, err error) {
	bar := progress.On(s.Stderr, "writing", "pages")
	defer bar.Done()
	work := func(crd *apiextensionsv1.CustomResourceDefinition) pageResult {
		page, err := o.page(ctx, crd)
		return pageResult{crd, page, err}
	}
	err = parallel.Each(ctx, crds, work, func(m pageResult) error {
		bar.Add(1)
		if long := new(publish.TooLongError); m.err != nil && !errors.As(m.err, &long) {
			return bug(ctx, m.crd, m.err)
		}
		all = append(all, m)
		return nil
	})
	return all, err
}

func (o *DocsOptions) page(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	costs, err := costs(ctx, crd)
	if err != nil {
		return nil, err
	}
	p, err := publish.NewPage(ctx, crd, publish.Config{Costs: costs, Steps: o.Steps, Seed: o.Seed})
	switch {
	case err != nil:
		return nil, err
	case o.Output == "html":
		return p.HTML()
	}
	return p.Markdown()
}

func (o *DocsOptions) write(s command.Streams, pages []pageResult) (missing bool, err error) {
	if o.Out != "" {
		if err := outfile.MkdirAll(o.Out, 0o777); err != nil {
			return false, err
		}
	}
	for _, m := range pages {
		switch {
		case m.err != nil:
			missing = true
			s.Complain(m.err)
		case o.Out == "":
			_, err = s.Stdout.Write(m.page)
		default:
			var path string
			if path, err = filename.Join(o.Out, m.crd.Name+"."+o.Output); err == nil {
				err = outfile.Write(path, m.page)
			}
		}
		if err != nil {
			return missing, err
		}
	}
	return missing, nil
}
