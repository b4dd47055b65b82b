package minors

// Texts holds the forms of one message, each with the versions that use it. The ranges do not overlap.
type Texts []struct {
	In   Range
	Text string
}

// For returns the form that Kubernetes 1.minor uses, or "".
func (t Texts) For(minor int) string {
	for _, form := range t {
		if form.In.Include(minor) {
			return form.Text
		}
	}
	return ""
}
