package requests

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// How it works: an example of params fits their schema, but with most values, a policy denies all requests or none. So
// variants of it are tried, until one request is accepted with one of them and another is denied.

const (
	maxVariants  = 8
	exampleSteps = 300 // of a search with an example
)

// A Target is a version of a kind for whose objects requests are searched.
type Target struct {
	CRD     *apiextensionsv1.CustomResourceDefinition
	Engine  *engine.Engine // compiled from CRD
	Version string
	// Builtin and Subresource are as in Config.
	Builtin     *policyrequest.Builtin
	Subresource *policyrequest.Subresource
}

// Definitions returns the CRDs among documents. It ignores those that cannot be decoded.
func Definitions(documents []map[string]any) (crds []*apiextensionsv1.CustomResourceDefinition) {
	for _, doc := range documents {
		if doc["kind"] != "CustomResourceDefinition" {
			continue
		}
		data, err := json.Marshal(doc)
		if err != nil {
			continue
		}
		if crd, err := catalog.Decode(data); err == nil {
			crds = append(crds, crd)
		}
	}
	return crds
}

// Choose replaces the examples of missing objects by variants with which a request is accepted and, if possible,
// another is denied. It sets Denying and Useless. cfg has the given documents, from which compile makes a set. An
// error is ctx's or internal.
func Choose(ctx context.Context, all []Missing, targets []Target, cfg Config, compile policy.Config) error {
	if len(Examples(all)) == 0 {
		return nil
	}
	cfg.Steps, cfg.Work = exampleSteps, NewMeter(len(targets))
	c := &chooser{ctx: ctx, all: all, given: cfg.Documents, cfg: cfg, compile: compile}
	var err error
	if c.finders, err = findersOf(ctx, targets, cfg); err != nil {
		return err
	}
	for i := range all {
		if all[i].Example == nil {
			continue
		}
		if err := c.choose(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

type chooser struct {
	ctx     context.Context
	all     []Missing
	given   []map[string]any
	cfg     Config
	compile policy.Config
	finders []*Finder
}

func (c *chooser) choose(one *Missing) error {
	var best, most effects
	asked := 0
	if fits, err := one.fits(c.ctx, one.Example); err != nil {
		return err
	} else if !fits { // the policy reads a field that the CRD does not have in this form
		one.Example = one.sample
	}
	example, denying := one.Example, map[string]any(nil)
	for variant := range variants(example) {
		if fits, err := one.fits(c.ctx, variant); err != nil {
			return err
		} else if !fits {
			continue
		}
		one.Example = variant
		got, err := c.effects(one.Policy)
		if err != nil {
			return err
		}
		if asked = got.asked; got.denials > most.denials {
			most, denying = got, variant
		}
		if got.accepts && !best.accepts || got.accepts == best.accepts && got.denials > best.denials {
			best, example = got, variant
		}
		if best.accepts && most.denials == asked || asked == 0 {
			break
		}
	}
	one.Useless = !best.accepts && asked > 0
	if one.Example = example; best.accepts && most.denials > best.denials {
		one.Denying = denying
	}
	return nil
}

func findersOf(ctx context.Context, targets []Target, cfg Config) (finders []*Finder, err error) {
	for _, t := range targets {
		cfg.Builtin, cfg.Subresource = t.Builtin, t.Subresource
		f, err := New(ctx, t.CRD, t.Engine, t.Version, cfg)
		if err != nil {
			return nil, err
		}
		finders = append(finders, f)
	}
	return finders, nil
}

// effects are the effects of a policy: whether it accepts a request, and the number of its validations, and of those
// that deny a request. A mutation that changes an object counts as both.
type effects struct {
	accepts        bool
	denials, asked int
}

func (c *chooser) effects(policyName string) (got effects, err error) {
	c.cfg.Documents = slices.Concat(c.given, Examples(c.all))
	if c.cfg.Set, err = policy.Compile(c.cfg.Documents, c.compile); c.cfg.Set == nil {
		return got, err // other errors are about the given documents
	}
	denied := map[int]bool{} // by validation
	for _, f := range c.finders {
		f.cfg.Set, f.cfg.Documents = c.cfg.Set, c.cfg.Documents
		f.usePolicies()
		for _, v := range slices.Concat(f.Validations(), f.Mutations()) {
			if v.Policy != policyName {
				continue
			}
			got.asked = max(got.asked, v.Index+1)
			for _, want := range map[bool][]Want{false: {Accepted, Denied}, true: {Changed}}[v.IsMutation] {
				if want == Accepted && (got.accepts || v.Index > 0) || want != Accepted && denied[v.Index] {
					continue
				}
				a, err := f.Find(c.ctx, v, want)
				if err != nil {
					return got, err
				}
				got.accepts = got.accepts || want != Denied && a.Request != nil
				if want != Accepted && a.Request != nil {
					denied[v.Index] = true
				}
			}
		}
	}
	got.denials = len(denied)
	return got, nil
}

// variants yields an example and copies of it with a different string or bool, or without a field or an item.
func variants(example map[string]any) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		if !yield(example) {
			return
		}
		left := maxVariants
		for _, sources := range []iter.Seq[any]{toggled(example), reduced(example)} {
			for v := range sources {
				one := v.(map[string]any)
				if !reflect.DeepEqual(identity(one), identity(example)) {
					continue
				}
				if left--; left < 0 || !yield(one) {
					return
				}
			}
		}
	}
}

// identity returns the fields that a variant must not change.
func identity(of map[string]any) []any {
	meta := maps.Clone(object(of, "metadata"))
	delete(meta, "annotations")
	if of["kind"] == "Namespace" {
		delete(meta, "labels")
	}
	return []any{of["apiVersion"], of["kind"], meta}
}

// toggled yields copies of a value in which one bool or string differs.
func toggled(v any) iter.Seq[any] {
	return func(yield func(any) bool) {
		switch v := v.(type) {
		case bool:
			yield(!v)
			return
		case string:
			_ = v == requiredText || yield(requiredText)
			return
		}
		for step, child := range valuediff.Children(v) {
			for other := range toggled(child) {
				if !yield(replaced(v, step, other)) {
					return
				}
			}
		}
	}
}
