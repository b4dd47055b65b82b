// Package policies compares engine/policy with the API server's own code for admission policies, in
// one process and without a server: the decision, code, message, warnings, audit annotations, and the
// costs of both groups of expressions. For mutating policies it also compares the resulting object.
//
//	go test -v ./policies -args -scenarios 2000    generated policies and requests
//	CELADON_POLICIES=dir go test -v ./policies     also the policies in dir/*/*.yaml
//
// The server's code iterates over maps in random order, which can change a cost or an error. The tests
// then repeat it until it has the result of engine/policy.
package policies
