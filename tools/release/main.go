// Command release performs the release steps that goreleaser does not: it creates the tagged
// commit, writes the modules in the layout of a module proxy, lists the linked modules and their
// licenses, and builds the container image. It writes files and git tags, and publishes nothing.
// See docs/project/releasing.md.
package main

import (
	"fmt"
	"os"
)

const usage = `usage:
  release tag REPOSITORY VERSION        commit and tag a release, of all modules
  release proxy REPOSITORY VERSION DIR  write the modules as a GOPROXY
  release notices REPOSITORY            print the licenses of the linked modules
  release sbom BINARY FILE              write the modules that a binary links as CycloneDX
  release image DIST DIR                write an OCI image of the archives in DIST
`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no command\n%s", usage)
	}
	command, args := args[0], args[1:]
	switch {
	case command == "tag" && len(args) == 2:
		return tag(args[0], args[1])
	case command == "proxy" && len(args) == 3:
		return writeProxy(args[0], args[1], args[2])
	case command == "notices" && len(args) == 1:
		return notices(os.Stdout, args[0])
	case command == "sbom" && len(args) == 2:
		return writeSBOM(args[0], args[1])
	case command == "image" && len(args) == 2:
		return writeImage(args[0], args[1])
	}
	return fmt.Errorf("%s: unknown command, or wrong arguments\n%s", command, usage)
}
