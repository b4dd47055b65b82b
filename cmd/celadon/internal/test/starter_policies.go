package test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/ruletest"
)

// readPolicies reads the policies of --policy. It leaves i.policies nil if no binding refers to any
// of them.
func (i *initial) readPolicies(ctx context.Context) error {
	kinds := namespaced(i.crds)
	read, err := policies.Read(ctx, i.Stdin, i.o.Policies, input.Selection{}, policy.Config{Namespaced: kinds})
	if err != nil {
		return fmt.Errorf("--policy: %w", err)
	}
	i.problems = slices.Concat(i.problems, read.Problems, read.Unbound)
	if len(read.Unbound) < len(read.Set.Policies()) { // otherwise the problems are reported
		i.policies = policiesIn(read, kinds)
	}
	definitions := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(i.crds))
	for _, d := range i.crds {
		if crd, err := d.decode(); err == nil {
			definitions = append(definitions, crd.Definition)
		}
	}
	if i.missing, err = requests.MissingObjects(ctx, read.Documents(), definitions); err != nil {
		return err
	}
	for n := range i.missing {
		hint := "the suite contains an example"
		if i.missing[n].Example == nil {
			hint = "add it to the policies, or its CRD with --crd for an example"
		}
		i.Complain(fmt.Errorf("note: %s: %s", i.missing[n].String(), hint))
	}
	return nil
}

func (i *initial) startBuiltin(ctx context.Context) (err error) {
	s := &ruletest.PolicyStarter{CRDPath: "-", PolicyPaths: i.policyPaths(), Policies: i.policies, Missing: i.missing, Steps: i.o.Steps, Server: builtins.Alone()}
	for _, objects := range i.samples {
		for _, object := range objects {
			apiVersion, _ := object["apiVersion"].(string)
			kind, _ := object["kind"].(string)
			if policyrequest.IsBuiltin(schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()) {
				s.Samples = append(s.Samples, object)
			}
		}
	}
	if s.Builtins, err = requests.Builtins(i.policies.Documents, s.Server, true); err != nil {
		return err
	}
	if len(s.Builtins) == 0 {
		return errors.New("the policies match no built-in kind: use --crd PATH")
	}
	return i.writePolicies(ctx, s, "policies.testsuite.yaml")
}

// policyPaths returns how suites refer to the policies: relative to the output folder.
func (i *initial) policyPaths() []string {
	paths := make([]string, len(i.o.Policies))
	for n, path := range i.o.Policies {
		paths[n] = i.pathTo(path, filepath.ToSlash(path))
	}
	return paths
}

func (i *initial) writePolicies(ctx context.Context, s *ruletest.PolicyStarter, name string) error {
	made, err := s.Suite(ctx)
	if err != nil || made == nil {
		return err
	}
	accepted := "an accepted object"
	if !made.Accepted {
		accepted = "no accepted object"
	}
	summary := fmt.Sprintf("%s; %d of %d validations with a denied object", accepted, made.Denied, made.Validations)
	return i.write(name, made.Text, summary)
}
