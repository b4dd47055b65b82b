package cost

import (
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Limits are the bounds that the API server sets on rules, in CEL cost units.
// A zero field means the API server's own constant, so the zero value is the
// server's behaviour.
type Limits struct {
	// PerCall bounds one evaluation of one rule or messageExpression
	// (1,000,000).
	PerCall int64
	// PerObject bounds all evaluations for one object (10,000,000).
	PerObject int64
	// EstimatedPerRule bounds the estimate of one rule times its cardinality,
	// and of one messageExpression (10,000,000).
	EstimatedPerRule int64
	// EstimatedPerCRD bounds the sum of the estimates of one version's schema
	// (100,000,000).
	EstimatedPerCRD int64
}

// The API server's constants that k8s.io/apiserver does not export: they stand
// in k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation, which
// this package must not import (it brings gRPC and client-go).
const (
	estimatedPerRule = 10_000_000
	estimatedPerCRD  = 100_000_000
)

// WithDefaults returns l with the API server's constant in each zero field.
func (l Limits) WithDefaults() Limits {
	if l.PerCall == 0 {
		l.PerCall = celconfig.PerCallLimit
	}
	if l.PerObject == 0 {
		l.PerObject = celconfig.RuntimeCELCostBudget
	}
	if l.EstimatedPerRule == 0 {
		l.EstimatedPerRule = estimatedPerRule
	}
	if l.EstimatedPerCRD == 0 {
		l.EstimatedPerCRD = estimatedPerCRD
	}
	return l
}
