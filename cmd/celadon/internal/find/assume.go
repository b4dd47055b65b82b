package find

import (
	"context"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/requests"
)

// assume adds examples of the params objects and Namespaces that the policies need and lack, and prints them. A
// comparison of policies uses no examples, because its result must not depend on them.
func (both *bothPolicies) assume(ctx context.Context, s command.Streams, o *Options, crds []*definition) error {
	if both == nil {
		return nil
	}
	if both.set, both.documents = both.Set, both.Documents(); both.old != nil {
		return nil
	}
	definitions := make([]*apiextensionsv1.CustomResourceDefinition, len(crds))
	for i, crd := range crds {
		definitions[i] = crd.crd
	}
	missing, err := requests.MissingObjects(ctx, both.documents, definitions)
	if err != nil {
		return err
	}
	var b strings.Builder
	for i := range missing {
		one := &missing[i]
		if one.Example == nil {
			untrusted.Fprintf(&b, "note: %s: add it with --policy, or its CRD with --crd for an example\n", one.String())
			continue
		}
		untrusted.Fprintf(&b, "note: %s: add it with --policy; until then, this example is used:\n", one.String())
		if err := indented(&b, "  ", one.Example); err != nil {
			return err
		}
	}
	if _, err := untrusted.NewWriter(s.Stderr).Write([]byte(b.String())); err != nil {
		return err
	}
	if both.assumed = requests.Examples(missing); len(both.assumed) == 0 {
		return nil
	}
	both.documents = slices.Concat(both.documents, both.assumed)
	both.set, err = policy.Compile(both.documents, policy.Config{KubeVersion: o.KubeVersion})
	if both.set == nil {
		return err
	}
	return nil // the errors of documents are reported
}
