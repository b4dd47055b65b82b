// Package remote provides the checks of celadontest to modules that cannot depend on the Kubernetes
// libraries that celadon uses. It depends only on the celadon command, and communicates with it
// over a pipe.
//
//	crds := remote.Start(t, "../config/crd")
//	crds.Accepts(t, widget)
//	crds.Rejects(t, broken, remote.Cause{Field: "spec.size", Message: "must be positive"})
//	crds.Update(widget).Rejects(t, renamed, remote.Cause{Message: "name is immutable"})
//
// An object is a Go value whose JSON has apiVersion and kind, or JSON as a string or []byte.
// Creates, updates, status updates, and causes work as in celadontest. Cover, Err, scale updates,
// YAML, and schemes are not supported.
package remote

// How it works: celadon check --pipe reads a request from each line and writes each response as a
// line (process.go). Each call of Start runs one process, which handles requests one at a time. At
// the end of the test its standard input is closed, and it is killed if it does not exit. The size
// and the duration of a response are limited.
