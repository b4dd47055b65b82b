package ruletest

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// Starter generates a first suite for a version of a CRD: for each rule, if they are found, an object that it rejects
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
	// Rules is the number of rules. Rejected and Accepted count the rules with an object that they
	// reject, and with an accepted object on which they run. Alone counts the rules with an object
	// that no other rule rejects.
	Rules, Accepted, Rejected, Alone int
	// Limited is the reason why the search for the objects of some rules was cut short, or "".
	Limited string
}

// Suite generates the suite. All its cases pass or are skipped with a reason. Suite returns nil if the version has no
// rules.
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
	text, err := writer.proven(ctx, w.cases())
	if err != nil {
		return nil, err
	}
	return w.count(text), nil
}

type suiteGenerator struct {
	*Starter
	ctx      context.Context
	analyzer *analysis.Analyzer
	refs     []engine.RuleRef
	base     map[string]any // an accepted object; nil if the search failed
	why      string
	shown    []*evidence
	limited  string
}

type evidence struct {
	rejected, accepted *engine.Request
	alone              bool
	none               string // why no rejected object is known
	noneAccepted       string
	cases              [2]*started // of rejected and accepted; the second is nil if another case has its object
}

func (w *suiteGenerator) begin() error {
	if sample := w.sampled(func(res *engine.Result) bool { return res.Allowed }); sample != nil {
		w.base = sample.Object
		return nil
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
	rejects := func(res *engine.Result) bool { return rejectedAlone(res, ref) }
	if out.rejected = w.sampled(rejects); out.rejected != nil {
		out.alone = true
	} else if err := w.findRejection(out, a, ref); err != nil {
		return nil, err
	}
	if out.rejected != nil {
		out.rejected = w.nearBase(out.rejected, rejects)
	}
	ran := func(res *engine.Result) bool { return res.Allowed && ranIn(res, ref) }
	if out.accepted = w.sampled(ran); out.accepted != nil {
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

// findRejection searches even if there is a proof, because the search collects accepted objects from which
// later searches start.
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

// sampled returns a create of the base object or a sample that has the wanted result and no unknown fields, or nil.
func (w *suiteGenerator) sampled(wanted func(*engine.Result) bool) *engine.Request {
	for _, sample := range slices.Concat([]map[string]any{w.base}, w.Samples) {
		req := engine.Request{Object: sample}
		if sample != nil && w.shows(req, func(res *engine.Result) bool { return len(res.Strict) == 0 && wanted(res) }) {
			return &req
		}
	}
	return nil
}

// The result that wanted gets has Rules.
func (w *suiteGenerator) shows(req engine.Request, wanted func(*engine.Result) bool) bool {
	req.Trace = true
	res, err := w.Engine.Validate(w.ctx, req)
	return err == nil && wanted(res)
}

func ranIn(res *engine.Result, ref engine.RuleRef) bool {
	return slices.ContainsFunc(res.Rules, func(r engine.RuleResult) bool { return r.RuleRef == ref && r.Runs > 0 })
}

func rejectedAlone(res *engine.Result, ref engine.RuleRef) bool {
	return len(res.Causes) > 0 && !slices.ContainsFunc(res.Causes, func(c engine.Cause) bool { return c.Rule == nil || *c.Rule != ref })
}

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
		one.cases[0] = rejected
		accepted := &started{name: name + ": accepted", req: one.accepted}
		if one.accepted == nil {
			accepted.skip = "no accepted object found on which the rule runs: " + one.noneAccepted
		} else if slices.ContainsFunc(all, func(c *started) bool {
			return c.req != nil && len(c.causes) == 0 && reflect.DeepEqual(c.req, one.accepted)
		}) {
			continue
		}
		all = append(all, accepted)
		one.cases[1] = accepted
	}
	return all
}

func (w *suiteGenerator) causes(req *engine.Request) []engine.Cause {
	res, err := w.Engine.Validate(w.ctx, *req)
	if err != nil || res.Allowed {
		return nil // reported when the suite is run
	}
	return causesOf(res)
}

func (w *suiteGenerator) count(text []byte) *Started {
	out := &Started{Text: text, Rules: len(w.refs), Limited: w.limited}
	for _, one := range w.shown {
		if one.cases[0].skip == "" {
			out.Rejected++
			if one.alone {
				out.Alone++
			}
		}
		if accepted := one.cases[1]; accepted == nil || accepted.skip == "" {
			out.Accepted++
		}
	}
	return out
}
