package diff

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/gitrevision"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
)

type definition struct {
	doc *input.Document
	crd *resource.Compact
	err error
}

// pair is a CRD before and after the change. Either may be nil, but not both.
type pair struct {
	name          string
	before, after *definition
	kept          error // the note about fields that kubectl apply keeps, or nil
}

type sides struct {
	pairs    []*pair
	byName   map[string]*pair
	problems []error
	// With two Kubernetes versions, removed holds the uses of versions that are no longer served, and builtins counts
	// the objects of built-in kinds.
	removed  []*Removed
	builtins int
}

// read reads both sides. With --cluster, client is not nil, and the old side consists of the cluster's CRDs: those
// that are also on the new side, or all if paths is empty.
func read(ctx context.Context, s command.Streams, o *Options, paths []string, client *cluster.Client) (*sides, error) {
	both := &sides{byName: map[string]*pair{}}
	var from []string
	to := paths
	if o.two() {
		from, to = paths[:1], paths[1:]
	}
	if o.Base != "" {
		filter := resource.NewFilter(paths)
		err := gitrevision.Read(ctx, o.Base, paths, func(chunk input.Chunk) error {
			chunk.Each(func(doc *input.Document) bool {
				for _, crd := range resource.Definitions(doc) {
					both.add(one(crd, filter), o.Base+": ", true)
				}
				return true
			})
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	for _, side := range []struct {
		paths  []string
		before bool
	}{{from, true}, {to, false}} {
		filter := resource.NewFilter(side.paths)
		if err := both.addAll(ctx, resource.Files(s.Stdin, side.paths), filter, side.before); err != nil {
			return nil, err
		}
		if !side.before {
			for _, note := range filter.Notes() {
				s.Complain(note)
			}
		}
	}
	if client != nil {
		all, failed := client.CRDs(ctx, func(name string) bool { return len(paths) == 0 || both.byName[name] != nil })
		if err := cmp.Or(both.addAll(ctx, all, &resource.Filter{}, true), failed()); err != nil {
			return nil, err
		}
	}
	if o.ToKubeVersion != "" {
		both.double()
		read := input.WithoutStdin(slices.Concat(paths, o.Objects))
		if err := both.readRemoved(ctx, s, o, read); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(both.pairs, func(a, b *pair) int { return strings.Compare(a.name, b.name) })
	return both, both.complete(o, paths)
}

// double makes both sides equal, because only the Kubernetes version differs.
func (s *sides) double() {
	for _, p := range s.pairs {
		if p.after == nil {
			p.after = p.before
		}
		p.before = p.after
	}
}

func (s *sides) addAll(ctx context.Context, source batch.Source, filter *resource.Filter, before bool) error {
	decode := func(doc *input.Document) *definition { return one(doc, filter) }
	return batch.From(source, decode, func(d *definition) error {
		s.add(d, "", before)
		return nil
	}).Run(ctx)
}

// one returns nil if doc is not a CRD or the filter ignores it.
func one(doc *input.Document, filter *resource.Filter) *definition {
	resource.Complete(doc)
	if filter.Ignores(doc) {
		return nil
	}
	d := &definition{doc: doc}
	d.crd, d.err = resource.DecodeCompact(doc)
	if d.crd == nil && d.err == nil {
		return nil
	}
	if d.err == nil && d.crd.Name == "" {
		d.err = fmt.Errorf("a CustomResourceDefinition without metadata.name")
	}
	return d
}

func (s *sides) add(d *definition, where string, before bool) {
	switch {
	case d == nil:
		return
	case d.err != nil:
		s.problems = append(s.problems, fmt.Errorf("%s%s: %w", where, d.doc.Location(), d.err))
		return
	}
	p := s.byName[d.crd.Name]
	if p == nil {
		p = &pair{name: d.crd.Name}
		s.byName[d.crd.Name] = p
		s.pairs = append(s.pairs, p)
	}
	slot := &p.after
	if before {
		slot = &p.before
	}
	if *slot != nil && d.crd.SameSpec((*slot).crd) {
		return // a copy, for example in a chart
	}
	if *slot != nil {
		s.problems = append(s.problems, fmt.Errorf("%s%s: %s differs from the CRD of the same name in %s: keep one of them, or name the files to compare", where, d.doc.Location(), d.crd.Name, (*slot).doc.Location()))
		return
	}
	*slot = d
}

// complete returns an error if there is nothing to compare.
func (s *sides) complete(o *Options, paths []string) error {
	if len(s.problems) > 0 {
		return nil // the problems are reported instead
	}
	before := slices.ContainsFunc(s.pairs, func(p *pair) bool { return p.before != nil })
	after := slices.ContainsFunc(s.pairs, func(p *pair) bool { return p.after != nil })
	none := func(path string) error { return fmt.Errorf("no CustomResourceDefinition in %s", path) }
	switch {
	case !o.two() && !before && !after && s.builtins > 0: // what an upgrade of Kubernetes removes
	case !o.two() && !before && !after:
		return none(strings.Join(paths, ", "))
	case o.two() && !before:
		return none(paths[0])
	case o.two() && !after:
		return none(paths[1])
	case o.two() && len(s.pairs) == 2 && s.pairs[0].of(paths) && s.pairs[1].of(paths):
		return fmt.Errorf("%s and %s are different CRDs: want two versions of one CRD", s.pairs[0].name, s.pairs[1].name)
	}
	return nil
}

// of reports whether only one side has the CRD, and the path of that side is a file, not a folder.
func (p *pair) of(paths []string) bool {
	return p.before == nil && p.after.doc.File == paths[1] || p.after == nil && p.before.doc.File == paths[0]
}

func (p *pair) alone() bool { return p.before == nil || p.after == nil }
