package repl

import (
	"context"
	"slices"
)

// details is the text of :help for a command. A test runs all examples in order.
type details struct {
	// text is a paragraph of two to four sentences.
	text string
	// needs lists what must be loaded first. Each depends on those before it.
	needs []need
	// examples returns lines that the user can enter in the session.
	examples func(*samples) []string
}

// A need is a condition for a command, and the text to print if it is not met.
type need struct {
	met  func(*Session) bool
	text string
}

var (
	needCRD = need{
		func(s *Session) bool { return s.state.crd != nil },
		"No CRD is loaded: run :load crd FILE first.",
	}
	needObject = need{
		func(s *Session) bool { return s.state.object != nil },
		"No object is loaded: run :load object FILE first, or :find and :find use.",
	}
	needSelf = need{
		func(s *Session) bool {
			return s.state.location == nil || s.state.location.has
		},
		"The object has no value here, so only expressions without self have one: run :load object FILE first, or :cd to another path.",
	}
	needVisible = need{
		func(s *Session) bool { return s.state.location == nil || s.state.location.compiler != nil },
		"The schema here is not visible to rules, so no expression compiles: :cd to another path first.",
	}
	needRule = need{
		func(s *Session) bool { return len(s.rulesHere()) > 0 },
		"There are no rules here: run :add RULE first, or :cd to a path with rules (:rules all lists them).",
	}
	needField = need{
		func(s *Session) bool { return newSamples(s).path != "" },
		"There are no fields here: :cd to an object first.",
	}
	needPolicies = need{
		func(s *Session) bool { return s.state.policies != nil },
		"No policies are loaded: run :load policy FILE first.",
	}
	needPast = need{
		func(s *Session) bool { return len(s.past) > 0 },
		"Nothing has changed yet.",
	}
	needFuture = need{
		func(s *Session) bool { return len(s.past) > 0 || len(s.future) > 0 },
		"Nothing was undone yet.",
	}
	needFiles = need{
		func(s *Session) bool { return s.host.Load != nil && s.host.Save != nil },
		"Files are not available here.",
	}
	needOwnFiles = need{
		func(s *Session) bool { return s.state.crd != nil && fileOf(s.state.object) != "" },
		"crd.yaml and object.yaml stand for your own files.",
	}
	needCheck = need{
		func(s *Session) bool { return s.host.Check != nil && s.host.CheckStatus != nil },
		"Objects cannot be checked here.",
	}
	needAccepted = need{
		func(s *Session) bool {
			res, err := s.state.crd.engine.Validate(context.Background(), s.state.request())
			return err == nil && res.Allowed
		},
		"The CRD rejects the object, so it is not persisted: run :check for details.",
	}
	needPlainRule = need{
		func(s *Session) bool { return newSamples(s).plainRule() >= 0 },
		"Every rule here uses oldSelf: write oldSelf.hasValue() and oldSelf.value() in the rule when you set optionalOldSelf.",
	}
	needEditable = need{
		func(s *Session) bool {
			p := s.state.location
			return p != nil && p.compiler != nil && s.schemaHere() != nil
		},
		"Rules are not possible here, because the schema does not declare the value: :cd to another path first.",
	}
)

// fileOf returns the file that an object was loaded from, or "".
func fileOf(o *object) string {
	if o == nil || o.doc.Line == 0 && o.file == o.doc.File {
		return ""
	}
	return o.file
}

// plainRule returns the index of the first rule here for which optionalOldSelf can be set as it is,
// or -1.
func (p *samples) plainRule() int {
	s := p.session
	for i, rule := range s.rulesHere() {
		if s.ruleCompiles(rule.Rule, true) == nil {
			return i
		}
	}
	return -1
}

// versionsToUse returns the versions of the CRD, the current version first.
func (p *samples) versionsToUse() []string {
	st := p.session.state
	if st.crd == nil {
		return []string{"v1"}
	}
	all := slices.Clone(st.crd.engine.Info().Versions)
	return append([]string{st.version}, slices.DeleteFunc(all, func(v string) bool { return v == st.version })...)
}
