package publishing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/crdfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/progress"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/wholefile"
	"github.com/celadon-cel/celadon/engine/publish"
	"github.com/celadon-cel/celadon/engine/search"
)

// DocsOutputs are what --output of celadon docs may be.
var DocsOutputs = []string{"md", "html"}

// DocsOptions are the flags of celadon docs.
type DocsOptions struct {
	CRDs   []string
	Output string
	Out    string
	Steps  int
	Seed   uint64
}

// Flags adds the flags to a set.
func (o *DocsOptions) Flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.CRDs, "crd", nil, "CRDs: `PATH` of a file, a folder or - (repeatable)")
	f.StringVarP(&o.Output, "output", "o", "md", "write "+strings.Join(DocsOutputs, " or "))
	f.StringVar(&o.Out, "out", "", "a file for each CRD in the folder `DIR`, which is made")
	f.IntVar(&o.Steps, "steps", search.DefaultSteps, "how much is tried for one example, in objects")
	f.Uint64Var(&o.Seed, "seed", 1, "choose other examples")
}

// Check says what is wrong with the flags.
func (o *DocsOptions) Check() error {
	switch {
	case len(o.CRDs) == 0:
		return errors.New("no CRDs given: want --crd PATH")
	case !slices.Contains(DocsOutputs, o.Output):
		return fmt.Errorf("--output %q: want %s", o.Output, strings.Join(DocsOutputs, ", "))
	case o.Steps <= 0:
		return fmt.Errorf("--steps %d: want 1 or more", o.Steps)
	}
	return nil
}

// Docs is the whole of celadon docs.
func Docs(ctx context.Context, s cli.Streams, o *DocsOptions) error {
	crds, broken, err := Read(ctx, s, o.CRDs)
	if err != nil {
		return err
	}
	if err := o.names(crds); err != nil {
		return err
	}
	bar := progress.On(s.Stderr, "writing", "pages")
	pages, err := o.pages(ctx, crds, func() { bar.Add(1) })
	bar.Done()
	if err != nil {
		return err
	}
	if err := o.write(s, crds, pages); err != nil {
		return err
	}
	if broken {
		return &cli.ExitError{Code: cli.Usage}
	}
	return nil
}

// names says what keeps each page from having a file of its own: a name is
// foreign.
func (o *DocsOptions) names(crds []*apiextensionsv1.CustomResourceDefinition) error {
	if o.Out == "" && len(crds) > 1 {
		return fmt.Errorf("%d CRDs: want --out DIR, for a page each", len(crds))
	}
	seen := map[string]bool{}
	for _, crd := range crds {
		if err := crdfile.CheckNames(crd.Name); err != nil {
			return err
		}
		if seen[crd.Name] {
			return fmt.Errorf("%s: given twice: want one, as a server has", crd.Name)
		}
		seen[crd.Name] = true
	}
	return nil
}

// pages are made on all cores; their order is that of the CRDs.
func (o *DocsOptions) pages(ctx context.Context, crds []*apiextensionsv1.CustomResourceDefinition, done func()) ([][]byte, error) {
	pages, errs := make([][]byte, len(crds)), make([]error, len(crds))
	queue := make(chan int, len(crds))
	for i := range crds {
		queue <- i
	}
	close(queue)
	var workers sync.WaitGroup
	var counting sync.Mutex
	for range min(runtime.GOMAXPROCS(0), len(crds)) {
		workers.Go(func() {
			for i := range queue {
				pages[i], errs[i] = o.page(ctx, crds[i])
				counting.Lock()
				done()
				counting.Unlock()
			}
		})
	}
	workers.Wait()
	return pages, errors.Join(errs...)
}

func (o *DocsOptions) page(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := publish.NewPage(ctx, crd, publish.Config{Costs: costs(ctx, crd), Steps: o.Steps, Seed: o.Seed})
	switch {
	case err != nil:
		return nil, err
	case o.Output == "html":
		return p.HTML()
	}
	return p.Markdown(), nil
}

func (o *DocsOptions) write(s cli.Streams, crds []*apiextensionsv1.CustomResourceDefinition, pages [][]byte) error {
	if o.Out == "" {
		_, err := s.Stdout.Write(pages[0])
		return err
	}
	if err := os.MkdirAll(o.Out, 0o777); err != nil {
		return err
	}
	for i, crd := range crds {
		if err := wholefile.Write(filepath.Join(o.Out, crd.Name+"."+o.Output), pages[i]); err != nil {
			return err
		}
	}
	return nil
}
