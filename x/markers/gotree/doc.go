// Package gotree reads the Go files of a module, and of the packages that it imports,
// out of file systems that it is given: a repository, and a cache of modules. It is
// made for repositories that are not trusted. It runs nothing, not even go, and asks
// no network; a file system made of an os.Root keeps it inside.
package gotree

// How it works. go.mod says which module a package is of (gomod.go); its files are in
// the repository, in vendor, or in the cache of modules, in this order (imports.go).
// What would take too long to read is refused by name (read.go).
