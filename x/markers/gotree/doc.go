// Package gotree reads the Go files of a module and of the packages that it imports. It reads them
// from file systems that the caller provides: a repository and a module cache. It is meant for
// untrusted repositories: it executes nothing, not even the go command, and uses no network. To
// confine it to a folder, use the file system of an os.Root.
package gotree

// How it works. The module of a package is determined from go.mod (gomod.go). Its files are read from
// the repository, from vendor, or from the module cache, in this order (imports.go). Files and folders
// that are too large are not read, and the error names them (read.go).
