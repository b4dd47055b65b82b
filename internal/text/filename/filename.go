// Package filename checks file names that are made of the names in documents. The author of a document
// may be hostile, so each such name must pass through Join:
//
//	path, err := filename.Join(folder, crd.Name+".md")
package filename

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// maxLength limits the length of a name in bytes. Common file systems have this limit.
const maxLength = 255

const maxShown = 100

// Join returns the path of the file name in folder. It returns an error if name is empty or too long,
// has characters that cannot be printed, or could lead out of folder, be a hidden file or a device, be
// taken for a flag, or have another meaning on another system.
func Join(folder, name string) (string, error) {
	if err := check(name); err != nil {
		return "", fmt.Errorf("%q: not the name of a file: %w", termwidth.Cut(name, maxShown), err)
	}
	return filepath.Join(folder, name), nil
}

func check(name string) error {
	switch {
	case name == "":
		return errors.New("it is empty")
	case len(name) > maxLength:
		return fmt.Errorf("it has %d bytes: want at most %d", len(name), maxLength)
	case strings.ContainsAny(name, `/\:`):
		return errors.New("it contains a slash, backslash, or colon")
	case name[0] == '.' || name[0] == '-':
		return errors.New("it begins with . or -")
	case string(untrusted.Line(name)) != name:
		return errors.New("it contains a character that cannot be printed")
	case !filepath.IsLocal(name):
		return errors.New("the system reserves it")
	}
	return nil
}
