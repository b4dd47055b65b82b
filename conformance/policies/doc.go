// Package policies compares engine/policy with the API server's own code for admission policies, in
// one process and without a server.
package policies
