package repl

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// maxCollected limits the number of files with many objects that are watched.
	maxCollected = 1000
	// maxFilesListed limits the number of files that a line lists.
	maxFilesListed = 6
)

// watchedFiles returns the files of the CRD, the object, and the old object, and those of the collection.
func (s *Session) watchedFiles() []string {
	files := s.loadedFiles()
	known := len(files)
	for _, file := range s.collectedFiles() {
		if !slices.Contains(files[:known], file) {
			files = append(files, file)
		}
	}
	return files
}

// collectedFiles returns the files of the collection, or nil if they cannot be read again.
func (s *Session) collectedFiles() []string {
	c := s.many()
	if c == nil || s.host.Read == nil || len(c.paths) == 0 || slices.Contains(c.paths, "-") {
		return nil
	}
	if c.files == nil {
		known := map[string]bool{}
		for i := 0; i < c.store.Len() && len(c.files) < maxCollected; i++ {
			if file := c.store.Head(i).File; file != "" && !known[file] {
				known[file] = true
				c.files = append(c.files, file)
			}
		}
	}
	return c.files
}

// fileList returns the names of files, and the number of those that a line has no room for.
func fileList(files []string) string {
	if len(files) <= maxFilesListed {
		return strings.Join(files, ", ")
	}
	return fmt.Sprintf("%s, and %d others", strings.Join(files[:maxFilesListed-1], ", "), len(files)-maxFilesListed+1)
}
