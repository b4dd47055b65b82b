package vet

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

type tableRow struct {
	total   uint64
	numbers [5]untrusted.Safe // total, percentage of the rule's limit, percentage of the schema's limit, single, cardinality
	where   untrusted.Safe
	rule    string
}

const shownRule = 60

func (p *textPrinter) rows(v *vet.Version) []tableRow {
	var rows []tableRow
	row := func(r *vet.Rule, where untrusted.Safe, rule string, total, once, times uint64) {
		rows = append(rows, tableRow{
			total:   total,
			numbers: [5]untrusted.Safe{formatNumber(total), share(total, r.Limit) + p.bar(total, r.Limit), share(total, v.Limit) + p.bar(total, v.Limit), formatNumber(once), formatNumber(times)},
			where:   where,
			rule:    rule,
		})
	}
	for i := range v.Rules {
		r := &v.Rules[i]
		row(r, rulePath(r)+multipliers(r), r.Rule, r.EstimatedTotal, r.EstimatedCost, r.Cardinality)
		if r.Broken {
			rows[len(rows)-1].numbers = [5]untrusted.Safe{"broken"}
		}
		if r.MessageExpressionCost > r.EstimatedTotal {
			row(r, rulePath(r)+" messageExpression", r.MessageExpression, r.MessageExpressionCost, r.MessageExpressionCost, 1)
		}
	}
	slices.SortStableFunc(rows, func(x, y tableRow) int { return cmp.Compare(y.total, x.total) })
	return rows
}

// table writes one line per row. If that is too wide for the terminal, the path and the rule are
// written below the numbers.
func (p *textPrinter) table(b *strings.Builder, rows []tableRow) {
	const indent = 4
	rows = slices.Insert(rows, 0, tableRow{numbers: [5]untrusted.Safe{"TOTAL", "LIMIT", "CRD", "ONCE", "TIMES"}, where: "WHERE", rule: "RULE"})
	var widths [5]int
	where := 0
	for _, row := range rows {
		for i, cell := range row.numbers {
			widths[i] = max(widths[i], termwidth.Width(string(cell)))
		}
		where = max(where, termwidth.Width(string(row.where)))
	}
	wide := indent + len(widths) + where + 2 + shownRule
	for _, w := range widths {
		wide += w
	}
	narrow := p.width > 0 && wide > p.width
	cells, all := 0, indent-1
	for cells < len(widths) && (cells == 0 || !narrow || all+1+widths[cells] <= p.width) {
		all += 1 + widths[cells]
		cells++ // the last columns are omitted if the terminal is too narrow for the numbers alone
	}
	for i, row := range rows {
		line := strings.Repeat(" ", indent-1)
		for i, cell := range row.numbers[:cells] {
			line += " " + strings.Repeat(" ", widths[i]-termwidth.Width(string(cell))) + string(cell)
		}
		if !narrow {
			line += "  " + string(row.where) + strings.Repeat(" ", where-termwidth.Width(string(row.where))) + "  " + string(oneLine(row.rule, shownRule))
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		if narrow && i > 0 {
			p.line(b, indent+2, row.where)
			p.line(b, indent+2, oneLine(row.rule, max(shownRule, p.width-indent-2)))
		}
	}
}

func rulePath(r *vet.Rule) untrusted.Safe { return untrusted.Line(phrase.Path(r.Path)) }

// formatNumber and share return trusted text.
func formatNumber(n uint64) untrusted.Safe    { return untrusted.Safe(phrase.Number(n)) }
func share(part, limit uint64) untrusted.Safe { return untrusted.Safe(phrase.Share(part, limit)) }

func lastStep(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

func multipliers(r *vet.Rule) untrusted.Safe {
	if len(r.Factors) == 0 {
		return ""
	}
	parts := make([]string, len(r.Factors))
	for i, f := range r.Factors {
		if !f.Bounded {
			parts[i] = string(untrusted.Sprintf("%s without %s", lastStep(f.Path), f.Word()))
		} else {
			parts[i] = string(untrusted.Sprintf("%s %s", lastStep(f.Path), formatNumber(f.Max)))
		}
	}
	return untrusted.Safe(" (" + strings.Join(parts, ", ") + ")")
}

// line does not fold text: the layout of the report does.
func (p *textPrinter) line(b *strings.Builder, indent int, text untrusted.Safe) {
	b.WriteString(strings.Repeat(" ", indent) + string(text) + "\n")
}

func (p *textPrinter) bar(cost, limit uint64) untrusted.Safe {
	if !p.out.Colors || cost == 0 || cost < limit/1000 || limit == 0 {
		return ""
	}
	width := 10
	switch {
	case p.width < 70:
		width = 3
	case p.width < 80:
		width = 5
	}
	full := int(math.Ceil(float64(width) * math.Min(1, float64(cost)/float64(limit))))
	filled := untrusted.Safe(strings.Repeat("█", full))
	if cost > limit {
		filled = p.out.Paint(untrusted.Red, filled)
	}
	return " " + filled + untrusted.Safe(strings.Repeat("░", width-full))
}

func oneLine(rule string, n int) untrusted.Safe {
	return untrusted.Safe(termwidth.Cut(string(untrusted.Line(lex.Flat(rule))), n))
}
