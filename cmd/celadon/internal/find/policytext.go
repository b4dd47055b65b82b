package find

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// policyAnswer is a PolicyFinding with words for people.
type policyAnswer struct {
	words string
	*PolicyFinding
}

// effect describes the effect of a validation's actions on a request. f may be nil.
func (f *PolicyFinding) effect() string {
	switch {
	case !f.reported():
		return "is denied"
	case slices.Contains(f.Actions, policy.ActionWarn):
		return "is accepted with a warning"
	}
	return "is accepted with an audit annotation"
}

// reported reports whether the request is accepted, because the binding only warns or audits. f may be nil.
func (f *PolicyFinding) reported() bool {
	return f != nil && f.Status == search.Found && !slices.Contains(f.Actions, policy.ActionDeny)
}

// worded drops missing findings and completes the words of the others.
func worded(answers ...policyAnswer) (all []policyAnswer) {
	for _, a := range answers {
		switch f := a.PolicyFinding; {
		case f == nil:
			continue
		case f.Status == analysis.Never:
			a.words = "no request " + a.words + ": proved for all objects that the server accepts"
		case f.Status != search.Found:
			a.words = fmt.Sprintf("no request found that %s (%s tried)", a.words, phrase.Count(f.Searched, "request"))
			if f.Reason != "" {
				a.words += ": " + f.Reason
			}
		default:
			in := ""
			if f.Namespace != "" {
				in = " in namespace " + f.Namespace
			}
			of := ""
			if f.Subresource != "" {
				of = " of " + f.Subresource
				if f.Operation == "connect" {
					of = " to " + f.Subresource
				}
			}
			user := f.User
			if !slices.Equal(f.Groups, policyrequest.User(f.User, nil).Groups) && !slices.Equal(f.Groups, policyrequest.User("", nil).Groups) {
				user += " (groups " + strings.Join(f.Groups, ", ") + ")"
			}
			for _, key := range slices.Sorted(maps.Keys(f.Extra)) {
				user += fmt.Sprintf(" (extra %s=%s)", key, strings.Join(f.Extra[key], ", "))
			}
			a.words = fmt.Sprintf("this %s%s by %s%s %s:", f.Operation, of, user, in, a.words)
		}
		all = append(all, a)
	}
	return all
}

// expressionPart holds the results for an expression of a policy, in order.
type expressionPart struct {
	name, expression string
	answers          []policyAnswer
}

func (v *VersionPart) expressions() (all []expressionPart) {
	for _, m := range v.Mutations {
		all = append(all, expressionPart{fmt.Sprintf("policy %s, spec.mutations[%d]", m.Policy, m.Mutation), m.Expression, worded(
			policyAnswer{"is changed", m.Changed}, policyAnswer{"is changed by the policy and then rejected by the server", m.Invalid},
			policyAnswer{"makes the policy fail", m.Error})})
	}
	for _, p := range v.Policies {
		all = append(all, expressionPart{fmt.Sprintf("policy %s, spec.validations[%d]", p.Policy, p.Validation), p.Expression, worded(
			policyAnswer{p.Denied.effect(), p.Denied}, policyAnswer{"makes the policy fail", p.Error},
			policyAnswer{"is denied now and was accepted", p.Stricter}, policyAnswer{"was denied and is accepted now", p.Looser})})
	}
	return all
}

func (p *textPrinter) policy(b *strings.Builder, part expressionPart) error {
	fmt.Fprintf(b, "%s\n", p.cut("  "+string(untrusted.Line(part.name))+": "+string(untrusted.Line(lex.Flat(part.expression)))))
	for _, a := range part.answers {
		fmt.Fprintf(b, "    %s\n", untrusted.Line(a.words))
		if a.Status != search.Found {
			continue
		}
		if a.Message != "" {
			fmt.Fprintf(b, "      %s\n", untrusted.Line(a.Message))
		}
		for _, form := range []struct {
			title string
			obj   map[string]any
		}{{"old object:", a.Old}, {"object:", a.Object}} {
			if form.obj == nil {
				continue
			}
			fmt.Fprintf(b, "      %s\n", form.title)
			if err := indented(b, "        ", form.obj); err != nil {
				return err
			}
		}
	}
	return nil
}
