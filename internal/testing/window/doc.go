// Package window has a test that writes Celadon's results to a file: verdicts on CRDs with all
// estimates, and verdicts on writes with their costs and persisted objects, for several Kubernetes
// versions. They must not depend on the linked releases of k8s.io and cel-go: make window runs the test
// with each supported release and compares the files byte by byte.
package window
