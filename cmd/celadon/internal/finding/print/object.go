package print

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Objects returns a Printer that adds the findings of objects and CRDs to a list. If strictKinds is
// set, an object without a CRD is a finding.
func Objects(list List, strictKinds bool) Printer {
	return &objectPrinter{list, object{strictKinds: strictKinds}}
}

type objectPrinter struct {
	list List
	how  object
}

// CRD omits accepted CRDs without warnings, because the user tests objects.
func (p *objectPrinter) CRD(c *finding.CRD) error {
	if c.Quiet() {
		return nil
	}
	return p.Object(c.AsObject())
}

func (p *objectPrinter) Object(o *finding.Object) error {
	one := p.how
	one.Object = o
	return p.list.Add(finding.Result{Findings: one.findings, Cases: one.cases})
}

func (p *objectPrinter) End(s *finding.Summary) error {
	var b strings.Builder
	counts(&b, s)
	tables(&b, s)
	return p.list.End(End{Text: b.String(), Interrupted: s.Interrupted, Lacks: lacks(s)})
}

// Findings returns the findings of an object.
func Findings(o *finding.Object) iter.Seq[finding.Finding] { return object{Object: o}.findings }

type object struct {
	*finding.Object
	strictKinds bool
}

func (o object) findings(yield func(finding.Finding) bool) {
	more := true
	add := func(f finding.Finding) { more = more && yield(f) }
	o.errors(add)
	o.warned(add)
	o.ratcheted(add)
}

func (o object) finding(id, description, level, title, message string, details ...string) finding.Finding {
	subject := []string{o.File, o.APIVersion, o.Kind, o.Namespace, o.Name}
	if o.Source != "" {
		subject = append(subject, o.Source)
	}
	return finding.Finding{
		ID: id, Description: description, Level: level, At: finding.Location{File: o.File, Line: o.Line},
		Title: finding.InSource(o.Source, title), Message: finding.InSource(o.Source, message), Details: details,
		Subject: subject, Known: o.Known,
	}
}

func (o object) warned(add func(finding.Finding)) {
	for _, warning := range o.Warnings {
		f := o.finding("warning", "A warning of the API server", "warning", title(o.Object), warning)
		if o.Ratcheted(warning) {
			f.Details = []string{finding.AlreadySo}
		}
		add(f)
	}
}

func (o object) ratcheted(add func(finding.Finding)) {
	for i := range o.RatchetedErrors {
		c := &o.RatchetedErrors[i]
		const about = "An error of a value that an update does not change, which the API server ignores"
		f := o.finding("ratcheted", about, "note", title(o.Object), c.Field+": "+c.Message)
		f.Expression, f.Details = c.Rule, append(causeDetails(c), finding.NothingChanged)
		if c.Line > 0 {
			f.At = c.Location()
		}
		add(f)
	}
}

func (o object) errors(add func(finding.Finding)) {
	switch name := title(o.Object); {
	case o.Verdict == finding.Unreadable:
		const about = "A document that cannot be read as a Kubernetes object"
		add(o.finding("unreadable", about, "error", "unreadable", o.Problem))
	case o.Verdict == finding.Undecided:
		const about = "An object whose validation exceeds the work limit"
		f := o.finding("undecided", about, "error", name+" is undecided", name+": "+o.Problem)
		if o.Limit != nil {
			f.Expression, f.Details = o.Limit.Rule.Rule, []string{decide}
		}
		add(f)
	case o.strictKinds && o.WithoutCRD():
		add(o.finding("skipped", "An object whose CRD was not given", "error", name+" skipped", o.Problem))
	case o.Denied(): // by policies, whose decisions are findings
	case o.Verdict == finding.Invalid && len(o.Causes) == 0:
		const about = "A request that the API server cannot process"
		f := o.finding(o.Status.Reason, about, "error", name+" is invalid", o.Status.Message)
		if len(o.Strict) > 0 {
			f.At = o.Strict[0]
		}
		for _, at := range o.Strict[:min(len(o.Strict), maxStrict)] {
			if at.Hint != "" {
				f.Details = append(f.Details, at.Field+": "+at.Hint)
			}
		}
		add(f)
		o.allFollowing(add)
	case o.Verdict == finding.Invalid:
		o.causes(add)
		o.allFollowing(add)
	}
	for i := range o.Policies {
		if d := &o.Policies[i]; d.Action != "Warn" { // sent by the server as a warning
			add(o.decision(d))
		}
	}
	if o.Upgrade != nil && o.Upgrade.Finding() {
		const about = "An object that an upgrade of its CRD affects"
		f := o.finding("upgrade", about, "error", title(o.Object)+" and the upgrade", "")
		f.SetLines(Upgraded(o.Object))
		add(f)
	}
}

// causes adds the server's remark that some rules did not run to the first finding.
func (o object) causes(add func(finding.Finding)) {
	incomplete := len(o.Causes) > 1 && slices.ContainsFunc(o.Causes, func(c finding.Cause) bool { return c.Incomplete() })
	remark := incomplete
	for i := range o.Causes {
		c := &o.Causes[i]
		if incomplete && c.Incomplete() {
			continue
		}
		f := o.cause(c)
		if remark {
			f.Details = append(f.Details, rulesNotRun)
			remark = false
		}
		add(f)
	}
}

// allFollowing adds the causes that would follow as notes, because the server does not report them yet.
func (o object) allFollowing(add func(finding.Finding)) {
	for i := range o.Following {
		f := o.cause(&o.Following[i])
		f.Level, f.Message, f.Title = "note", Follows+f.Message, f.Title+FollowsTitle
		add(f)
	}
}

// Follows begins the text of a finding that the server would report once other errors are fixed, and FollowsTitle ends its
// title.
const (
	Follows      = "would follow: "
	FollowsTitle = " (would follow)"
)

const rulesNotRun = "some rules did not run, because the object is invalid"

func (o object) cause(c *finding.Cause) finding.Finding {
	invalid := title(o.Object) + " is invalid"
	reason := cmp.Or(c.Reason, o.Status.Reason) // denials of mutating policies have no reason of their own
	f := o.finding(reason, "A check of the API server: "+reason, "error", invalid, invalid+": "+c.Field+": "+c.Message)
	f.Expression, f.Details = c.Rule, causeDetails(c)
	if f.Rule = c.Ref; c.Ref != nil {
		group, _, _ := strings.Cut(o.APIVersion, "/")
		f.ID = fmt.Sprintf("%s/%s/%s/%s[%d]", group, o.Kind, c.Ref.Version, c.Ref.Path, c.Ref.Index)
		f.Description = c.Rule
	}
	if c.Line > 0 {
		f.At = c.Location()
	}
	f.Code = c.Code
	return f
}

func causeDetails(c *finding.Cause) (lines []string) {
	for _, v := range c.Values {
		lines = append(lines, "  "+v.Expr+": "+v.Text)
	}
	if c.NotShown != "" {
		lines = append(lines, "  values not shown: "+c.NotShown)
	}
	return append(lines, HintLines(c)...)
}

func (o object) cases() (file string, cases []junit.Testcase) {
	c := junit.Testcase{Name: string(caseName(o.Object)), Classname: string(untrusted.Line(o.Kind))}
	if c.Classname == "" {
		c.Classname = "unknown"
	}
	problem, place := untrusted.Line(o.Problem), untrusted.Line(place(o.Object))
	var b strings.Builder
	switch {
	case o.Verdict == finding.Invalid:
		Where(&b, o.Object)
		c.Failure = JUnitResult(KubectlError(o.Object), untrusted.Line(o.Status.Reason), untrusted.Safe(b.String()))
	case o.Verdict == finding.Unreadable:
		c.Error = JUnitResult(problem, finding.Unreadable, place)
	case o.Verdict == finding.Undecided:
		undecided(&b, o.Object)
		c.Error = JUnitResult(problem, finding.Undecided, place+"\n"+untrusted.Safe(b.String()))
	case o.strictKinds && o.WithoutCRD():
		c.Failure = JUnitResult(problem, finding.Skipped, place)
	case o.Verdict == finding.Skipped:
		c.Skipped = JUnitResult(problem, "", "")
	}
	if o.Upgrade != nil && c.Failure == nil && o.Upgrade.Finding() {
		showUpgrade(&b, o.Object)
		c.Failure = JUnitResult("the upgrade changes the object", "Upgrade", untrusted.Safe(b.String()))
	}
	if o.Known {
		c.Failure, c.Skipped = nil, JUnitResult(known, "", "")
	}
	if len(o.Warnings) > 0 {
		c.SystemOut = &junit.Output{Data: strings.TrimSuffix(string(warnings(o.Object)), "\n")}
	}
	return finding.InSource(o.Source, o.File), []junit.Testcase{c}
}

func caseName(o *finding.Object) untrusted.Safe {
	switch {
	case o.Name == "":
		return untrusted.Sprintf("document %d, item %d", o.Document, o.Item)
	case o.Namespace != "":
		return untrusted.Sprintf("%s %s/%s", o.Kind, o.Namespace, o.Name)
	}
	return untrusted.Sprintf("%s %s", o.Kind, o.Name)
}

func title(o *finding.Object) string { return strings.TrimSpace(o.Kind + " " + o.Name) }

func place(o *finding.Object) string { return finding.InSource(o.Source, placeInFile(o)) }

func placeInFile(o *finding.Object) string {
	return finding.Location{File: o.File, Line: o.Line}.Place()
}

// UpgradeCounts returns the counts of an upgrade, except for undecided objects.
func UpgradeCounts(s *finding.UpgradeSummary) string {
	return fmt.Sprintf("%d accepted before and rejected on create now, %d rejected on update even when unchanged, %d accepted by ratcheting, %d silently changed",
		s.RejectedOnCreate, s.RejectedOnUpdate, s.Ratcheted, s.Changed)
}

func showUpgrades(b *strings.Builder, s *finding.UpgradeSummary) {
	if s == nil {
		return
	}
	b.WriteString("upgrade: " + UpgradeCounts(s))
	if s.Undecided > 0 {
		untrusted.Fprintf(b, ", %d undecided", s.Undecided)
	}
	b.WriteString("\nceladon diff OLD NEW compares the CRDs themselves and finds breaking changes beyond these objects\n")
}

// Upgraded describes the effect of an upgrade on the object in a few lines.
func Upgraded(o *finding.Object) string {
	var b strings.Builder
	showUpgrade(&b, o)
	return strings.TrimSpace(b.String())
}

func showUpgrade(b *strings.Builder, o *finding.Object) {
	u := o.Upgrade
	var what []string
	for _, effect := range []struct {
		is   bool
		text string
	}{
		{u.RejectedOnCreate(), "accepted before, rejected on create now"},
		{u.RejectedOnUpdate(), "rejected on update even when unchanged"},
		{u.Before == finding.Undecided, "undecided before"},
		{u.Now == finding.Undecided, "undecided on create now"},
		{u.Unchanged == finding.Undecided, "undecided on an unchanged update"},
		{u.Ratcheted, "accepted by ratcheting on an unchanged update"},
		{len(u.Changes) > 0, "silently changed"},
	} {
		if effect.is {
			what = append(what, effect.text)
		}
	}
	if len(what) == 0 {
		return
	}
	untrusted.Fprintf(b, "%s: upgrade: %s: %s\n", place(o), title(o), strings.Join(what, "; "))
	for _, c := range u.Changes {
		if c.Before != "" {
			untrusted.Fprintf(b, "  - %s: %s\n", c.Field, c.Before)
		}
		if c.After != "" {
			untrusted.Fprintf(b, "  + %s: %s\n", c.Field, c.After)
		}
	}
}
