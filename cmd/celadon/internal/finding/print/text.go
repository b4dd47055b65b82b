package print

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/assist"
)

// textPrinter writes for people: first what kubectl would print, then locations and explanations.
type textPrinter struct {
	w *untrusted.Writer
	Options
}

func (p *textPrinter) CRD(c *finding.CRD) error {
	if c.Quiet() {
		return nil
	}
	return p.Object(c.AsObject())
}

func (p *textPrinter) Object(o *finding.Object) error {
	if o.Known && !p.Verbose {
		return nil
	}
	var b strings.Builder
	b.WriteString(p.paint(untrusted.Yellow, warnings(o)))
	switch o.Verdict {
	case finding.Invalid:
		if o.Uncompiled && !p.Verbose && o.Upgrade == nil {
			return nil // the finding about the CRD, or the problem on stderr, has the error
		}
		b.WriteString(p.paint(untrusted.Red, KubectlError(o)))
		if !p.Quiet {
			Where(&b, o)
		}
	case finding.Unreadable:
		untrusted.Fprintf(&b, "%s: %s\n", place(o), p.w.Paint(untrusted.Red, untrusted.Line(o.Problem)))
	case finding.Undecided:
		untrusted.Fprintf(&b, "%s: %s %q %s\n", place(o), o.Kind, o.Name, p.w.Paint(untrusted.Red, untrusted.Line(o.Problem)))
		if !p.Quiet {
			undecided(&b, o)
		}
	case finding.Skipped:
		if p.StrictKinds && o.WithoutCRD() || p.Verbose || o.Operation != "" {
			untrusted.Fprintf(&b, "%s: %s %q skipped: %s\n", place(o), o.Kind, o.Name, o.Problem)
		}
	case finding.Ignored:
		if p.Verbose {
			untrusted.Fprintf(&b, "%s: ignored: %s\n", place(o), o.Problem)
		}
	case finding.Valid:
		p.valid(&b, o)
	}
	if o.Upgrade != nil && !p.Quiet {
		showUpgrade(&b, o)
	}
	if o.Known {
		untrusted.Fprintf(&b, "%s: %s: %s\n", place(o), title(o), known)
	}
	text := p.layout().Text(b.String())
	b.Reset()
	b.WriteString(text)
	p.diff(&b, o.Diff) // whose lines must not be wrapped
	_, err := io.WriteString(p.w, b.String())
	return err
}

// warnings returns the warnings as kubectl prints them.
func warnings(o *finding.Object) (lines untrusted.Safe) {
	for _, warning := range o.Warnings {
		lines += untrusted.Sprintf("Warning: %s\n", warning)
	}
	return lines
}

func (p *textPrinter) valid(b *strings.Builder, o *finding.Object) {
	if (b.Len() > 0 || len(o.Policies) > 0) && !p.Quiet {
		untrusted.Fprintf(b, "  --> %s\n", place(o))
		if slices.ContainsFunc(o.Warnings, o.Ratcheted) {
			untrusted.Fprintf(b, "        %s %q: %s\n", o.Kind, o.Name, finding.AlreadySo)
		}
		ShowPolicies(b, o)
	}
	if len(o.RatchetedErrors) > 0 && !p.Quiet {
		ratcheted(b, o)
	}
	if p.Verbose {
		untrusted.Fprintf(b, "%s: %s %q is valid (%s, cost %d)\n", place(o), o.Kind, o.Name, o.Operation, o.Cost)
		showMutations(b, o)
	}
}

func ratcheted(b *strings.Builder, o *finding.Object) {
	untrusted.Fprintf(b, "%s: %s %q is accepted, although it would be invalid as a new object:\n", place(o), o.Kind, o.Name)
	for i := range o.RatchetedErrors {
		c := &o.RatchetedErrors[i]
		untrusted.Fprintf(b, "  * %s: %s: %s\n", c.Field, Sentence(c.Message), finding.NothingChanged)
	}
	Where(b, &finding.Object{File: o.File, Line: o.Line, Causes: o.RatchetedErrors})
}

// KubectlError returns the error as kubectl prints it, which depends on the number of causes, except that long
// expressions of policies are shortened. kubectl prints nothing about duplicate keys in YAML, so for these it returns Celadon's message.
func KubectlError(o *finding.Object) untrusted.Safe {
	if o.Conflicts() {
		return "error: " + untrusted.Lines(o.Status.Message, "- .") + "\n"
	}
	if text := refusedPatch(o); text != "" {
		return text
	}
	var messages []string
	seen := map[string]bool{}
	for _, c := range o.Causes {
		message := string(untrusted.Sprintf("%s: %s", c.Field, Sentence(cut(o, c.Message))))
		if !seen[message] {
			seen[message] = true
			messages = append(messages, message)
		}
	}
	head := untrusted.Sprintf("The %s %q is invalid: ", cmp.Or(o.Resource, o.Kind), o.Name)
	if o.Resource != "" && o.Status.Reason != string(metav1.StatusReasonInvalid) {
		messages = nil // a policy may have another reason
	}
	switch len(messages) {
	case 0:
		if o.Apply == string(apply.Server) && o.Status.Reason == "" {
			return untrusted.Sprintf("Error from server: %s\n", Sentence(o.Status.Message))
		}
		if o.Duplicate {
			return untrusted.Sprintf("%s: %s %q: a duplicate key: kubectl keeps the last one; a server that receives this YAML reports (%s): %s\n", place(o), o.Kind, o.Name, o.Status.Reason, Sentence(o.Status.Message))
		}
		verb := map[string]string{"create": "creating", "update": "applying patch to", "delete": "deleting"}[o.Operation]
		who := untrusted.Safe("Error from server")
		if o.Status.Reason != "" {
			who = untrusted.Sprintf("Error from server (%s)", o.Status.Reason)
		}
		return untrusted.Sprintf("%s: error when %s %q: %s\n", who, verb, o.File, Sentence(cut(o, o.Status.Message)))
	case 1:
		return head + untrusted.Safe(messages[0]) + "\n"
	}
	return head + "\n* " + untrusted.Safe(strings.Join(messages, "\n* ")) + "\n"
}

// refusedPatch returns the error for a patch with a result that the server cannot decode, without the JSON of
// that result, or "".
func refusedPatch(o *finding.Object) untrusted.Safe {
	if o.Apply != string(apply.Client) || len(o.Causes) != 1 || o.Causes[0].Field != "patch" {
		return ""
	}
	kind := field.ErrorTypeInvalid.String() + ": "
	value, ok := strings.CutPrefix(o.Causes[0].Message, kind)
	if !ok {
		return ""
	}
	quoted, err := strconv.QuotedPrefix(value)
	if err != nil {
		return ""
	}
	return untrusted.Sprintf("The request is invalid: patch: %s\"…\"%s\n", kind, Sentence(value[len(quoted):]))
}

// Sentence returns a message of the server, escaped. Line breaks are kept only in the excerpt of an expression. Line
// breaks in an error of the YAML decoder become spaces.
func Sentence(message string) untrusted.Safe {
	message = strings.ReplaceAll(message, "\n  line ", " line ")
	return untrusted.Lines(message, " | ", "ERROR: <input>:")
}

// Where writes the locations below an error with the rules that failed there, the effects of policies, and the
// causes that would follow.
func Where(b *strings.Builder, o *finding.Object) {
	locations := o.Strict[:min(len(o.Strict), maxStrict):min(len(o.Strict), maxStrict)]
	rules := map[finding.Location][]*finding.Cause{}
	for i := range o.Causes {
		c := &o.Causes[i]
		if c.Incomplete() && len(o.Causes) > 1 {
			continue
		}
		location := c.Location()
		if c.Line == 0 {
			location = finding.Location{}
		} else if _, seen := rules[location]; !seen {
			locations = append(locations, location)
		}
		rules[location] = append(rules[location], c)
	}
	if o.Source != "" {
		untrusted.Fprintf(b, "  source: %s\n", o.Source)
	}
	if len(locations) == 0 {
		untrusted.Fprintf(b, "  --> %s\n", placeInFile(o))
	}
	showMutations(b, o)
	ShowPolicies(b, o)
	for _, location := range locations {
		location.Show(b)
		if location.Hint != "" {
			untrusted.Fprintf(b, "        %s\n", location.Hint)
		}
		why(b, rules[location])
	}
	if more := len(o.Strict) - maxStrict; more > 0 {
		untrusted.Fprintf(b, "  … %s: use -o json to see all of them\n", phrase.Count(more, "more field"))
	}
	why(b, rules[finding.Location{}])
	if o.Conflicts() {
		b.WriteString("        remove these fields from the file to leave them to their managers, or take them with --force-conflicts\n")
	}
	if o.OldFile != "" {
		untrusted.Fprintf(b, "        the old object is in %s\n", o.OldFile)
	}
	Following(b, o)
}

// Following writes the causes that the server would report after the other errors are fixed, and their locations.
func Following(b *strings.Builder, o *finding.Object) {
	if len(o.Following) == 0 {
		return
	}
	b.WriteString("  would follow once the above is fixed:\n")
	for i := range o.Following {
		if c := &o.Following[i]; c.Message != "" {
			untrusted.Fprintf(b, "  * %s: %s\n", c.Field, Sentence(c.Message))
		}
	}
	Where(b, &finding.Object{File: o.File, Line: o.Line, Causes: o.Following})
}

// maxStrict limits how many strict errors are shown per object.
const maxStrict = 100

func why(b *strings.Builder, causes []*finding.Cause) {
	shown := map[string]bool{}
	for _, c := range causes {
		if c.Rule == "" && c.Summary == "" || shown[c.Rule] {
			continue
		}
		if shown[c.Rule] = c.Rule != ""; !strings.Contains(c.Excerpt.Line, c.Rule) {
			ShowRule(b, c.Rule)
		}
		for _, v := range c.Values {
			untrusted.Fprintf(b, "          %s: %s\n", v.Expr, v.Text)
		}
		ShowMissing(b, c.NotShown)
		hint(b, c)
	}
}

// HintLines returns the mistake in a rule, how to fix it, and the rule without it, as lines.
func HintLines(c *finding.Cause) (lines []string) {
	for _, more := range []struct{ head, text string }{{"", c.Summary}, {"hint: ", c.Hint}, {"try: ", c.Fixed}} {
		if more.text != "" {
			lines = append(lines, more.head+lex.Flat(more.text))
		}
	}
	return lines
}

func hint(b *strings.Builder, c *finding.Cause) {
	if c.Summary != "" {
		help := ""
		if c.Code != "" {
			help = " (celadon help " + c.Code + ")"
		}
		untrusted.Fprintf(b, "        %s%s\n", c.Summary, help)
	}
	if c.Hint != "" {
		untrusted.Fprintf(b, "        hint: %s\n", c.Hint)
	}
	if c.Code != assist.UnquotedRule { // the hint has the rule in quotes
		rule(b, "        try:  ", c.Fixed)
	}
}

// ShowMissing writes why values of a rule are missing.
func ShowMissing(b *strings.Builder, why string) {
	if why != "" {
		untrusted.Fprintf(b, "          values not shown: %s\n", why)
	}
}

// ShowRule writes a rule below a location.
func ShowRule(b *strings.Builder, text string) { rule(b, "        rule: ", text) }

func rule(b *strings.Builder, head, text string) {
	for _, line := range labeled(head, text) {
		untrusted.Fprintf(b, "%s\n", line)
	}
}

func labeled(label, text string) (lines []string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		lines = append(lines, label+strings.TrimSuffix(line, "\n"))
		label = strings.Repeat(" ", len(label))
	}
	return lines
}

func undecided(b *strings.Builder, o *finding.Object) {
	if o.Limit == nil {
		return
	}
	if o.Limit.Rule.Rule != "" {
		ShowRule(b, o.Limit.Rule.Rule)
	}
	untrusted.Fprintf(b, "        %s\n", decide)
}

const decide = "bound its input with maxLength, maxItems, or maxProperties in the CRD, or simplify the rule"

// Show writes a finding below the CRD or policy that it is about. head introduces its message.
func Show(b *strings.Builder, head untrusted.Safe, f *finding.Finding) {
	message := strings.ReplaceAll(string(Sentence(f.Message)), "\n", "\n    ")
	untrusted.Fprintf(b, "  %s: %s\n", head, untrusted.Safe(message))
	f.At.Show(b)
	ShowDetails(b, f)
}

// ShowDetails writes the rule of a finding, unless its excerpt has it, and the details.
func ShowDetails(b *strings.Builder, f *finding.Finding) {
	if !strings.Contains(f.At.Excerpt.Line, f.Expression) {
		ShowRule(b, f.Expression)
	}
	for _, line := range f.Details {
		untrusted.Fprintf(b, "        %s\n", line)
	}
}

func (p *textPrinter) paint(c untrusted.Color, text untrusted.Safe) string {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		body := strings.TrimSuffix(line, "\n")
		b.WriteString(string(p.w.Paint(c, untrusted.Safe(body))) + line[len(body):])
	}
	return b.String()
}

func (p *textPrinter) layout() Layout { return Layout{Color: p.w.Colors, Width: p.Width} }

func (p *textPrinter) diff(b *strings.Builder, diff []byte) {
	for line := range strings.Lines(string(diff)) {
		text := untrusted.Sprintf("%s\n", strings.TrimSuffix(line, "\n"))
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			b.WriteString(p.paint(untrusted.Bold, text))
		case line[0] == '-':
			b.WriteString(p.paint(untrusted.Red, text))
		case line[0] == '+':
			b.WriteString(p.paint(untrusted.Green, text))
		default:
			b.WriteString(string(text))
		}
	}
}
