package find

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

var errNoPolicyMatches = errors.New("no policy matches the resources of the CRDs, or built-in ones for which find makes objects: " +
	"check spec.matchConstraints.resourceRules (servers evaluate no policy for policies and bindings)")

// withOwn adds the CRDs among the policies.
func (both *bothPolicies) withOwn(all []*definition) []*definition {
	if both == nil {
		return all
	}
	for _, crd := range requests.Definitions(both.Documents()) {
		if !slices.ContainsFunc(all, func(d *definition) bool { return d.crd.Name == crd.Name }) {
			file, _, _ := strings.Cut(both.Locate("CustomResourceDefinition", crd.Name, ""), ":")
			all = append(all, &definition{file: file, crd: crd})
		}
	}
	return all
}

// asked returns all without the CRDs that only define the params of policies, and with descriptions of the
// built-in kinds whose resources the policies name. If no CRDs remain, a typical kind is used for *. If there is
// nothing to ask about, it returns all. both may be nil.
func (both *bothPolicies) asked(server policyrequest.Server, all []*definition) (crds []*definition, err error) {
	if both == nil {
		return all, nil
	}
	documents := both.Documents()
	if both.old != nil {
		documents = slices.Concat(documents, both.old.Documents())
	}
	for _, d := range all {
		if !requests.DefinesParams(documents, d.crd) {
			crds = append(crds, d)
		}
	}
	kinds, err := requests.Builtins(documents, server, len(crds) == 0)
	for _, k := range kinds {
		crds = append(crds, &definition{file: "Kubernetes " + k.Release, crd: k.CRD, builtins: k.Versions, subresource: k.Subresource})
	}
	if len(crds) == 0 {
		return all, err
	}
	return crds, err
}

// choose improves the examples of missing objects.
func (both *bothPolicies) choose(ctx context.Context, o *Options, missing []requests.Missing, asked []*definition) error {
	var targets []requests.Target
	for _, d := range asked {
		e, _ := engine.Compile(d.crd, engine.Config{KubeVersion: o.KubeVersion}) // an error is reported later
		if e == nil || len(requests.Examples(missing)) == 0 {
			continue
		}
		for _, version := range e.Info().Versions {
			if (o.Version == "" || version == o.Version) && (d.builtins == nil || d.builtins[version] != nil) {
				targets = append(targets, requests.Target{CRD: d.crd, Engine: e, Version: version, Builtin: d.builtins[version], Subresource: d.subresource})
			}
		}
	}
	cfg := requests.Config{Set: both.set, Documents: both.documents, User: policyrequest.User("", nil), Seed: o.Seed, Now: time.Now()}
	return requests.Choose(ctx, missing, targets, cfg, policy.Config{KubeVersion: o.KubeVersion})
}

func definitionsOf(crds []*definition) []*apiextensionsv1.CustomResourceDefinition {
	definitions := make([]*apiextensionsv1.CustomResourceDefinition, len(crds))
	for i, crd := range crds {
		definitions[i] = crd.crd
	}
	return definitions
}

// assume adds examples of missing objects to the policies. A comparison of policies uses none, because its result must
// not depend on them. crds are all CRDs, and asked are those about whose objects find asks.
func (both *bothPolicies) assume(
	ctx context.Context, s command.Streams, o *Options, crds, asked []*definition,
) error {
	if both == nil {
		return nil
	}
	if both.set, both.documents = both.Set, both.Documents(); both.old != nil {
		return nil
	}
	missing, err := requests.MissingObjects(ctx, both.documents, definitionsOf(crds))
	if err != nil {
		return err
	}
	if err := both.choose(ctx, o, missing, asked); err != nil {
		return err
	}
	var b strings.Builder
	for i := range missing {
		one := &missing[i]
		if one.Example == nil {
			untrusted.Fprintf(&b, "note: %s: add it with --policy, or its CRD with --crd for an example\n", one.String())
			continue
		}
		used := "this example is used"
		if one.Useless {
			used += ", with which no accepted request was found"
		}
		untrusted.Fprintf(&b, "note: %s: add it with --policy; until then, %s:\n", one.String(), used)
		indented(&b, "  ", one.Example)
	}
	if _, err := untrusted.NewWriter(s.Stderr).Write([]byte(b.String())); err != nil {
		return err
	}
	if both.assumed = requests.Examples(missing); len(both.assumed) == 0 {
		return nil
	}
	if examples := requests.DenyingExamples(missing); examples != nil {
		both.denying = &bothPolicies{assumed: examples, documents: both.documents}
		if err := both.denying.complete(o); err != nil {
			return err
		}
	}
	return both.complete(o)
}

// complete adds the assumed objects to the policies.
func (both *bothPolicies) complete(o *Options) (err error) {
	both.documents = slices.Concat(both.documents, both.assumed)
	both.set, err = policy.Compile(both.documents, policy.Config{KubeVersion: o.KubeVersion})
	if both.set == nil {
		return err
	}
	return nil // the errors of documents have been reported
}
