package vet

import (
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/types"
)

// versions sets the Kubernetes versions of cfg. Without --kube-version, the newest version determines the
// verdict, and the verdicts of all released versions are reported. Of a list, the newest released version
// determines the messages.
func (o *Options) versions(cfg *vet.Config) error {
	list := types.Released()
	if o.KubeVersion != "" {
		var err error
		if list, err = types.ParseVersions(o.KubeVersion); err != nil {
			return fmt.Errorf("--kube-version: %w", err)
		}
		newest := len(list) - 1
		if newest > 0 && list[newest].Preview() {
			newest--
		}
		cfg.KubeVersion = list[newest].String()
		cfg.AdviseAll = len(list) > 1
	}
	if len(list) > 1 {
		for _, v := range list {
			cfg.KubeVersions = append(cfg.KubeVersions, v.String())
		}
	}
	return nil
}

// If --kube-version lists several versions, all of them must accept the CRD.
func (one *vetted) accepted() bool {
	if one.decisive {
		for _, v := range one.report.KubeVersions {
			if !v.Accepted {
				return false
			}
		}
	}
	return one.report.Accepted
}

func versionCause(v *vet.KubeVersion) string {
	if len(v.Causes) == 0 {
		return ""
	}
	c := &v.Causes[0]
	where := c.Field
	if c.Rule != nil {
		where = phrase.Rule(c.Rule.Path, c.Rule.Index)
	}
	detail, _, _ := strings.Cut(c.Detail, "\n")
	detail, _, _ = strings.Cut(detail, " (try simplifying the rule")
	if detail == "" {
		detail = string(c.Reason)
	}
	text := where + ": " + detail
	if more := len(v.Causes) - 1; more > 0 {
		text += " (and " + phrase.Count(more, "more cause") + ")"
	}
	return text
}

// versionsDiffer reports whether the verdicts are not those that the rest of the report implies: the
// versions that support all parts of the rules accept an accepted CRD, and no version accepts a
// rejected CRD.
func versionsDiffer(r *vet.Report) bool {
	since := types.Version{Minor: types.Oldest}
	for _, n := range r.Needs {
		if v, err := types.ParseVersion(n.KubeVersion); err == nil && !n.Silent {
			since.Minor = max(since.Minor, v.Minor)
		}
	}
	for _, one := range r.KubeVersions {
		v, err := types.ParseVersion(one.Version)
		if err == nil && one.Accepted != (r.Accepted && v.Minor >= since.Minor) {
			return true
		}
	}
	return false
}

// versionSentence returns the verdicts in a sentence, such as "accepted by Kubernetes 1.30 to 1.36;
// rejected by 1.37: spec.url, rule 1: …".
func versionSentence(list []vet.KubeVersion) string {
	var accepting, rejecting []string
	for len(list) > 0 {
		first, cause, n := &list[0], versionCause(&list[0]), 1
		for n < len(list) && list[n].Accepted == first.Accepted && versionCause(&list[n]) == cause {
			n++
		}
		text := first.Version
		if n > 1 {
			text += " to " + list[n-1].Version
		}
		if cause != "" {
			text += ": " + cause
		}
		if list = list[n:]; first.Accepted {
			accepting = append(accepting, "accepted by "+text)
		} else {
			rejecting = append(rejecting, "rejected by "+text)
		}
	}
	return strings.Replace(strings.Join(append(accepting, rejecting...), "; "), " by ", " by Kubernetes ", 1)
}

func (p *textPrinter) kubeVersions(b *strings.Builder, one *vetted) {
	if one.decisive || versionsDiffer(one.report) {
		p.line(b, 2, untrusted.Line(versionSentence(one.report.KubeVersions)))
	}
}

func (one *vetted) kubeVersionFinding() (f finding.Finding, ok bool) {
	r := one.report
	if !r.Accepted || !versionsDiffer(r) && one.accepted() {
		return f, false
	}
	f = finding.Finding{
		ID: "kube-version", Description: "Another Kubernetes version rejects the CRD", Level: "note",
		Message: versionSentence(r.KubeVersions),
	}
	if !one.accepted() {
		f.Level = "error"
	}
	return f, true
}
