package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/internal/foreign"
)

// Exit codes, as kubectl diff has them.
const (
	exitOK          = 0
	exitFindings    = 1
	exitUsage       = 2 // usage, unreadable input, nothing checked
	exitBug         = 3
	exitInterrupted = 130
)

// app is the command with its streams, so that tests run it in-process.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

// exitError ends the command with a code; its text, if any, goes to stderr.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// run executes one command line and returns its exit code. A panic is a bug of
// ours and never a stack trace. Nothing that others wrote reaches stderr as it
// is.
func (a *app) run(ctx context.Context, args []string) (code int) {
	a = &app{stdin: a.stdin, stdout: a.stdout, stderr: foreign.NewWriter(a.stderr)}
	defer func() {
		if p := recover(); p != nil {
			a.complain(fmt.Errorf("internal error, please report it: %v", p))
			code = exitBug
		}
	}()
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	var exit *exitError
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		exit = &exitError{exitInterrupted, errors.New("interrupted")}
	case errors.As(err, &exit):
	case cmd == root:
		exit = seeHelp(cmd, err) // there is no such command
	default:
		exit = &exitError{exitUsage, err}
	}
	if exit.err != nil {
		a.complain(exit.err)
	}
	return exit.code
}

// complain writes an error to stderr. What it has to show below its first line
// is set in; no other line can follow from it.
func (a *app) complain(err error) {
	foreign.Fprintf(a.stderr, "celadon: %s\n", foreign.Lines(err.Error(), "  "))
}

// seeHelp tells behind the first line of a usage error where there is help.
func seeHelp(cmd *cobra.Command, err error) *exitError {
	text, more, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	if more = strings.TrimSpace(more); more != "" { // the names that were perhaps meant
		more = "\n  " + strings.ReplaceAll(more, "\n\t", "\n    ")
	}
	return &exitError{exitUsage, fmt.Errorf("%s (see %s --help)%s", text, cmd.CommandPath(), more)}
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return seeHelp(cmd, fmt.Errorf("%q: %s takes no arguments", args[0], cmd.CommandPath()))
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "celadon",
		Short: "What would the API server say? CEL rules of CRDs, without a cluster",
		Long: `Celadon decides custom resources against their CustomResourceDefinitions as a
Kubernetes API server does, and helps to write the CEL rules in them.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return seeHelp(cmd, err) })
	root.AddCommand(a.checkCommand(), a.replCommand(), a.versionCommand())
	root.AddCommand(a.evalCommand())
	root.AddCommand(a.findCommand())
	root.AddCommand(a.serveCommand())
	root.AddCommand(a.vetCommand())
	return root
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of Celadon, Kubernetes and CEL",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(a.stdout, versionText())
			return err
		},
	}
}

// ownVersion is "devel" in a build that is no release.
func ownVersion() string {
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func versionText() string {
	celadon, kube, cel := ownVersion(), "unknown", "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			switch dep.Path {
			case "k8s.io/apiextensions-apiserver":
				kube = dep.Version
			case "github.com/google/cel-go":
				cel = dep.Version
			}
		}
	}
	return fmt.Sprintf("celadon %s\nkubernetes libraries %s\ncel-go %s\n", celadon, kube, cel)
}
