package ruletest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// How it works: each sample and each request that a search finds is a candidate. All candidates run as
// the cases of a suite, whose report has their decisions. An accepted candidate becomes the base, and
// each validation gets a candidate that it denies. The suite is then written with the decisions as
// expectations, and run.

// PolicyStarter generates a first suite for policies: an accepted object, and for each validation an
// object that it denies.
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
	// Missing are the objects that the policies need and lack. The cases contain their examples.
	Missing []requests.Missing
	// Server validates the writes of built-in kinds, as in Config.
	Server policyrequest.Server
	// Builtins are the built-in kinds for which objects are searched, without a Definition.
	Builtins []requests.BuiltinKind
	// Steps is the number of requests to try for each validation.
	Steps int
}

// StartedPolicies is a generated suite. Validations is the number of validations, and Denied the number
// of those with a case. Accepted is set if there is an accepted object.
type StartedPolicies struct {
	Text                []byte
	Validations, Denied int
	Accepted            bool
}

// Suite generates the suite. All its cases pass; a validation without an object is skipped with a
// reason. Suite returns nil if no policy matches the CRD.
func (s *PolicyStarter) Suite(ctx context.Context) (*StartedPolicies, error) {
	g := &policyGenerator{PolicyStarter: s, ctx: ctx}
	if err := g.find(); err != nil || len(g.validations) == 0 {
		return nil, err
	}
	reports, err := g.probe()
	if err != nil {
		return nil, err
	}
	return g.proven(g.cases(reports))
}

// policyGenerator is the state of generating a suite for policies.
type policyGenerator struct {
	*PolicyStarter
	ctx         context.Context
	validations []requests.Validation
	answers     []*requests.Answer // by validation
	candidates  []*policyCase
	base        map[string]any
}

// policyCase is a case of the suite.
type policyCase struct {
	name, comment, skip string
	object, old         map[string]any
	operation           string
	subresource         string
	user                policy.User
	decisions           []policyrequest.Decision
}

// find fills the candidates: samples, then requests that are found by search.
func (g *policyGenerator) find() error {
	for _, sample := range g.Samples {
		g.candidates = append(g.candidates, &policyCase{object: sample, operation: opCreate})
	}
	cfg := requests.Config{Set: g.Policies.Set, Documents: g.Policies.Documents, User: policyrequest.User("", nil), Steps: g.Steps, Seed: 1}
	if examples := requests.Examples(g.Missing); len(examples) > 0 {
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
		if cfg.Subresource = b.Subresource; cfg.Subresource != nil {
			cfg.Builtin = nil
			if err := g.search(b.CRD, e, b.CRD.Spec.Versions[0].Name, cfg); err != nil {
				return err
			}
		}
		for _, version := range slices.Sorted(maps.Keys(b.Versions)) {
			cfg.Builtin = b.Versions[version]
			if err := g.search(b.CRD, e, version, cfg); err != nil {
				return err
			}
		}
	}
	return nil
}

// search adds the validations of policies that match a kind, and candidates for those that have no denied object.
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

// ask searches for a request and adds it to the candidates.
func (g *policyGenerator) ask(f *requests.Finder, v requests.Validation, want requests.Want) (*requests.Answer, error) {
	a, err := f.Find(g.ctx, v, want)
	if err == nil && a.Request != nil {
		g.candidates = append(g.candidates, caseOf(a.Request))
	}
	return a, err
}

func caseOf(req *policy.Request) *policyCase {
	c := &policyCase{object: written(req.Object, req), old: written(req.OldObject, req), subresource: req.Subresource, user: req.User}
	switch req.Operation {
	case policy.OperationUpdate:
		c.operation = opUpdate
	case policy.OperationDelete:
		c.operation, c.object, c.old = opDelete, c.old, nil
	default: // the kind of the object implies a connection, and the subresource
		c.operation, c.subresource = opCreate, ""
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

// probe runs all candidates and returns their reports.
func (g *policyGenerator) probe() ([]*CaseReport, error) {
	if len(g.candidates) == 0 {
		return nil, nil
	}
	for i, c := range g.candidates {
		c.name = fmt.Sprint(i)
	}
	return g.run(g.candidates)
}

func (g *policyGenerator) run(cases []*policyCase) ([]*CaseReport, error) {
	s := Parse(g.CRDPath, 1, g.write(cases))
	crds := []*CRD{{File: g.CRDPath, Definition: g.Definition}}
	if g.Definition == nil {
		crds = nil
	}
	runner := New(Config{Server: g.Server, Policies: func(*Suite) (*Policies, []error) { return g.Policies, nil }})
	report := runner.Run(g.ctx, s, crds, nil)
	switch {
	case g.ctx.Err() != nil:
		return nil, g.ctx.Err()
	case len(report.Errors) > 0 || len(report.Cases) != len(cases):
		return nil, fmt.Errorf("the suite cannot be read: %v", report.Errors)
	}
	return report.Cases, nil
}

// cases returns the cases for all validations, given the reports on the candidates.
func (g *policyGenerator) cases(reports []*CaseReport) (all []*policyCase) {
	pick := func(wanted func(*Got) bool) *policyCase {
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
		accepted = &policyCase{skip: "no request was found that all policies accept: add an object, and remove this line"}
	} else {
		g.base = accepted.object
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
			c = &policyCase{skip: fmt.Sprintf("no request was found that this validation denies (%d tried): %s", g.answers[i].Tried, why)}
		}
		c.name, c.comment = fmt.Sprintf("policy %s, validation %d: denied", v.Policy, v.Index), v.Expression
		all = append(all, c)
	}
	return all
}

// proven writes and runs the suite. It repeats without the cases that do not pass.
func (g *policyGenerator) proven(cases []*policyCase) (*StartedPolicies, error) {
	for {
		reports, err := g.run(cases)
		if err != nil {
			return nil, err
		}
		passed := true
		for i, r := range reports {
			if c := cases[i]; c.skip == "" && r.Outcome != Passed {
				passed = false
				*c = policyCase{name: c.name, comment: c.comment, skip: "the object that was found does not pass after it is written to the suite: " + firstLine(r.Message)}
			}
		}
		if !passed {
			continue
		}
		out := &StartedPolicies{Text: g.write(cases), Validations: len(g.validations), Accepted: cases[0].skip == ""}
		for _, c := range cases[1:] {
			if c.skip == "" {
				out.Denied++
			}
		}
		return out, nil
	}
}

// write returns the suite as YAML.
func (g *policyGenerator) write(cases []*policyCase) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Written by celadon test init. Each case passed when it was written. Edit as you like.\nkind: %s\napiVersion: %s\n", Kind, APIVersion)
	if g.Definition != nil {
		writeField(&b, "", "name", "policies of "+g.Definition.Spec.Names.Plural+" "+g.Version)
		writeField(&b, "", "crd", g.CRDPath)
		writeField(&b, "", "version", g.Version)
	} else {
		writeField(&b, "", "name", "policies")
	}
	paths := make([]any, len(g.PolicyPaths))
	for i, path := range g.PolicyPaths {
		paths[i] = path
	}
	writeField(&b, "", "policies", paths)
	base := g.base
	if base != nil {
		writeField(&b, "", "base", base)
	}
	b.WriteString("tests:\n")
	for _, c := range cases {
		for line := range strings.Lines(strings.TrimSpace(c.comment)) {
			fmt.Fprintf(&b, "# %s\n", untrusted.Line(strings.TrimRight(line, "\n")))
		}
		var one bytes.Buffer
		c.write(&one, base, g.Missing)
		b.WriteString("- ")
		b.Write(one.Bytes()[2:])
	}
	return b.Bytes()
}

// write writes a case, whose objects are patches of base if that is shorter.
func (c *policyCase) write(b *bytes.Buffer, base map[string]any, missing []requests.Missing) {
	writeField(b, "  ", "name", c.name)
	if c.skip != "" {
		writeField(b, "  ", "skip", c.skip)
		return
	}
	w := &suiteGenerator{base: base}
	if c.operation == opDelete {
		writeField(b, "  ", "operation", c.operation)
	}
	if c.subresource != "" {
		writeField(b, "  ", "subresource", c.subresource)
	}
	if base == nil || !reflect.DeepEqual(c.object, base) || c.old != nil {
		w.put(b, "object", "patch", c.object)
	}
	if c.old != nil {
		w.put(b, "old", "oldPatch", c.old)
	}
	if usual := policyrequest.User("", nil); c.user.Name != "" && !reflect.DeepEqual(c.user, usual) {
		user := map[string]any{"name": c.user.Name, "groups": list(c.user.Groups)}
		if len(c.user.Extra) > 0 {
			extra := map[string]any{}
			for key, values := range c.user.Extra {
				extra[key] = list(values)
			}
			user["extra"] = extra
		}
		writeField(b, "  ", "user", user)
	}
	c.writeMissing(b, missing)
	c.writeExpected(b)
}

// writeMissing writes the Namespace of the object and the params objects, if they are missing.
func (c *policyCase) writeMissing(b *bytes.Buffer, missing []requests.Missing) {
	var params []any
	for _, one := range missing {
		switch {
		case one.Example == nil:
		case one.Binding != "":
			params = append(params, one.Example)
		default:
			_, namespace := names(c.object)
			meta := maps.Clone(metadata(one.Example))
			meta["name"] = cmp.Or(namespace, metav1.NamespaceDefault)
			writeField(b, "  ", "namespace", map[string]any{"metadata": meta})
		}
	}
	if len(params) > 0 {
		writeField(b, "  ", "params", params)
	}
}

// writeExpected writes the decisions with their keys in the usual order.
func (c *policyCase) writeExpected(b *bytes.Buffer) {
	if len(c.decisions) == 0 {
		b.WriteString("  expect:\n    policies: []\n")
		return
	}
	b.WriteString("  expect:\n    policies:\n")
	for _, d := range c.decisions {
		var one bytes.Buffer
		writeField(&one, "      ", "policy", d.Policy)
		writeField(&one, "      ", "binding", d.Binding)
		writeField(&one, "      ", "validation", int64(d.Validation))
		writeField(&one, "      ", "action", d.Action)
		if !strings.HasPrefix(d.Message, "~") {
			writeField(&one, "      ", "message", d.Message)
		}
		b.WriteString("    - ")
		b.Write(one.Bytes()[6:])
	}
}
