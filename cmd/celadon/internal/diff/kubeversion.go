package diff

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// KubeVersions are the verdicts of two Kubernetes versions on the same CRD.
type KubeVersions struct {
	From finding.KubeVersion `json:"from"`
	To   finding.KubeVersion `json:"to"`
	// Estimates lists the rules whose estimated costs differ, highest new cost first.
	Estimates []Estimate `json:"estimates,omitempty"`
}

// An Estimate is the estimated cost of a rule for all its runs on an object, in CEL cost units.
type Estimate struct {
	Version string `json:"version"`
	Path    string `json:"path"`
	Index   int    `json:"index"`
	Rule    string `json:"rule"`
	From    uint64 `json:"from"`
	To      uint64 `json:"to"`
	Limit   uint64 `json:"limit"`
}

// upgrade returns the verdicts of the Kubernetes versions of o on creating the CRD of p. It returns
// nil if only one version is compared.
func (p *pair) upgrade(ctx context.Context, o *Options) (*KubeVersions, error) {
	if o.ToKubeVersion == "" {
		return nil, nil
	}
	data, err := created(p.after)
	if err != nil {
		return nil, err
	}
	var reports [2]*vet.Report
	for i, version := range []string{o.KubeVersion, o.ToKubeVersion} {
		if reports[i], err = vet.Vet(ctx, data, vet.Config{KubeVersion: version, KubeVersions: []string{version}, Beta: true}); err != nil {
			return nil, &internalError{fmt.Errorf("kubernetes %s: %w", version, err)}
		}
	}
	u := &KubeVersions{From: kubeVersion(o.KubeVersion, reports[0]), To: kubeVersion(o.ToKubeVersion, reports[1])}
	u.Estimates = estimates(reports[0], reports[1])
	return u, nil
}

// created returns the JSON of a CRD as it is created, without the fields that only a server sets.
func created(d *definition) ([]byte, error) {
	if !resource.Stored(d.doc.Object) {
		return d.doc.JSON()
	}
	crd, err := resource.Decode(d.doc)
	if err != nil {
		return nil, err
	}
	stored := crd.ObjectMeta
	crd.ObjectMeta = metav1.ObjectMeta{Name: stored.Name, Labels: stored.Labels, Annotations: stored.Annotations}
	crd.APIVersion, crd.Kind = resource.APIVersion, resource.Kind
	return json.Marshal(crd)
}

func kubeVersion(version string, r *vet.Report) finding.KubeVersion {
	if len(r.KubeVersions) == 1 {
		return finding.NewKubeVersion(r.KubeVersions[0])
	}
	one := finding.NewKubeVersion(vet.KubeVersion{Version: version, Accepted: r.Accepted, Causes: r.Causes})
	if r.Status != nil && len(r.Causes) == 0 {
		one.Causes = append(one.Causes, finding.KubeVersionCause{Reason: string(r.Status.Reason), Message: r.Status.Message})
	}
	return one
}

func estimates(from, to *vet.Report) (list []Estimate) {
	type ref struct {
		version, path string
		index         int
	}
	old := map[ref]uint64{}
	for _, v := range from.Versions {
		for _, r := range v.Rules {
			if !r.Broken {
				old[ref{v.Name, r.Path, r.Index}] = r.EstimatedTotal
			}
		}
	}
	for _, v := range to.Versions {
		for _, r := range v.Rules {
			if was, ok := old[ref{v.Name, r.Path, r.Index}]; ok && !r.Broken && was != r.EstimatedTotal {
				list = append(list, Estimate{v.Name, r.Path, r.Index, r.Rule, was, r.EstimatedTotal, r.Limit})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Estimate) int { return cmp.Compare(b.To, a.To) })
	return list
}

// rejects reports whether only the new version rejects the CRD.
func (u *KubeVersions) rejects() bool { return u != nil && u.From.Accepted && !u.To.Accepted }

// verdict describes the verdicts of both versions on the CRD on one line. It returns "" if both accept it.
func (u *KubeVersions) verdict() untrusted.Safe {
	switch {
	case u.rejects():
		return untrusted.Sprintf("Kubernetes %s rejects the CRD, which %s accepts:", u.To.Version, u.From.Version)
	case !u.From.Accepted && u.To.Accepted:
		return untrusted.Sprintf("Kubernetes %s accepts the CRD, which %s rejects:", u.To.Version, u.From.Version)
	case !u.From.Accepted:
		return untrusted.Sprintf("Kubernetes %s and %s reject the CRD:", u.From.Version, u.To.Version)
	}
	return ""
}

// causes returns the causes of the rejection that verdict describes.
func (u *KubeVersions) causes() []finding.KubeVersionCause {
	if u.To.Accepted {
		return u.From.Causes
	}
	return u.To.Causes
}

func causeText(c finding.KubeVersionCause) untrusted.Safe {
	message, _, _ := strings.Cut(c.Message, "\n")
	if message = preview.Middle(message, shown); c.Field == "" {
		return untrusted.Line(message)
	}
	return untrusted.Sprintf("%s: %s", c.Field, message)
}

// text describes the verdicts of both versions and their causes in a few lines.
func (u *KubeVersions) text() untrusted.Safe {
	text := u.verdict()
	for _, c := range u.causes() {
		text += "\n" + causeText(c)
	}
	return text
}

const maxEstimates = 10

// upgrade writes the verdicts of two Kubernetes versions on the CRD.
func (p *textPrinter) upgrade(b *strings.Builder, u *KubeVersions) {
	colour := untrusted.Yellow
	if u.rejects() {
		colour = untrusted.Red
	}
	if verdict := u.verdict(); verdict != "" {
		untrusted.Fprintf(b, "  %s\n", p.out.Paint(colour, verdict))
		for _, c := range u.causes() {
			untrusted.Fprintf(b, "    %s\n", causeText(c))
		}
	}
	for i, e := range u.Estimates {
		if i == maxEstimates {
			untrusted.Fprintf(b, "  and %s with another estimated cost\n", phrase.Count(len(u.Estimates)-i, "more rule"))
			break
		}
		untrusted.Fprintf(b, "  %s\n", e.text())
	}
}

// text describes an estimate on one line.
func (e *Estimate) text() untrusted.Safe {
	return untrusted.Sprintf("%s %s: estimated cost %s, was %s: %s of the limit", e.Version, phrase.Rule(e.Path, e.Index), phrase.Number(e.To), phrase.Number(e.From), phrase.Share(e.To, e.Limit))
}
