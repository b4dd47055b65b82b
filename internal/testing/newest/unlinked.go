//go:build window

package newest

// Linked is set if the newest release is linked.
const Linked = false
