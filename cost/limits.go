package cost

import (
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Limits holds the API server's limits on rules, in CEL cost units. A zero field means the API
// server's constant, so the zero value is the server's behavior.
type Limits struct {
	// PerCall limits each evaluation of a rule or messageExpression (1,000,000).
	PerCall int64
	// PerObject limits all evaluations for an object together (10,000,000).
	PerObject int64
	// EstimatedPerRule limits the estimate of a rule times its cardinality, and the estimate of a
	// messageExpression (10,000,000).
	EstimatedPerRule int64
	// EstimatedPerCRD limits the sum of the estimates of a version's schema (100,000,000).
	EstimatedPerCRD int64
}

// Constants of k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation, which this package
// must not import because that package depends on gRPC and client-go. k8s.io/apiserver does not
// export them.
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
