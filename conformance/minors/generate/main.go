// Command generate writes the programs of conformance/minors: for each Kubernetes minor a folder with
// a module that links package oracle with the libraries of that minor, and for some minors a folder
// with a module that links package server.
//
//	cd conformance && go generate ./minors/generate
//
// A module requires the versions that k8s.io/apiextensions-apiserver of the minor requires, cel-go's
// among them, and has its go and godebug directives, because some functions of CEL depend on those of
// the standard library. To add a minor or a patch release, edit the tables in minors.go.
package main

import (
	"fmt"
	"os"
)

//go:generate go run .

// root is the folder of the modules, relative to this package.
const root = ".."

func main() {
	if err := generate(root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func generate(root string) error {
	for _, p := range programs {
		if err := p.generate(root); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) generate(root string) error {
	if err := writeModule(root, p.library, "", p.minors[0]); err != nil {
		return err
	}
	for _, m := range p.minors {
		folder := p.folder(m)
		files, err := p.sources(m)
		if err != nil {
			return err
		}
		if err := writeSources(root, folder, files); err != nil {
			return err
		}
		if err := writeModule(root, folder, p.library, m); err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	return nil
}
