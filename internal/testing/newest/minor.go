//go:build !next

package newest

import "github.com/celadon-cel/celadon/internal/minors"

// Minor is the Kubernetes minor version of the libraries that tests compare with.
const Minor = minors.Newest
