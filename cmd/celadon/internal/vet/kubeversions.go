package vet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/types"
)

// versions sets the Kubernetes versions of cfg. Without --kube-version, the newest decides and the
// verdicts of all are reported.
func (o *Options) versions(cfg *vet.Config) error {
	list := types.Versions()
	if o.KubeVersion != "" {
		var err error
		if list, err = types.ParseVersions(o.KubeVersion); err != nil {
			return fmt.Errorf("--kube-version: %w", err)
		}
		cfg.KubeVersion = list[len(list)-1].String()
		cfg.AdviseAll = len(list) > 1
	}
	if len(list) > 1 {
		for _, v := range list {
			cfg.KubeVersions = append(cfg.KubeVersions, v.String())
		}
	}
	return nil
}

// accepted reports whether all versions that --kube-version lists accept the CRD.
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

// A versionRange is a range of versions with the same verdict. cause is the first cause of the first
// version.
type versionRange struct {
	first, last string
	accepted    bool
	cause       string
}

func (r versionRange) String() string {
	if r.first == r.last {
		return r.first
	}
	return r.first + " to " + r.last
}

// versionRanges returns the verdicts of a CRD's Kubernetes versions.
func versionRanges(list []vet.KubeVersion) (ranges []versionRange) {
	for _, v := range list {
		cause := ""
		if len(v.Causes) > 0 {
			cause = versionCause(&v)
		}
		if n := len(ranges); n > 0 && ranges[n-1].accepted == v.Accepted && ranges[n-1].cause == cause {
			ranges[n-1].last = v.Version
			continue
		}
		ranges = append(ranges, versionRange{v.Version, v.Version, v.Accepted, cause})
	}
	return ranges
}

// versionCause describes the first cause of a rejection and where it is.
func versionCause(v *vet.KubeVersion) string {
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
	var parts []string
	for _, accepted := range []bool{true, false} {
		for _, r := range versionRanges(list) {
			if r.accepted != accepted {
				continue
			}
			text := "rejected by "
			if accepted {
				text = "accepted by "
			}
			if len(parts) == 0 {
				text += "Kubernetes "
			}
			text += r.String()
			if r.cause != "" {
				text += ": " + r.cause
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}

// RuleVersions describes the estimates of a rule in all Kubernetes versions of a report in a line,
// such as "Kubernetes 1.28 to 1.30: does not compile; 1.31 to 1.37: 47". It returns "" if the report
// has a single Kubernetes version or not this rule.
func RuleVersions(r *vet.Report, version, path string, index int) string {
	var parts []string
	var ranges []versionRange
	for _, v := range r.KubeVersions {
		i := slices.IndexFunc(v.Rules, func(e vet.RuleEstimate) bool { return e.Version == version && e.Path == path && e.Index == index })
		if i < 0 {
			return ""
		}
		text := estimateText(r, &v.Rules[i])
		if n := len(ranges); n > 0 && ranges[n-1].cause == text {
			ranges[n-1].last = v.Version
			continue
		}
		ranges = append(ranges, versionRange{first: v.Version, last: v.Version, cause: text})
	}
	for _, one := range ranges {
		parts = append(parts, one.String()+": "+one.cause)
	}
	if len(parts) == 0 {
		return ""
	}
	return "Kubernetes " + strings.Join(parts, "; ")
}

// estimateText describes the estimate of a rule.
func estimateText(r *vet.Report, e *vet.RuleEstimate) string {
	if e.Broken {
		return "does not compile"
	}
	for _, v := range r.Versions {
		for i := range v.Rules {
			if limit := v.Rules[i].Limit; v.Name == e.Version && e.Total > limit {
				return phrase.Number(e.Total) + ", " + phrase.Share(e.Total, limit) + " of the limit"
			}
		}
	}
	return phrase.Number(e.Total)
}

// kubeVersions writes the verdicts of all versions if the rest of the report does not imply them.
func (p *textPrinter) kubeVersions(b *strings.Builder, one *vetted) {
	if one.decisive || versionsDiffer(one.report) {
		p.line(b, 2, untrusted.Line(versionSentence(one.report.KubeVersions)))
	}
}

// kubeVersionFinding returns the finding for Kubernetes versions that reject the CRD although the
// one that decides accepts it. ok is false if there is none.
func (one *vetted) kubeVersionFinding() (f crdFinding, ok bool) {
	r := one.report
	if !r.Accepted || !versionsDiffer(r) && one.accepted() {
		return f, false
	}
	f = crdFinding{
		id: "kube-version", description: "Another Kubernetes version rejects the CRD", level: "note",
		message: versionSentence(r.KubeVersions), at: one.crdLocation(),
	}
	if !one.accepted() {
		f.level = "error"
	}
	return f, true
}
