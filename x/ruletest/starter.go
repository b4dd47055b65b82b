package ruletest

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// Starter generates a first suite for a version of a CRD: for each rule, an object that it rejects
// and an accepted object on which it runs.
type Starter struct {
	Definition *apiextensionsv1.CustomResourceDefinition
	// Engine is compiled from Definition.
	Engine *engine.Engine
	// Version is a served version of the CRD.
	Version string
	// CRDPath is the suite's reference to its CRD.
	CRDPath string
	// Samples are objects of that version. They are preferred to generated objects.
	Samples []map[string]any
	// Search configures the search for objects.
	Search analysis.Config
}

// Started is a generated suite with statistics.
type Started struct {
	Text []byte
	// Rules is the number of rules. Accepted and Rejected count the rules with such an object, Alone
	// those with an object that no other rule rejects.
	Rules, Accepted, Rejected, Alone int
	// Limited is the reason why some rules were not searched, or "".
	Limited string
}

// Suite generates the suite. All its cases pass; a rule without an object is skipped with a reason.
// The same samples and search produce identical output. Suite returns nil if the version has no rules.
func (s *Starter) Suite(ctx context.Context) (*Started, error) {
	w := &suiteGenerator{Starter: s, ctx: ctx}
	var err error
	if w.analyzer, err = analysis.New(s.Definition, s.Engine, s.Version, s.Search); err != nil {
		return nil, err
	}
	if w.refs = w.analyzer.Rules(); len(w.refs) == 0 {
		return nil, nil
	}
	if err := w.begin(); err != nil {
		return nil, err
	}
	if err := w.findEvidence(); err != nil {
		return nil, err
	}
	writer := &suiteWriter{name: s.Definition.Spec.Names.Plural + " " + s.Version, crd: s.CRDPath, version: s.Version, definition: s.Definition, base: w.base}
	cases := w.cases()
	text, err := writer.proven(ctx, cases)
	if err != nil {
		return nil, err
	}
	return w.count(text, cases), nil
}

type suiteGenerator struct {
	*Starter
	ctx      context.Context
	analyzer *analysis.Analyzer
	refs     []engine.RuleRef
	base     map[string]any // an accepted object; nil if the search failed
	why      string         // the reason if base is nil
	shown    []*evidence    // by rule
	limited  string         // why some rules were omitted, or ""
}

// evidence holds the objects found for a rule.
type evidence struct {
	rejected, accepted *engine.Request
	alone              bool
	none               string // why no rejected object is known
	noneAccepted       string
}

// begin finds the base object of the suite.
func (w *suiteGenerator) begin() error {
	for _, sample := range w.Samples {
		res, err := w.Engine.Validate(w.ctx, engine.Request{Object: sample})
		if w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		if err == nil && res.Allowed && len(res.Strict) == 0 {
			w.base = sample
			return nil
		}
	}
	a, err := w.analyzer.Sample(w.ctx, false)
	if err != nil {
		return err
	}
	if w.why = cmp.Or(a.Reason, "not found by search"); a.Status == search.Found {
		w.base = a.Witness.Object
	}
	return nil
}

func (w *suiteGenerator) findEvidence() error {
	w.shown = make([]*evidence, len(w.refs))
	meters := work.Split(2*len(w.refs), crdcopy.Nodes(w.Definition))
	err := w.analyzer.InLanes(w.refs, meters, func(lane *analysis.Analyzer, i int) (err error) {
		if m := lane.Meter(); m.Empty() {
			w.shown[i] = &evidence{none: "no object found that the rule rejects: " + m.Reason(), noneAccepted: m.Reason()}
			return nil
		}
		before := lane.Meter().Spent()
		if w.shown[i], err = w.findRuleEvidence(lane, w.refs[i]); err != nil {
			return err
		}
		if w.shown[i].rejected == nil || w.shown[i].accepted == nil {
			lane.Meter().Unanswered(lane.Meter().Spent() - before)
		}
		return nil
	})
	for _, m := range meters {
		w.limited = cmp.Or(w.limited, m.Reason())
	}
	return err
}

func (w *suiteGenerator) findRuleEvidence(a *analysis.Analyzer, ref engine.RuleRef) (*evidence, error) {
	out := &evidence{}
	if out.rejected = w.sampled(ref, false); out.rejected != nil {
		out.alone = true
	} else if err := w.findRejection(out, a, ref); err != nil {
		return nil, err
	}
	if out.rejected != nil {
		out.rejected = w.nearBase(out.rejected, func(res *engine.Result) bool { return rejectedAlone(res, ref) })
	}
	ran := func(res *engine.Result) bool { return res.Allowed && ranIn(res, ref) }
	if req := (&engine.Request{Object: w.base, Trace: true}); w.base != nil && w.shows(req, ran) {
		out.accepted = &engine.Request{Object: w.base}
		return out, nil
	}
	if out.accepted = w.sampled(ref, true); out.accepted != nil {
		return out, nil
	}
	found, err := a.Search(w.ctx, ref, search.Accepted)
	if err != nil {
		return nil, err
	}
	if out.noneAccepted = cmp.Or(found.Reason, "not found by search"); found.Status == search.Found {
		req := found.Witness.Request()
		out.accepted = w.nearBase(&req, ran)
	}
	return out, nil
}

// findRejection searches before it looks for a proof, because the objects that a search
// accepts are of use to later searches.
func (w *suiteGenerator) findRejection(out *evidence, a *analysis.Analyzer, ref engine.RuleRef) error {
	found, err := a.Search(w.ctx, ref, search.Rejected)
	if err != nil {
		return err
	}
	if found.Status == search.Found {
		req := found.Witness.Request()
		out.rejected, out.alone = &req, found.Witness.Alone
		return nil
	}
	out.none = "no object found that the rule rejects, of " + phrase.Searched(found.Searched, found.Lists)
	if found.Reason != "" {
		out.none += ": " + found.Reason
	}
	if proof := a.Prove(ref, search.Rejected); proof != nil {
		out.none = "the rule rejects nothing: proved (" + proof.String() + ")"
	}
	return nil
}

// sampled returns the first sample that is accepted and on which the rule runs, or that only the
// rule rejects.
func (w *suiteGenerator) sampled(ref engine.RuleRef, accepted bool) *engine.Request {
	for _, sample := range w.Samples {
		req := &engine.Request{Object: sample, Trace: true}
		shows := func(res *engine.Result) bool {
			return len(res.Strict) == 0 && (accepted && res.Allowed && ranIn(res, ref) || !accepted && rejectedAlone(res, ref))
		}
		if w.shows(req, shows) {
			return &engine.Request{Object: sample}
		}
	}
	return nil
}

func (w *suiteGenerator) shows(req *engine.Request, wanted func(*engine.Result) bool) bool {
	res, err := w.Engine.Validate(w.ctx, *req)
	return err == nil && wanted(res)
}

// ranIn reports whether a rule was evaluated.
func ranIn(res *engine.Result, ref engine.RuleRef) bool {
	return slices.ContainsFunc(res.Rules, func(r engine.RuleResult) bool { return r.RuleRef == ref && r.Runs > 0 })
}

// rejectedAlone reports whether only the rule at ref rejects the write.
func rejectedAlone(res *engine.Result, ref engine.RuleRef) bool {
	return len(res.Causes) > 0 && !slices.ContainsFunc(res.Causes, func(c engine.Cause) bool { return c.Rule == nil || *c.Rule != ref })
}

// cases returns the cases for all rules. An accepted object that serves several rules occurs once.
func (w *suiteGenerator) cases() (all []*started) {
	if w.base != nil {
		all = append(all, &started{name: "base is accepted", req: &engine.Request{Object: w.base}})
	}
	for i, ref := range w.refs {
		one, name := w.shown[i], phrase.Rule(ref.Path, ref.Index)
		rejected := &started{name: name + ": rejected", comment: ref.Rule, req: one.rejected, skip: one.none}
		if one.rejected != nil {
			rejected.causes = w.causes(one.rejected)
		}
		all = append(all, rejected)
		if one.accepted == nil {
			all = append(all, &started{name: name + ": accepted", skip: "no accepted object found on which the rule runs: " + one.noneAccepted})
			continue
		}
		if !slices.ContainsFunc(all, func(c *started) bool { return c.req != nil && len(c.causes) == 0 && sameWrite(c.req, one.accepted) }) {
			all = append(all, &started{name: name + ": accepted", req: one.accepted})
		}
	}
	return all
}

func sameWrite(a, b *engine.Request) bool {
	return a.Subresource == b.Subresource && reflect.DeepEqual(a.Object, b.Object) && reflect.DeepEqual(a.OldObject, b.OldObject)
}

// causes returns the causes with which the engine rejects a write.
func (w *suiteGenerator) causes(req *engine.Request) []engine.Cause {
	res, err := w.Engine.Validate(w.ctx, *req)
	if err != nil || res.Allowed {
		return nil // reported when the suite is run
	}
	return causesOf(res)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func (w *suiteGenerator) count(text []byte, cases []*started) *Started {
	out := &Started{Text: text, Rules: len(w.refs), Limited: w.limited}
	gone := map[string]bool{}
	for _, c := range cases {
		gone[c.name] = c.skip != ""
	}
	for i, one := range w.shown {
		name := phrase.Rule(w.refs[i].Path, w.refs[i].Index)
		if one.rejected != nil && !gone[name+": rejected"] {
			out.Rejected++
			if one.alone {
				out.Alone++
			}
		}
		if one.accepted != nil && !gone[name+": accepted"] {
			out.Accepted++
		}
	}
	return out
}
