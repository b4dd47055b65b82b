package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/fix"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine/vet"
)

// fixes says whether files are to be fixed.
func (o *vetOptions) fixes(paths []string) (bool, error) {
	switch {
	case o.dryRun && !o.fix:
		return false, errors.New("--dry-run: want --fix, too")
	case o.fix && o.output != "text":
		return false, errors.New("--fix shows what it changes: want no --output")
	case o.fix && slices.Contains(paths, "-"):
		return false, errors.New("--fix: standard input cannot be written: want files or folders")
	}
	return o.fix, nil
}

// fix is the whole of celadon vet --fix.
func (a *app) fix(ctx context.Context, o *vetOptions, paths []string) error {
	v, err := a.newVetter(ctx, o)
	if err != nil {
		return err
	}
	again := func(ctx context.Context, doc *input.Document) (*vet.Report, error) {
		one := v.vet(ctx, doc)
		if one == nil || one.problem != nil && !one.bug {
			return nil, nil
		}
		return one.report, one.problem
	}
	f := fix.New(fix.Config{Vet: again, Out: a.stdout, Err: a.stderr, DryRun: o.dryRun})
	err = parallel(a.stdin, paths, func(doc *input.Document) *vetted { return v.vet(ctx, doc) }, func(one *vetted) error {
		switch {
		case one == nil:
			return nil
		case one.bug:
			return &exitError{exitBug, one.problem}
		case one.problem != nil:
			f.Unreadable(one.doc, one.problem)
			return nil
		}
		return f.Add(ctx, one.doc, one.report)
	}).Run(ctx)
	if err == nil {
		err = f.End(ctx)
	}
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted: the files shown before are fixed")}
	}
	if err != nil {
		return err
	}
	sum := f.Summary()
	switch {
	case sum.Failed > 0:
		return &exitError{code: exitUsage}
	case sum.CRDs == 0:
		return &exitError{exitUsage, fmt.Errorf("no CustomResourceDefinition in %v", paths)}
	case sum.Refused > 0 || o.dryRun && sum.Fixed > 0:
		return &exitError{code: exitFindings}
	case sum.Fixed == 0:
		fmt.Fprintln(a.stderr, "nothing to fix")
	}
	return nil
}
