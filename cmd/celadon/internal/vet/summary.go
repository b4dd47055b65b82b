package vet

import (
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

type summary struct {
	CRDs        int  `json:"crds"`
	Accepted    int  `json:"accepted"`
	Rejected    int  `json:"refused"`
	Unreadable  int  `json:"unreadable"`
	Undecided   int  `json:"undecided,omitempty"`
	Lints       int  `json:"lints"`
	Interrupted bool `json:"interrupted,omitempty"`
	// Policies counts admission policies; nil without them.
	Policies *policySummary `json:"policies,omitempty"`
	// Go counts the rules mapped to Go packages; nil without Go packages.
	Go *goSummary `json:"go,omitempty"`

	// Old counts the CRDs of --old; nil without the flag.
	Old *oldSummary `json:"old,omitempty"`

	bug     error
	limited bool // --find did not search for all lints
	others  otherKinds
}

type oldSummary struct {
	CRDs    int `json:"crds"`
	Matched int `json:"matched"`
}

func (s *summary) count(one *vetted) {
	switch {
	case one.problem != nil:
		s.Unreadable++
		if one.bug && s.bug == nil {
			s.bug = one.problem
		}
		return
	case one.accepted():
		s.Accepted++
	case one.undecided():
		s.Undecided++
	default:
		s.Rejected++
	}
	s.CRDs++
	if one.operation == "update" && s.Old != nil {
		s.Old.Matched++
	}
	s.limited = s.limited || one.limited != nil
	s.Lints += len(one.lints)
}

func (s *summary) verdict(paths []string) error {
	switch {
	case s.Interrupted:
		return &command.ExitError{Code: command.Interrupted, Err: fmt.Errorf("interrupted: the report covers only the CRDs before")}
	case s.bug != nil:
		return &command.ExitError{Code: command.Bug, Err: s.bug}
	case s.Unreadable > 0 || s.Undecided > 0 || s.limited || s.Policies != nil && s.Policies.Undecided > 0:
		return &command.ExitError{Code: command.Usage}
	case s.CRDs == 0 && s.Policies == nil:
		text := ""
		if kinds := s.others.String(); kinds != "" {
			text = " (" + kinds + ")"
		}
		return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("no CustomResourceDefinition in %s, and no policy: use celadon check for other objects%s", strings.Join(paths, ", "), text)}
	case s.Rejected > 0 || s.Policies != nil && s.Policies.Rejected > 0:
		return &command.ExitError{Code: command.Findings}
	}
	return nil
}

// String returns the last line of a report, or the last two.
func (s *summary) String() string {
	switch {
	case s.Policies == nil && s.CRDs+s.Unreadable+s.Undecided == 0 && !s.Interrupted:
		if kinds := s.others.withExpressions(); len(kinds) > 0 {
			return "nothing vetted: expressions of " + phrase.Count(len(kinds), "kind") + " are not known"
		}
		return "nothing vetted"
	case s.Policies == nil:
		return s.crds()
	case s.CRDs+s.Unreadable+s.Undecided == 0 && !s.Interrupted:
		return s.Policies.String()
	}
	return s.crds() + "\n" + s.Policies.String()
}

func (s *summary) crds() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s vetted: %d accepted, %d rejected", phrase.Count(s.CRDs, "CRD"), s.Accepted, s.Rejected)
	print.Also(&b, s.Lints, "lint", "lints")
	print.Also(&b, s.Unreadable, "unreadable")
	print.Also(&b, s.Undecided, "undecided")
	if s.Interrupted {
		b.WriteString("; interrupted")
	}
	switch {
	case s.Old == nil || s.CRDs == 0:
	case s.Old.Matched == 0:
		b.WriteString("; no CRD in --old matches: all were vetted as new")
	default:
		print.Also(&b, s.CRDs-s.Old.Matched, "vetted as new, because --old does not have them")
	}
	return b.String()
}
