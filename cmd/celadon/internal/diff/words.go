package diff

import (
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/compare"
)

// The descriptions of changes that all formats share.

// title returns the name of a change, such as "v1, v1beta1 spec.size: bound".
func (c *Change) title() untrusted.Safe {
	versions := strings.Join(append([]string{c.Version}, c.Also...), ", ")
	if c.OldVersion != "" {
		versions = c.OldVersion + " as " + versions
	}
	switch {
	case c.Version == "":
		return untrusted.Line(c.Subject)
	case c.Path == "" && c.Subject != "rule" && c.Subject != "message":
		return untrusted.Sprintf("%s: %s", versions, c.Subject)
	}
	return untrusted.Sprintf("%s %s: %s", versions, shortened(phrase.Path(c.Path)), c.Subject)
}

var effects = map[compare.Effect]untrusted.Safe{
	compare.Breaking: "breaks", compare.Both: "breaks, and accepts more", compare.Unknown: "unknown",
	compare.Loosening: "accepts more", compare.Equivalent: "has no effect",
}

func (c *Change) effect() untrusted.Safe {
	text := effects[c.Effect]
	switch {
	case c.Effect == compare.Unknown:
		return "unknown effect: " + c.noWitness()
	case c.Effect == compare.Breaking && c.Clusters != "":
		text += " " + untrusted.Line(c.Clusters)
	case c.Effect == compare.Loosening && c.Admitted == nil && c.Kept != nil:
		text = "breaks nothing"
	}
	switch c.By {
	case compare.ByProof:
		if c.Proof != "" {
			text += untrusted.Sprintf(" (proved: %s)", c.Proof)
		}
	case compare.BySearch:
		text += " (" + c.noWitness() + ")"
	}
	return text
}

func (c *Change) noWitness() untrusted.Safe {
	text := untrusted.Sprintf("nothing found in %s, not proved", phrase.Count(c.Searched, "object"))
	if c.Reason != "" {
		reason, _, _ := strings.Cut(c.Reason, "\n")
		text += untrusted.Sprintf("; %s", preview.Middle(reason, 200))
	}
	return text
}

// shown is the maximum length of a text from a CRD, in characters.
const shown = 400

func flat(c *Change, text string) untrusted.Safe { return untrusted.Line(shortened(c.flat(text))) }

func (c *Change) flat(text string) string {
	if c.Subject == "rule" {
		return lex.Flat(text)
	}
	return text
}

func shortened(text string) string { return preview.Middle(text, shown) }

func (w *Witness) describe() string {
	var parts []string
	if w.Create == w.ChangedUpdate && w.Create == w.UnchangedUpdate {
		return "creating it is " + verdicts[w.Create] + ", and so is every update"
	}
	for _, a := range []struct {
		verdict compare.Verdict
		of      string
	}{{w.Create, "creating it"}, {w.ChangedUpdate, "updating another object to it"}, {w.UnchangedUpdate, "updating it without a change"}} {
		if words := verdicts[a.verdict]; words != "" {
			parts = append(parts, a.of+" is "+words)
		}
	}
	return strings.Join(parts, "; ")
}

// causes returns the causes, one per line. The API server adds a cause without a field if it did not
// evaluate some rules; it is omitted.
func (w *Witness) causes() (lines []untrusted.Safe) {
	for _, c := range w.Causes {
		switch {
		case c.Field != "<nil>":
			lines = append(lines, untrusted.Sprintf("%s: %s", shortened(c.Field), shortened(c.Message)))
		case c.Kind != engine.CauseRulesSkipped:
			lines = append(lines, untrusted.Line(shortened(c.Message)))
		}
	}
	return lines
}

const maxAlsoBreaks = 5

func (w *Witness) alsoBreaks() untrusted.Safe {
	if len(w.AlsoBreaks) == 0 {
		return ""
	}
	var names []string
	for _, o := range w.AlsoBreaks {
		if len(names) == maxAlsoBreaks {
			names = append(names, phrase.Count(len(w.AlsoBreaks)-maxAlsoBreaks, "more change"))
			break
		}
		one := Change{Version: o.Version, Path: o.Path, Subject: o.Subject}
		name := one.title()
		if o.Subject == "rule" { // a path can have several
			name += " " + flat(&one, o.New)
		}
		names = append(names, string(name))
	}
	return "it also breaks " + untrusted.Safe(strings.Join(names, "; "))
}

var verdicts = map[compare.Verdict]string{
	compare.Accepted:  "accepted",
	compare.Rejected:  "rejected",
	compare.Ratcheted: "accepted (ratcheting)",
	compare.Changed:   "accepted, but persisted differently",
	compare.Undecided: "undecided",
}

func (c *Change) head(w *Witness) string {
	write := "this object"
	switch {
	case w.Operation == "update":
		write = "this update"
	case w.Operation == "status":
		write = "this write of the status"
	}
	switch {
	case w == c.Admitted:
		return write + " was rejected and is accepted now"
	case len(w.Kept) > 0:
		return write + " is persisted differently now"
	}
	return write + " was accepted and is rejected now"
}

func (r *Report) summary() string {
	s := &r.Summary
	parts := []string{phrase.Count(s.CRDs, "CRD") + " compared"}
	one, others := "update of a CRD is rejected", "updates of CRDs are rejected"
	if r.ToKubeVersion != "" {
		one, others = "is rejected by Kubernetes "+r.ToKubeVersion, "are rejected by Kubernetes "+r.ToKubeVersion
	}
	for _, n := range []struct {
		count       int
		one, others string
	}{
		{len(r.Removed), "version in use is removed", "versions in use are removed"},
		{s.Rejected, one, others},
		{s.Breaking, "change breaks", "changes break"},
		{s.Unknown, "is unknown", "are unknown"},
		{s.Allowed, "is allowed", "are allowed"},
		{s.Loosening, "accepts more", "accept more"},
		{s.Equivalent, "has no effect", "have no effect"},
		{s.Unreadable, "document is unreadable", "documents are unreadable"},
	} {
		if n.count > 1 {
			n.one = n.others
		}
		if n.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.count, n.one))
		}
	}
	return strings.Join(parts, ", ")
}

func unchangedText(n int) string {
	if n == 1 {
		return "1 CRD is unchanged"
	}
	return phrase.Count(n, "CRD") + " are unchanged"
}

func (r *Report) conclusion() string {
	switch {
	case r.Summary.Interrupted:
		return "interrupted: the comparison is incomplete"
	case !r.Compatible:
		return "not compatible"
	case r.Proved:
		return "compatible (proved)"
	case r.Summary.Unreadable > 0:
		return "unknown"
	case r.Summary.unproved > 0:
		return "no breaking change found (not proved)"
	}
	return "compatible, except for allowed changes"
}

func (o *Objects) text() string {
	return phrase.Count(o.Checked, "object") + ": " + print.UpgradeCounts(&o.UpgradeSummary)
}
