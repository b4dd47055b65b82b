package test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/ruletest"
)

// startPolicies writes a suite of the policies for each version of the CRDs that they match. Without
// CRDs, it writes a suite for built-in kinds. It returns the number of suites.
func (i *initial) startPolicies(ctx context.Context, step func()) (written int, err error) {
	read, err := policies.Read(ctx, i.Stdin, i.o.Policies, input.Selection{}, policy.Config{})
	if err != nil {
		return 0, fmt.Errorf("--policy: %w", err)
	}
	for _, problem := range slices.Concat(read.Problems, read.Unbound) {
		i.problems = append(i.problems, problem)
	}
	if len(read.Unbound) == len(read.Set.Policies()) {
		return 0, nil // the problems are reported
	}
	p := &ruletest.Policies{Documents: read.Documents(), Set: read.Set, Validation: read.Validation}
	if len(i.crds) == 0 {
		return i.startBuiltin(ctx, p, step)
	}
	for _, d := range i.crds {
		n, err := i.startPoliciesOf(ctx, d, p, step)
		if err != nil {
			return written, fmt.Errorf("%s: %w", d.file, err)
		}
		written += n
	}
	return written, nil
}

// startPoliciesOf writes a suite for each served version of a CRD that the policies match.
func (i *initial) startPoliciesOf(ctx context.Context, d *definition, p *ruletest.Policies, step func()) (written int, err error) {
	read, err := d.decode()
	if err != nil {
		return 0, err
	}
	crd := read.Definition
	e, err := engine.Compile(crd, engine.Config{})
	if e == nil {
		return 0, err
	}
	for _, v := range crd.Spec.Versions {
		if !v.Served {
			continue
		}
		if err := resource.CheckNames(crd.Name, v.Name); err != nil && i.o.Out != "" {
			return written, err
		}
		s := &ruletest.PolicyStarter{
			Definition: crd, Engine: e, Version: v.Name, CRDPath: i.pathTo(d.file, crd.Name), PolicyPaths: i.policyPaths(), Policies: p,
			Samples: i.samples[fmt.Sprint(crd.Spec.Group+"/"+v.Name, " ", crd.Spec.Names.Kind)], Steps: i.o.Steps,
		}
		made, err := s.Suite(ctx)
		if err != nil || made == nil {
			return written, err
		}
		if err := i.writePolicies(d.name+"-"+v.Name+"-policies.testsuite.yaml", made); err != nil {
			return written, err
		}
		written++
		step()
	}
	return written, nil
}

// startBuiltin writes a suite for the samples of built-in kinds.
func (i *initial) startBuiltin(ctx context.Context, p *ruletest.Policies, step func()) (written int, err error) {
	s := &ruletest.PolicyStarter{CRDPath: "-", PolicyPaths: i.policyPaths(), Policies: p, Steps: i.o.Steps}
	for _, objects := range i.samples {
		for _, object := range objects {
			apiVersion, _ := object["apiVersion"].(string)
			kind, _ := object["kind"].(string)
			if policyrequest.IsBuiltin(schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()) {
				s.Samples = append(s.Samples, object)
			}
		}
	}
	if len(s.Samples) == 0 {
		if s.Fallback, err = policyrequest.ExampleOf(p.Documents); err != nil {
			return 0, err
		}
		if s.Fallback == nil {
			return 0, errors.New("the policies match no built-in kind by name: use --crd PATH, or --from SAMPLES")
		}
	}
	made, err := s.Suite(ctx)
	if err != nil || made == nil {
		return 0, err
	}
	step()
	return 1, i.writePolicies("policies.testsuite.yaml", made)
}

// policyPaths returns how suites refer to the policies: relative to the output folder.
func (i *initial) policyPaths() []string {
	paths := make([]string, len(i.o.Policies))
	for n, path := range i.o.Policies {
		paths[n] = i.pathTo(path, filepath.ToSlash(path))
	}
	return paths
}

// writePolicies writes a suite, and prints a summary.
func (i *initial) writePolicies(name string, made *ruletest.StartedPolicies) error {
	accepted := "an accepted object"
	if !made.Accepted {
		accepted = "no accepted object"
	}
	return i.writeText(name, made.Text, fmt.Sprintf("%s; %d of %d validations with a denied object", accepted, made.Denied, made.Validations))
}

// checkPolicies returns an error if the flags about policies are invalid.
func (o *InitOptions) checkPolicies() error {
	for _, path := range o.Policies {
		if path == "-" {
			return errors.New("--policy -: a suite refers to files: want a file or a folder")
		}
		if strings.TrimSpace(path) == "" {
			return errors.New("--policy: the path is empty: want a file or a folder")
		}
	}
	return nil
}
