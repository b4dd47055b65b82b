package finding

import (
	"fmt"
	"iter"
	"strings"
)

// Finding is a problem of an object at a location, for formats that list findings.
type Finding struct {
	// ID and Description identify the check: a CEL rule, or a check of the server.
	ID, Description string
	// Level is error or warning.
	Level string
	At    Location
	Text  string
	// Cause is the cause that the finding describes, or nil.
	Cause *Cause
}

// Findings returns the findings of an object. Most objects have no findings.
func (o *Object) Findings() iter.Seq[Finding] { return o.findings(false) }

func (o *Object) findings(strictKinds bool) iter.Seq[Finding] {
	return func(yield func(Finding) bool) {
		for f := range o.errors(strictKinds) {
			if f.Level = "error"; !yield(f) {
				return
			}
		}
		for _, warning := range o.Warnings {
			if !yield(Finding{"warning", "A warning of the API server", "warning", o.location(), warning, nil}) {
				return
			}
		}
	}
}

func (o *Object) location() Location { return Location{File: o.File, Line: o.Line} }

func (o *Object) errors(strictKinds bool) iter.Seq[Finding] {
	return func(yield func(Finding) bool) {
		more := true
		switch at := o.location(); {
		case o.Verdict == Unreadable:
			more = yield(Finding{ID: "unreadable", Description: "A document that cannot be read as a Kubernetes object", At: at, Text: o.Problem})
		case o.Verdict == Undecided:
			more = yield(Finding{ID: "undecided", Description: "An object whose validation exceeds the work limit", At: at, Text: o.title() + ": " + string(o.undecidedText())})
		case o.Verdict == Skipped && strictKinds:
			more = yield(Finding{ID: "skipped", Description: "An object whose CRD was not given", At: at, Text: o.Problem})
		case o.Verdict == Invalid && len(o.Causes) == 0:
			if len(o.Strict) > 0 {
				at = o.Strict[0]
			}
			more = yield(Finding{ID: o.Status.Reason, Description: "A request that the API server cannot process", At: at, Text: o.Status.Message})
		case o.Verdict == Invalid:
			for i := 0; more && i < len(o.Causes); i++ {
				more = yield(o.cause(&o.Causes[i]))
			}
		}
		if more && o.Upgrade != nil && o.Upgrade.Finding() {
			yield(Finding{ID: "upgrade", Description: "An object that an upgrade of its CRD affects", At: o.location(), Text: o.Upgraded()})
		}
	}
}

// cause returns the finding of a cause. Its ID is the CEL rule, or else the server's reason.
func (o *Object) cause(c *Cause) Finding {
	f := Finding{ID: c.Reason, Description: "A check of the API server: " + c.Reason, At: o.location(), Text: o.title() + " is invalid: " + c.text(), Cause: c}
	if c.Ref != nil {
		group, _, _ := strings.Cut(o.APIVersion, "/")
		f.ID = fmt.Sprintf("%s/%s/%s/%s[%d]", group, o.Kind, c.Ref.Version, c.Ref.Path, c.Ref.Index)
		f.Description = c.Rule
	}
	if c.Line > 0 {
		f.At = c.Location()
	}
	return f
}

// text returns the cause with its rule and values.
func (c *Cause) text() string {
	text := c.Field + ": " + c.Message
	if c.Rule == "" {
		return text
	}
	text += "\nrule: " + c.Rule
	for _, v := range c.Values {
		text += "\n  " + v.Expr + ": " + v.Text
	}
	if c.NotShown != "" {
		text += "\n  values not shown: " + c.NotShown
	}
	return text
}
