package vet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet/fix"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/lint"
	"github.com/celadon-cel/celadon/x/crdedit"
)

func (o *Options) fixes(paths []string) (bool, error) {
	switch {
	case !slices.Contains([]string{"", certain, suggested}, o.Fix):
		return false, fmt.Errorf("--fix=%s: want %s or %s", o.Fix, certain, suggested)
	case o.DryRun && o.Fix == "":
		return false, errors.New("--dry-run: use it with --fix")
	case o.Fix != "" && o.Output != "text":
		return false, errors.New("--fix prints its changes: do not set --output")
	case o.Fix != "" && slices.Contains(paths, "-"):
		return false, errors.New("--fix: standard input cannot be changed: want files or folders")
	}
	return o.Fix != "", nil
}

// The values of --fix, for rules that do not compile.
const (
	certain   = "certain"   // only corrections that can mean nothing else
	suggested = "suggested" // all corrections
)

func runFix(ctx context.Context, s command.Streams, o *Options, paths []string) error {
	v, err := newVetter(ctx, s, o)
	if err != nil {
		return err
	}
	again := func(ctx context.Context, doc *input.Document) (*fix.Vetted, error) {
		one := v.vet(ctx, doc)
		if one == nil || one.problem != nil && !one.bug {
			return nil, nil
		}
		if one.bug {
			return nil, &command.ExitError{Code: command.Bug, Err: one.problem}
		}
		return one.fixes(), nil
	}
	f := fix.New(fix.Config{Vet: again, Out: s.Stdout, Err: s.Stderr, DryRun: o.DryRun})
	err = batch.From(resource.Files(s.Stdin, paths), v.found(ctx, resource.NewFilter(paths)), func(one *vetted) error {
		switch {
		case one == nil:
			return nil
		case one.bug:
			return &command.ExitError{Code: command.Bug, Err: one.problem}
		case one.problem != nil:
			f.Unreadable(one.doc, one.problem)
			return nil
		}
		for _, l := range one.opening() {
			why := "not guarded, because the guarded rule would accept more than now"
			if l.Rewrites[0].Effect == lint.Wanted {
				why = l.Name + " not fixed, because the replacement decides some objects differently"
			}
			untrusted.Fprintf(s.Stderr, "%s: %s: %s: %s: celadon vet --find shows it\n", one.doc.Location(), one.report.Name, phrase.Rule(l.Path, l.Index), why)
		}
		if one.doc.Original != nil {
			f.Generated(one.doc, one.fixes())
			return nil
		}
		return f.Add(ctx, one.doc, one.fixes())
	}).Run(ctx)
	if err == nil {
		err = f.End(ctx)
	}
	if ctx.Err() != nil {
		return &command.ExitError{Code: command.Interrupted, Err: errors.New("interrupted: only the files shown above are fixed")}
	}
	if err != nil {
		return err
	}
	sum := f.Summary()
	switch {
	case sum.Failed > 0:
		return &command.ExitError{Code: command.Usage}
	case sum.CRDs == 0:
		return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("no CustomResourceDefinition in %s", strings.Join(paths, ", "))}
	case sum.Rejected > 0 || sum.NotFixed > 0 || o.DryRun && sum.Fixed > 0:
		return &command.ExitError{Code: command.Findings}
	case sum.Fixed == 0:
		fmt.Fprintln(s.Stderr, "nothing to fix")
	}
	return nil
}

// fixes omits corrections of messageExpressions, and rewrites that accept more objects than now.
func (one *vetted) fixes() *fix.Vetted {
	v := &fix.Vetted{Report: one.report, Accepted: one.accepted(), Keys: one.misspelled()}
	rewritten := map[ruleID]bool{}
	causes := one.causes(0)
	for _, c := range append(causes, one.following(causes, 0)...) {
		switch {
		case c.Fixed == "" || c.Ref == nil || strings.HasSuffix(c.Field, ".messageExpression"):
		case !c.Certain && one.fix != suggested:
			v.Suggested++
		default:
			one.rewrite(v, rewritten, ruleID{c.Ref.Version, c.Ref.Path, c.Ref.Index}, c.Fixed)
		}
	}
	for i := range one.lints {
		l := &one.lints[i]
		switch m := l.Keeping(); {
		case m == nil:
		case l.Name == lint.FailsToEvaluate && one.fix != suggested: // objects on which it fails may be meant to be accepted
			v.Suggested++
		default:
			one.rewrite(v, rewritten, ruleID{l.Version, l.Path, l.Index}, m.Rule)
		}
	}
	return v
}

func (one *vetted) misspelled() (keys []vet.UnknownKey) {
	for _, key := range one.report.Keys {
		isLinted := func(l vet.Lint) bool { return l.Field == key.Path && l.KnownKey != "" }
		if key.Known != "" && (!key.Dropped || slices.ContainsFunc(one.report.Lints, isLinted)) {
			keys = append(keys, key)
		}
	}
	return keys
}

// rewrite changes a rule only once: the next run finds the rest.
func (one *vetted) rewrite(v *fix.Vetted, rewritten map[ruleID]bool, id ruleID, text string) {
	steps, err := engine.ParsePath(id.path)
	if err != nil || rewritten[id] {
		return
	}
	rewritten[id] = true
	for at := range one.report.Versions {
		if id.version == "" || id.version == one.report.Versions[at].Name {
			v.Rules = append(v.Rules, crdedit.Text{At: crdedit.SchemaNode{Version: at, Steps: steps}, Index: id.index, Rule: text})
		}
	}
}

type ruleID struct {
	version, path string
	index         int
}

// opening returns lints whose rewrites all accept more objects than now. A person must choose one
// of them.
func (one *vetted) opening() (list []*lint.Lint) {
	for i := range one.lints {
		if l := &one.lints[i]; len(l.Rewrites) > 0 && l.Keeping() == nil {
			list = append(list, l)
		}
	}
	return list
}
