package repl

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/repl"
)

// maxSaved limits the size of a file that :save changes, in bytes.
const maxSaved = 256 << 20

// saveDocument implements Host.Save for the shell. Besides the CRD's own file, it overwrites an existing file
// only if r.Overwrite is set, and never the file of a loaded object.
func saveDocument(r repl.SaveRequest) (file string, err error) {
	own := r.Document.File
	if own == "-" && r.File == "" {
		return "", errors.New("the CRD was not read from a file: use :save FILE")
	}
	before := r.Document.Text
	if own != "-" {
		if before, err = input.ReadFile(own, maxSaved); err != nil {
			return "", fmt.Errorf("%s: %w", own, err)
		}
	}
	start := outfile.LineStart(before, r.Document.Line)
	at := bytes.Index(before[start:], r.Document.Text)
	if at < 0 {
		return "", fmt.Errorf("%s: the file has changed since it was read: load it again with :load, or use :save with another FILE", own)
	}
	start += at
	after := slices.Concat(before[:start], r.Text, before[start+len(r.Document.Text):])
	if r.File == "" || sameFile(r.File, own) {
		return own, outfile.Replace(own, before, after)
	}
	if err := overwritable(r); err != nil {
		return "", err
	}
	return r.File, outfile.Write(r.File, after)
}

func overwritable(r repl.SaveRequest) error {
	for _, keep := range r.Keep {
		if sameFile(r.File, keep) {
			return fmt.Errorf("%s: an object was loaded from it: use another FILE", r.File)
		}
	}
	if info, err := os.Lstat(r.File); err == nil && info.IsDir() {
		return fmt.Errorf("%s: a folder: use a FILE", r.File)
	} else if err == nil && !r.Overwrite {
		return fmt.Errorf("%s: the file exists: use :save! %s to overwrite it", r.File, r.File)
	}
	return nil
}

func sameFile(a, b string) bool {
	first, err1 := os.Stat(a)
	second, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}
