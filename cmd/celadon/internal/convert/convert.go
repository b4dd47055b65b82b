// Package convert implements celadon convert, which shows objects in another version of their CRD, and
// celadon convert test, which finds data that a converter loses.
package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/converter"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/engine/conversion"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/secret"
)

// Options holds the flags of celadon convert.
type Options struct {
	CRDs      []string
	To        string
	Converter converter.OrCommand
}

// Flags adds the flags to f.
func (o *Options) Flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringArrayVar(&o.CRDs, "crd", nil, "read CRDs from `PATH`: a file, a folder, or - (repeatable)")
	f.StringVar(&o.To, "to", "", "the `VERSION` to show the objects in")
	o.Converter.Add(f)
}

// Check returns an error if the flags or paths are invalid.
func (o *Options) Check(paths []string) error {
	switch {
	case len(o.CRDs) == 0:
		return errors.New("no CRDs given: use --crd PATH")
	case len(paths) == 0:
		return errors.New("no objects given: want files, folders, or -")
	case o.To == "":
		return errors.New("no version given: use --to VERSION")
	}
	return command.OneStdin(slices.Concat(o.CRDs, paths)...)
}

// Run prints the objects in another version, as a client would read them after creating them as they are in the files.
func Run(ctx context.Context, s command.Streams, o *Options, paths []string) error {
	converter, err := o.Converter.Open()
	if err != nil {
		return err
	}
	crds, broken, err := read(ctx, s, o.CRDs)
	if err != nil {
		return err
	}
	known := catalog.New(catalog.Config{Engine: engine.Config{Converter: converter}, Lazy: true})
	definitions := make([]*apiextensionsv1.CustomResourceDefinition, len(crds))
	var versions []string
	for i, c := range crds {
		definitions[i] = c.crd
		for j := range c.crd.Spec.Versions {
			versions = append(versions, c.crd.Spec.Versions[j].Name)
		}
	}
	if o.To != "" && !slices.Contains(versions, o.To) {
		slices.Sort(versions)
		return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("--to %q: want %s", o.To, phrase.Or(slices.Compact(versions)))}
	}
	if err := known.Apply(definitions, nil); err != nil { // the other CRDs are known
		broken = true
		s.Complain(err)
	}
	r := &run{ctx: ctx, Streams: s, to: o.To, known: known, out: untrusted.NewWriter(s.Stdout)}
	if err := batch.Each(ctx, batch.Files(s.Stdin, paths), r.one); err != nil {
		return err
	}
	if broken {
		r.code = command.Usage
	}
	switch {
	case r.code != command.OK:
		return &command.ExitError{Code: r.code}
	case r.shown == 0:
		return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("no object in %s", strings.Join(paths, ", "))}
	}
	return nil
}

type definition struct {
	file string
	line int
	crd  *apiextensionsv1.CustomResourceDefinition
}

// read reads CRDs; see resource.All.
func read(ctx context.Context, s command.Streams, paths []string) (crds []*definition, broken bool, err error) {
	return resource.All(ctx, s, paths, func(doc *input.Document) (*definition, error) {
		crd, err := resource.DecodeCompact(doc)
		if crd == nil || err != nil {
			return nil, err
		}
		return &definition{doc.File, doc.Line, crd.ForEngine()}, nil
	})
}

type run struct {
	command.Streams
	ctx   context.Context
	to    string
	known *catalog.Catalog
	out   io.Writer
	shown int
	code  int
}

func (r *run) one(doc *input.Document) error {
	out, code, err := r.converted(doc)
	var bug *engine.InternalError
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case errors.As(err, &bug):
		return &command.ExitError{Code: command.Bug, Err: fmt.Errorf("%s: %w", doc.Location(), err)}
	case err != nil:
		r.Complain(fmt.Errorf("%s: %w", doc.Location(), err))
		r.code = max(r.code, code)
		return nil
	}
	data, err := untrusted.YAML(out)
	if err != nil {
		return err
	}
	if r.shown++; r.shown > 1 {
		data = append([]byte("---\n"), data...)
	}
	_, err = r.out.Write(data)
	return err
}

// converted also returns the exit code if err is not nil.
func (r *run) converted(doc *input.Document) (out map[string]any, code int, err error) {
	if doc.Err != nil {
		return nil, command.Usage, doc.Err
	}
	id := doc.Identity()
	entry := r.known.Find(id.GroupKind())
	if entry == nil {
		return nil, command.Usage, fmt.Errorf("no CRD given for %s", id.GroupKind())
	}
	e, err := entry.Engine()
	if e == nil {
		return nil, command.Usage, err
	}
	res, err := e.Validate(r.ctx, engine.Request{Object: doc.Object, FieldValidation: "Strict", DuplicateKeys: doc.Duplicate})
	if err != nil {
		return nil, command.Usage, unanswered(err)
	}
	if !res.Allowed {
		return nil, command.Findings, errors.New(res.Failure.Message)
	}
	// Convert the stored object. res.Object has already been converted back.
	if out, err = e.Convert(r.ctx, res.Stored, r.to); err != nil {
		return nil, command.Usage, unanswered(err)
	}
	mask := secret.MaskOf(entry.CRD, doc.Object, res.Stored, out)
	return mask.Object(withOwnMetadata(out, doc.Object)), command.OK, nil
}

// unanswered rewrites an error that left a conversion undecided: "not checked" if the converter failed, or advice to name a
// converter if there is none.
func unanswered(err error) error {
	var failed *conversion.Error
	var unknown *engine.NotCheckedError
	switch {
	case errors.As(err, &failed) && errors.As(err, &unknown):
		return fmt.Errorf("not checked: %w", err)
	case !errors.As(err, &failed) && errors.As(err, &unknown):
		return errors.New("the CRD converts with a webhook: use --convert URL or --exec COMMAND")
	}
	return err
}

// withOwnMetadata returns out with the metadata of the given object, except for labels and annotations, which a
// conversion can change. Other metadata in out was set by the server.
func withOwnMetadata(out, given map[string]any) map[string]any {
	meta := map[string]any{}
	maps.Copy(meta, input.Metadata(given))
	made := input.Metadata(out)
	for _, name := range []string{"labels", "annotations"} {
		if v, ok := made[name]; ok {
			meta[name] = v
		} else {
			delete(meta, name)
		}
	}
	out = maps.Clone(out)
	out["metadata"] = meta
	return out
}
