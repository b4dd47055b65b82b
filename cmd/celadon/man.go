//go:build man

package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra/doc"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

// With the build tag man, the command writes its manual pages, dated by an argument, to a folder and
// exits. Release builds do not set the tag, because users do not need the code that converts help to
// roff.
func init() {
	if err := writeManual(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(command.Usage)
	}
	os.Exit(command.OK)
}

func writeManual(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: go run -tags man ./cmd/celadon FOLDER YYYY-MM-DD")
	}
	date, err := time.Parse(time.DateOnly, args[1])
	if err != nil {
		return err
	}
	root := (&app{stdout: os.Stdout, stderr: os.Stderr}).root()
	root.DisableAutoGenTag = true
	for _, cmd := range root.Commands() {
		command.Details(cmd)
	}
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Celadon", Manual: "Celadon", Date: &date}, args[0])
}
