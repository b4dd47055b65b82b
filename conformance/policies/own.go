package policies

import (
	"context"

	"github.com/celadon-cel/celadon/engine/policy"
)

// Own evaluates a request with engine/policy.
func Own(set *policy.Set, req *policy.Request) (Answer, *policy.Result) {
	res, err := set.Evaluate(context.Background(), *req)
	if err != nil {
		return Answer{Err: err.Error()}, nil
	}
	answer := Answer{Failure: res.Failure, Warnings: res.Warnings, Notes: res.AuditAnnotations}
	for _, e := range res.Evaluations {
		answer.Cost += e.Cost
		answer.MatchCost += e.MatchCost
	}
	return answer, res
}
