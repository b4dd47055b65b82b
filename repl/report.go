package repl

import (
	"bytes"
	"encoding/json"

	"github.com/celadon-cel/celadon/engine"
)

// A Report is the JSON form of an Answer, or of an expression that does not compile. It is the report
// of celadon eval -o json, a published contract.
type Report struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	// Object and Path identify the object and the path of self among many objects.
	Object *ReportObject `json:"object,omitempty"`
	Path   string        `json:"path,omitempty"`
	// Value is the value as JSON. CEL is the value as a CEL literal.
	Value json.RawMessage `json:"value,omitempty"`
	CEL   string          `json:"cel,omitempty"`
	Type  string          `json:"type,omitempty"`
	Cost  uint64          `json:"cost"`
	// ReportPrice is nil if the expression does not compile.
	*ReportPrice
	Error *ReportError `json:"error,omitempty"`
	// Note reports that the expression reads a status that rules do not see.
	Note string `json:"note,omitempty"`
}

// A ReportObject identifies an object.
type ReportObject struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	File       string `json:"file,omitempty"`
	Line       int    `json:"line,omitempty"`
}

// A ReportPrice holds the cost of an expression that compiles.
type ReportPrice struct {
	// EstimatedCost is the estimate for one evaluation. Cardinality is how often a rule at this path
	// may run per object.
	EstimatedCost  ReportRange `json:"estimatedCost"`
	Cardinality    uint64      `json:"cardinality"`
	EstimatedTotal uint64      `json:"estimatedTotal"`
	Limit          uint64      `json:"limit"`
}

// A ReportRange is the range of a cost estimate.
type ReportRange struct {
	Min uint64 `json:"min"`
	Max uint64 `json:"max"`
}

// A ReportError is the reason why an expression has no value.
type ReportError struct {
	Message string `json:"message"`
	// Hint describes a fix, if known.
	Hint   string `json:"hint,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// APIVersion is the apiVersion of reports.
const APIVersion = "celadon/v1"

func newReport() *Report { return &Report{Kind: "EvalReport", APIVersion: APIVersion} }

// Report returns the JSON form of the answer. The note contains the command of the shell that makes
// the status visible.
func (a *Answer) Report() (*Report, error) {
	rep := newReport()
	rep.Type, rep.Cost = a.Type, a.Cost
	rep.ReportPrice = &ReportPrice{
		EstimatedCost: ReportRange{a.Estimate.Min, a.Estimate.Max},
		Cardinality:   a.Occurrences, EstimatedTotal: a.Total(), Limit: a.Limit,
	}
	if a.Value != nil {
		var err error
		if rep.Value, err = encode(a.Value.JSON()); err != nil {
			return nil, err
		}
		rep.CEL = a.Value.String()
	}
	if a.Status != nil {
		rep.Note = a.Status.String()
	}
	if a.Err != nil {
		rep.Error = &ReportError{Message: a.Err.Error(), Hint: a.Hint}
	}
	return rep, nil
}

// Report returns the JSON form of a row, without the object.
func (x *Evaluator) Report(r *Row) (*Report, error) {
	a := x.Price
	a.Value, a.Cost, a.Err = r.Value, r.Cost, r.Err
	rep, err := a.Report()
	if err != nil {
		return nil, err
	}
	rep.Path = r.Path
	return rep, nil
}

// BrokenReport returns the JSON form of an expression that does not compile.
func (s *Session) BrokenReport(bad *engine.CompileError) *Report {
	rep := newReport()
	rep.Error = &ReportError{Message: bad.Summary(), Hint: s.Hint(bad), Line: bad.Line, Column: bad.Column}
	return rep
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
