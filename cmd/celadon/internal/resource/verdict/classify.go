package verdict

import (
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
)

// classify returns the verdict on documents that are not objects, and on objects of other shards.
func (d *decision) classify() outcome {
	if d.Keyed {
		d.report.Key = d.CRDs.Key(d.doc.Identity())
	}
	if d.Elsewhere != nil && d.Elsewhere(d.report) {
		return outcome{verdict: finding.Elsewhere}
	}
	out := outcome{verdict: finding.Ignored, problem: d.Filter.Reason(d.doc)}
	switch {
	case out.problem == "" && !d.Filter.Unrendered(d.doc):
		return outcome{}
	case out.problem == "":
		out = outcome{verdict: finding.Unreadable, problem: resource.ErrTemplate.Error()}
	case out.problem != resource.ChartTemplate:
		return out
	}
	d.report.Line, d.report.Template = 0, true
	return out
}
