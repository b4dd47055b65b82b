package find

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

type printer interface {
	crd(*CRDPart) error
	end(*Report) error
}

// The width and colors of text depend on terminal.
func newPrinter(out *untrusted.Writer, terminal io.Writer, o *Options) printer {
	switch o.Output {
	case "json":
		return &jsonPrinter{out}
	case "yaml":
		return &yamlPrinter{out: out}
	}
	p := &textPrinter{out: out, o: o}
	p.width, _ = command.Width(terminal)
	out.Colors = command.Color(terminal)
	p.layout = print.Layout{Color: out.Colors, Width: p.width}
	return p
}

type jsonPrinter struct{ out io.Writer }

func (p *jsonPrinter) crd(*CRDPart) error { return nil }

func (p *jsonPrinter) end(r *Report) error { return print.JSON(p.out, r) }

// A section holds the results for a rule, for an expression of a policy, or, without a name, for the whole version.
type section struct {
	name, expression string
	answers          []*Finding
	ofPolicy         bool
}

func (v *VersionPart) sections() (all []section) {
	if v.Accepted != nil {
		all = append(all, section{answers: []*Finding{v.Accepted}})
	}
	for _, r := range v.Rules {
		s := section{name: phrase.Rule(r.Path, r.Index), expression: r.Rule}
		for _, a := range r.answers() {
			s.answers = append(s.answers, a.finding)
		}
		all = append(all, s)
	}
	add := func(policy, field string, index int, expression string, answers ...policyAnswer) {
		s := section{name: fmt.Sprintf("policy %s, spec.%s[%d]", policy, field, index), expression: expression, ofPolicy: true}
		for _, a := range answers {
			if f := a.PolicyFinding; f != nil {
				words := string(untrusted.Line(a.describe()))
				s.answers = append(s.answers, &Finding{words: words, Message: f.Message, Object: f.Object, Old: f.Old, assumed: f.Assumed})
			}
		}
		all = append(all, s)
	}
	for _, m := range v.Mutations {
		add(m.Policy, "mutations", m.Mutation, m.Expression,
			policyAnswer{"is changed", m.Changed}, policyAnswer{"is changed by the policy and then rejected by the server", m.Invalid},
			policyAnswer{"makes the policy fail", m.Error})
	}
	for _, p := range v.Policies {
		add(p.Policy, "validations", p.Validation, p.Expression,
			policyAnswer{p.Denied.effect(), p.Denied}, policyAnswer{"makes the policy fail", p.Error},
			policyAnswer{"is denied now and was accepted", p.Stricter}, policyAnswer{"was denied and is accepted now", p.Looser})
	}
	return all
}

type policyAnswer struct {
	words string
	*PolicyFinding
}

func (a policyAnswer) describe() string {
	switch {
	case a.Status == analysis.Never:
		return "no request " + a.words + ": proved for all objects that the server accepts"
	case a.Status != search.Found:
		text := fmt.Sprintf("no request found that %s (%s tried)", a.words, phrase.Count(a.Searched, "request"))
		if a.Reason != "" {
			text += ": " + a.Reason
		}
		return text
	}
	of, in, user := "", "", a.User
	if a.Subresource != "" {
		of = " of " + a.Subresource
		if a.Operation == "connect" {
			of = " to " + a.Subresource
		}
	}
	if a.Namespace != "" {
		in = " in namespace " + a.Namespace
	}
	if !slices.Equal(a.Groups, policyrequest.User(user, nil).Groups) && !slices.Equal(a.Groups, policyrequest.User("", nil).Groups) {
		user += " (groups " + strings.Join(a.Groups, ", ") + ")"
	}
	for _, key := range slices.Sorted(maps.Keys(a.Extra)) {
		user += fmt.Sprintf(" (extra %s=%s)", key, strings.Join(a.Extra[key], ", "))
	}
	words := a.words
	if len(a.Assumed) > 0 {
		words += " with another example"
	}
	return fmt.Sprintf("this %s%s by %s%s %s:", a.Operation, of, user, in, words)
}

// f may be nil.
func (f *PolicyFinding) effect() string {
	switch {
	case !f.reported():
		return "is denied"
	case slices.Contains(f.Actions, policy.ActionWarn):
		return "is accepted with a warning"
	}
	return "is accepted with an audit annotation"
}

// reported reports whether a request was found and is accepted, because no binding denies it. f may be nil.
func (f *PolicyFinding) reported() bool {
	return f != nil && f.Status == search.Found && !slices.Contains(f.Actions, policy.ActionDeny)
}

type textPrinter struct {
	out    *untrusted.Writer
	o      *Options
	width  int // of the terminal; 0 means unlimited
	layout print.Layout
}

func (p *textPrinter) crd(part *CRDPart) error {
	var b strings.Builder
	for _, v := range part.Versions {
		untrusted.Fprintf(&b, "%s %s\n", part.Name, v.Name)
		for _, s := range v.sections() {
			indent := "  "
			if s.name != "" {
				p.head(&b, indent+string(untrusted.Line(s.name))+": ", s.expression)
				indent = "    "
			}
			for i, f := range s.answers {
				if i == 0 || f.words != s.answers[i-1].words { // a rule that does not compile has the same result for all questions
					f.show(&b, indent, s.ofPolicy)
				}
			}
		}
	}
	_, err := io.WriteString(p.out, p.layout.Text(b.String()))
	return err
}

func (p *textPrinter) head(b *strings.Builder, name, expression string) {
	line := name + string(untrusted.Line(lex.Flat(expression)))
	if p.width > 0 {
		line = termwidth.Cut(line, p.width)
	}
	if rest, ok := strings.CutPrefix(line, name); ok {
		line = name + string(p.out.Paint(untrusted.Bold, untrusted.Safe(rest)))
	}
	b.WriteString(line + "\n")
}

func (f *Finding) show(b *strings.Builder, indent string, ofPolicy bool) {
	fmt.Fprintf(b, "%s%s\n", indent, f.words)
	if indent += "  "; f.Object == nil && f.Old == nil {
		return
	}
	if f.Message != "" {
		field := ""
		if f.Field != "" {
			field = f.Field + ": "
		}
		fmt.Fprintf(b, "%s%s\n", indent, untrusted.Line(field+f.Message))
	}
	for _, path := range f.MadeUp {
		fmt.Fprintf(b, "%s%s is a placeholder: its format is password\n", indent, untrusted.Line(path))
	}
	title := "new object:"
	switch {
	case ofPolicy:
		title = "object:"
	case f.Old == nil:
		indented(b, indent, f.Object)
		return
	}
	for _, form := range []struct {
		title string
		obj   map[string]any
	}{{"old object:", f.Old}, {title, f.Object}} {
		if form.obj != nil {
			fmt.Fprintf(b, "%s%s\n", indent, form.title)
			indented(b, indent+"  ", form.obj)
		}
	}
	for _, example := range f.assumed {
		fmt.Fprintf(b, "%sexample:\n", indent)
		indented(b, indent+"  ", example)
	}
}

// The limits for objects in text output. Objects that exceed a cost limit are large.
const (
	maxLines   = 80
	maxColumns = 300
)

func indented(b *strings.Builder, indent string, obj map[string]any) {
	data, err := untrusted.YAML(obj)
	if err != nil {
		data = []byte("(cannot be shown)\n")
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	more := len(lines) - maxLines
	if more > 0 {
		lines = append(lines[:maxLines], fmt.Sprintf("# … %s more: use -o yaml to see all", phrase.Count(more, "line")))
	}
	for _, line := range lines {
		b.WriteString(indent + termwidth.Cut(line, maxColumns) + "\n")
	}
}

func (p *textPrinter) end(r *Report) error {
	s := &r.Summary
	if n := s.Policies; n != nil {
		for _, name := range n.Unmatched {
			fmt.Fprintf(p.out, "policy %s: unknown: it matches no resource for which find makes objects; add its CRDs with --crd\n", untrusted.Line(name))
		}
		var parts []string
		if n.Validations > 0 || n.Mutations == 0 {
			parts = append(parts, phrase.Count(n.Validations, "validation"), fmt.Sprintf("denying a request: %d", n.Denied))
			if n.Reported > 0 {
				parts[1] += fmt.Sprintf(" (%d only with a warning or audit annotation)", n.Reported)
			}
		}
		if len(p.o.OldPolicies) > 0 {
			parts = []string{phrase.Count(n.Validations, "validation"), fmt.Sprintf("stricter: %d", n.Stricter), fmt.Sprintf("looser: %d", n.Looser)}
			if n.Unknown > 0 {
				parts = append(parts, fmt.Sprintf("unknown: %d", n.Unknown))
			}
			_, err := fmt.Fprintln(p.out, strings.Join(parts, "; "))
			return err
		}
		if n.Mutations > 0 {
			parts = append(parts, phrase.Count(n.Mutations, "mutation"), fmt.Sprintf("changing an object: %d", n.Changed), fmt.Sprintf("making one invalid: %d", n.Invalid))
		}
		_, err := fmt.Fprintf(p.out, "%s; failing: %d; unknown: %d\n", strings.Join(parts, "; "), n.Errors, n.Unknown)
		return err
	}
	if s.Rules == 0 && !s.Interrupted {
		return nil
	}
	parts := []string{phrase.Count(s.Rules, "rule")}
	for _, n := range []struct {
		count int
		label string
	}{{s.Rejected, "rejecting an object"}, {s.Never, "never rejecting an object"}, {s.Errors, "failing or exceeding a limit"}, {s.Nothing, "versions that accept nothing"}, {s.Unserved, "not served"}, {s.Unknown, "unknown"}} {
		if n.count > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", n.label, n.count))
		}
	}
	if s.Interrupted {
		parts = append(parts, "interrupted")
	}
	_, err := fmt.Fprintln(p.out, strings.Join(parts, "; "))
	return err
}

type yamlPrinter struct {
	out  io.Writer
	more bool
}

func (p *yamlPrinter) crd(part *CRDPart) error {
	for _, v := range part.Versions {
		for _, s := range v.sections() {
			name := untrusted.Line(part.Name) + " " + untrusted.Line(v.Name)
			if s.name != "" {
				name += ", " + untrusted.Line(s.name)
			}
			for _, f := range s.answers {
				if err := p.finding(name, f); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (p *yamlPrinter) finding(name untrusted.Safe, f *Finding) error {
	var b strings.Builder
	if p.more {
		b.WriteString("---\n")
	}
	p.more = true
	fmt.Fprintf(&b, "# %s: %s\n", name, strings.TrimSuffix(f.words, ":"))
	for _, path := range f.MadeUp {
		fmt.Fprintf(&b, "# %s is a placeholder: its format is password\n", untrusted.Line(path))
	}
	if f.Old != nil {
		old, err := untrusted.YAML(f.Old)
		if err != nil {
			return err
		}
		b.WriteString("# old object:\n")
		for line := range strings.Lines(string(old)) {
			b.WriteString("#   " + line)
		}
	}
	if f.Object != nil {
		data, err := untrusted.YAML(f.Object)
		if err != nil {
			return err
		}
		b.Write(data)
	}
	_, err := io.WriteString(p.out, b.String())
	return err
}

func (p *yamlPrinter) end(*Report) error { return nil }
