// Package remote is celadontest for modules that cannot take the Kubernetes libraries
// which celadon is built on: it needs nothing but the celadon command, which it talks
// to over a pipe.
//
//	crds := remote.Start(t, "../config/crd")
//	crds.Accepts(t, widget)
//	crds.Rejects(t, broken, remote.Cause{Field: "spec.size", Message: "must be positive"})
//	crds.Update(widget).Rejects(t, renamed, remote.Cause{Message: "name is immutable"})
//
// An object is a Go value whose JSON has apiVersion and kind, or JSON as a string or
// []byte. Creates, updates, status updates and causes are as in celadontest; its Cover,
// Err and scale updates, YAML and schemes are not here.
package remote

// How it works: celadon check --pipe reads a request a line and answers with a line
// (process.go). It is one process for a call of Start, whose requests wait for each
// other, and it ends when the test does: its standard input is closed then, and a
// process that stays is killed. What it writes is bounded, as is the time that it takes
// for an answer.
