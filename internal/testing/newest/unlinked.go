//go:build window

package newest

// Linked reports whether the newest Kubernetes release is linked.
const Linked = false
