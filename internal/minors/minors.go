// Package minors describes ranges of Kubernetes minor versions. Tables of differences between
// versions use it, so that a new version adds rows:
//
//	var enumBound = minors.Since(29)
//	if enumBound.Include(v.Minor) { … }
package minors

// The minor versions that Celadon supports. With a release, Newest becomes Last. With a
// pre-release, Last grows by one.
const (
	Oldest = 28
	Newest = 37 // the newest released version, and the default
	Last   = 38 // Newest, or a preview: Kubernetes 1.38 is due on 2026-12-16
)

// A Range is a range of minor versions: Since <= minor < Until. The zero value includes all.
type Range struct {
	Since int
	Until int // 0 if the range has no end
}

// Since returns the range of all versions from minor on.
func Since(minor int) Range { return Range{Since: minor} }

// Until returns the range of all versions before minor.
func Until(minor int) Range { return Range{Until: minor} }

// Include reports whether minor is in the range.
func (r Range) Include(minor int) bool {
	return minor >= r.Since && (r.Until == 0 || minor < r.Until)
}
