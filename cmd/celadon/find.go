package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/find"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/internal/foreign"
)

func (a *app) findCommand() *cobra.Command {
	var o find.Options
	cmd := &cobra.Command{
		Use:   "find --crd PATH",
		Short: "Find the object that a rule refuses, accepts or fails on, or a sample of a CRD",
		Long: `Find makes objects that show what the rules of CRDs do: for each rule one that the
rule refuses and nothing else does, with its old object where the rule compares with
one. With --want it is one that is accepted and on which the rule ran, one on which
the rule fails to evaluate, or one that costs more than it may. --full and --minimal
write a sample of each CRD instead.

Every object has been decided as the API server would decide it. That none was found
proves nothing.

Exit codes: 0 all that was asked was found, 1 something was not, or a rule fails or
costs too much, 2 usage or unreadable input (2 wins over 1), 130 interrupted.`,
		Example: `  celadon find --crd crd.yaml
  celadon find --crd crd.yaml --at spec --rule 0 -o yaml
  celadon find --crd crd.yaml --want error
  celadon find --crd crd.yaml --full -o yaml`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Check(cmd.Flags()); err != nil {
				return seeHelp(cmd, err)
			}
			return a.find(cmd.Context(), &o)
		},
	}
	o.Flags(cmd.Flags())
	for flag, values := range map[string][]string{"want": find.Wants, "output": find.Outputs} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	return cmd
}

// find is the whole of celadon find.
func (a *app) find(ctx context.Context, o *find.Options) error {
	crds, problems, err := a.findCRDs(ctx, o)
	if err != nil {
		return err
	}
	for _, problem := range problems {
		a.complain(problem)
	}
	if len(crds) == 0 {
		if len(problems) == 0 {
			return &exitError{exitUsage, fmt.Errorf("no CustomResourceDefinition in %s", strings.Join(o.CRDs, ", "))}
		}
		return &exitError{exitUsage, nil}
	}
	progress := a.progress("finding", "answers")
	out, _ := progress.beside(foreign.NewWriter(a.stdout))
	done := make(chan struct{})
	step := make(chan struct{}, 64)
	go func() { // the bar has one writer
		defer close(done)
		for range step {
			progress.add(1)
		}
	}()
	sum, err := find.Run(ctx, out, o, crds, func() { step <- struct{}{} })
	close(step)
	<-done
	progress.done()
	switch {
	case err != nil:
		return err
	case sum.Interrupted:
		return &exitError{exitInterrupted, errors.New("interrupted: the report has what was known")}
	case len(problems) > 0:
		return &exitError{exitUsage, nil}
	case !sum.Settled():
		return &exitError{exitFindings, nil}
	}
	return nil
}

// findCRDs reads the CRDs, with their descriptions.
func (a *app) findCRDs(ctx context.Context, o *find.Options) (crds []find.CRD, problems []error, err error) {
	type read struct {
		find.CRD
		err error
	}
	decode := func(doc *input.Document) read {
		r := read{CRD: find.CRD{File: doc.File}}
		if o.Full && doc.Object != nil {
			r.Source = runtime.DeepCopyJSON(doc.Object)
		}
		if r.CRD.CRD, r.err = decodeCRD(doc); r.err != nil {
			r.err = fmt.Errorf("%s: %w", doc.Place(), r.err)
		}
		return r
	}
	err = decodeAll(ctx, a.stdin, o.CRDs, decode, func(r read) error {
		switch {
		case r.err != nil:
			problems = append(problems, r.err)
		case r.CRD.CRD != nil:
			crds = append(crds, r.CRD)
		}
		return nil
	})
	return crds, problems, err
}
