package ruletest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// How it works: each sample and each request that a search finds is a candidate. All candidates run as
// the cases of a suite, whose report has their decisions. An accepted candidate becomes the base, and
// each validation gets a candidate that it denies. The suite is then written with the decisions as
// expectations, and run.

// PolicyStarter generates a first suite for policies: if they are found, an accepted object, and for each validation
// an object that it denies.
type PolicyStarter struct {
	// Definition is the CRD of the objects, and Engine is compiled from it. Both are nil for built-in kinds.
	Definition *apiextensionsv1.CustomResourceDefinition
	Engine     *engine.Engine
	// Version is a served version of the CRD.
	Version string
	// CRDPath and PolicyPaths are the suite's references.
	CRDPath     string
	PolicyPaths []string
	Policies    *Policies
	Samples     []map[string]any
	// Missing are the objects that the policies need and lack. The cases contain the examples of
	// them.
	Missing []requests.Missing
	// Server validates the writes of built-in kinds, as in Config.
	Server policyrequest.Server
	// Builtins are the built-in kinds for which objects are searched if Definition is nil.
	Builtins []requests.BuiltinKind
	// Steps limits the requests to try for each validation.
	Steps int
}

// StartedPolicies is a generated suite. Validations is the number of validations, and Denied the
// number of those with an object that they deny. Accepted is set if there is an accepted object.
type StartedPolicies struct {
	Text                []byte
	Validations, Denied int
	Accepted            bool
}

// Suite generates the suite. All its cases pass or are skipped with a reason. Suite returns nil if no policy matches
// the kinds.
func (s *PolicyStarter) Suite(ctx context.Context) (*StartedPolicies, error) {
	g := &policyGenerator{PolicyStarter: s, ctx: ctx, suiteWriter: suiteWriter{
		name: "policies", crd: s.CRDPath, version: s.Version, definition: s.Definition, policies: s.PolicyPaths, missing: s.Missing,
		config: Config{Server: s.Server, Policies: func(*Suite) (*Policies, []error) { return s.Policies, nil }},
	}}
	if s.Definition != nil {
		g.name += " of " + s.Definition.Spec.Names.Plural + " " + s.Version
	}
	if err := g.find(); err != nil || len(g.validations) == 0 {
		return nil, err
	}
	for i, c := range g.candidates {
		c.name = fmt.Sprint(i)
	}
	_, reports, err := g.run(ctx, g.candidates)
	if err != nil {
		return nil, err
	}
	cases := g.cases(reports)
	text, err := g.proven(ctx, cases)
	if err != nil {
		return nil, err
	}
	out := &StartedPolicies{Text: text, Validations: len(g.validations), Accepted: cases[0].skip == ""}
	for _, c := range cases[1:] {
		if c.skip == "" {
			out.Denied++
		}
	}
	return out, nil
}

type policyGenerator struct {
	*PolicyStarter
	suiteWriter
	ctx         context.Context
	validations []requests.Validation
	answers     []*requests.Answer
	candidates  []*started
	denying     bool // uses Missing.Denying
}

func (g *policyGenerator) find() error {
	for _, sample := range g.Samples {
		g.candidates = append(g.candidates, &started{req: &engine.Request{Object: sample}, operation: opCreate})
	}
	if err := g.findWith(requests.Examples(g.Missing)); err != nil {
		return err
	}
	denying := requests.DenyingExamples(g.Missing)
	if g.denying = denying != nil; !g.denying {
		return nil
	}
	return g.findWith(denying)
}

// findWith searches for the requests that are not found yet.
func (g *policyGenerator) findWith(examples []map[string]any) error {
	cfg := requests.Config{Set: g.Policies.Set, Documents: g.Policies.Documents, User: policyrequest.User("", nil), Steps: g.Steps, Seed: 1}
	if len(examples) > 0 {
		cfg.Documents = slices.Concat(cfg.Documents, examples)
		var err error
		if cfg.Set, err = policy.Compile(cfg.Documents, policy.Config{Namespaced: g.Policies.Namespaced}); cfg.Set == nil {
			return err // other errors are about the given documents
		}
	}
	if g.Definition != nil {
		return g.search(g.Definition, g.Engine, g.Version, cfg)
	}
	for _, b := range g.Builtins {
		e, err := engine.Compile(b.CRD, engine.Config{})
		if err != nil {
			return err
		}
		for _, v := range b.CRD.Spec.Versions {
			if cfg.Builtin, cfg.Subresource = b.Versions[v.Name], b.Subresource; cfg.Builtin == nil && cfg.Subresource == nil {
				continue
			}
			if err := g.search(b.CRD, e, v.Name, cfg); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *policyGenerator) search(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, version string, cfg requests.Config) error {
	f, err := requests.New(g.ctx, crd, e, version, cfg)
	if err != nil {
		return err
	}
	for _, v := range f.Validations() {
		i := slices.Index(g.validations, v)
		if i < 0 {
			i = len(g.validations)
			g.validations, g.answers = append(g.validations, v), append(g.answers, nil)
		}
		isFirst := !slices.ContainsFunc(g.validations[:i], func(other requests.Validation) bool { return other.Policy == v.Policy })
		if isFirst && g.answers[i] == nil {
			if _, err := g.ask(f, v, requests.Accepted); err != nil {
				return err
			}
		}
		if g.answers[i] == nil || g.answers[i].Request == nil {
			if g.answers[i], err = g.ask(f, v, requests.Denied); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *policyGenerator) ask(f *requests.Finder, v requests.Validation, want requests.Want) (*requests.Answer, error) {
	a, err := f.Find(g.ctx, v, want)
	if err == nil && a.Request != nil {
		c := caseOf(a.Request)
		c.denying = g.denying
		g.candidates = append(g.candidates, c)
	}
	return a, err
}

func caseOf(req *policy.Request) *started {
	write := &engine.Request{Object: written(req.Object, req), OldObject: written(req.OldObject, req)}
	c := &started{req: write, user: req.User, operation: opCreate}
	switch req.Operation {
	case policy.OperationUpdate: // in other requests, the kind of the object implies the subresource
		c.operation, write.Subresource = opUpdate, req.Subresource
	case policy.OperationDelete:
		c.operation, write.Object, write.OldObject = opDelete, write.OldObject, nil
	}
	return c
}

// written returns an object without the generation, which a server sets, and with the namespace of the
// request, unless that is the default.
func written(obj map[string]any, req *policy.Request) map[string]any {
	if obj == nil {
		return nil
	}
	obj = maps.Clone(obj)
	meta := metadata(obj)
	delete(meta, "generation")
	if delete(meta, "namespace"); req.Namespace != "" && req.Namespace != metav1.NamespaceDefault {
		meta["namespace"] = req.Namespace
	}
	obj["metadata"] = meta
	return obj
}

func (g *policyGenerator) cases(reports []*CaseReport) (all []*started) {
	pick := func(wanted func(*Got) bool) *started {
		for i, r := range reports {
			if r.Got != nil && r.Outcome != Error && wanted(r.Got) {
				c := *g.candidates[i]
				c.decisions = r.Got.Policies
				return &c
			}
		}
		return nil
	}
	accepted := pick(func(got *Got) bool { return got.Verdict == "valid" && len(got.Policies) == 0 })
	if accepted == nil {
		accepted = &started{skip: "no request was found that all policies accept: add an object, and remove this line"}
	} else {
		g.base = accepted.req.Object
	}
	accepted.name = "accepted"
	all = append(all, accepted)
	for i, v := range g.validations {
		denies := func(d policyrequest.Decision) bool {
			return d.Policy == v.Policy && d.Validation == v.Index && !d.Error
		}
		c := pick(func(got *Got) bool {
			return slices.ContainsFunc(got.Policies, denies) && !slices.ContainsFunc(got.Policies, func(d policyrequest.Decision) bool { return !denies(d) })
		})
		if c == nil {
			c = pick(func(got *Got) bool { return slices.ContainsFunc(got.Policies, denies) })
		}
		if c == nil {
			why := cmp.Or(g.answers[i].Reason, "add an object, and remove this line")
			c = &started{skip: fmt.Sprintf("no request was found that this validation denies (%d tried): %s", g.answers[i].Tried, why)}
		}
		c.name, c.comment = fmt.Sprintf("policy %s, validation %d: denied", v.Policy, v.Index), v.Expression
		all = append(all, c)
	}
	return all
}

func (c *started) writeUser(b *bytes.Buffer) {
	if usual := policyrequest.User("", nil); c.user.Name == "" || reflect.DeepEqual(c.user, usual) {
		return
	}
	user := map[string]any{"name": c.user.Name, "groups": list(c.user.Groups)}
	if len(c.user.Extra) > 0 {
		user["extra"] = c.user.Extra
	}
	writeField(b, "  ", "user", user)
}

func (c *started) writeMissing(b *bytes.Buffer, missing []requests.Missing) {
	var params []any
	for _, one := range missing {
		if c.denying && one.Denying != nil {
			one.Example = one.Denying
		}
		switch {
		case one.Example == nil:
		case one.Binding != "":
			params = append(params, one.Example)
		default:
			_, namespace := names(c.req.Object)
			meta := maps.Clone(metadata(one.Example))
			meta["name"] = cmp.Or(namespace, metav1.NamespaceDefault)
			writeField(b, "  ", "namespace", map[string]any{"metadata": meta})
		}
	}
	if len(params) > 0 {
		writeField(b, "  ", "params", params)
	}
}
