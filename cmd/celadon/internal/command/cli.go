// Package command is what all subcommands share: streams, exit codes, and how a
// command line ends.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Exit codes, as kubectl diff has them.
const (
	OK          = 0
	Findings    = 1
	Usage       = 2 // usage, unreadable input, nothing checked
	Bug         = 3
	Interrupted = 130
)

// Streams are what a command reads and writes, so that tests run it in-process.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Name is what the command was called, for messages; "" is celadon.
	Name string
}

// Complain writes an error to stderr. What it has to show below its first line
// is set in; no other line can follow from it.
func (s Streams) Complain(err error) {
	text := strings.Replace(err.Error(), "(see "+own+" ", "(see "+s.called()+" ", 1)
	untrusted.Fprintf(s.Stderr, "%s: %s\n", s.called(), untrusted.Lines(text, "  "))
}

// ExitError ends the command with a code; its text, if any, goes to stderr.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Guarded are streams of which nothing that others wrote reaches stderr as it is.
func (s Streams) Guarded() Streams {
	if _, ok := s.Stderr.(*untrusted.Writer); !ok {
		s.Stderr = untrusted.NewWriter(s.Stderr)
	}
	return s
}

// Execute runs one command line and returns its exit code. A panic is a bug of
// ours and never a stack trace. The root's commands have been given the same
// streams.
func Execute(ctx context.Context, s Streams, root *cobra.Command, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			s.Complain(fmt.Errorf("internal error, please report it: %v", p))
			code = Bug
		}
	}()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && cmd == root && root.HasSubCommands() {
		err = SeeHelp(cmd, err) // there is no such command
	}
	return s.Exit(ctx, err)
}

// Exit says why a command ends, if there is anything to say, and gives its exit
// code.
func (s Streams) Exit(ctx context.Context, err error) int {
	if err == nil {
		return OK
	}
	var exit *ExitError
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		exit = &ExitError{Interrupted, errors.New("interrupted")}
	case errors.As(err, &exit):
	default:
		exit = &ExitError{Usage, err}
	}
	if exit.Err != nil && !errors.Is(exit.Err, syscall.EPIPE) { // who reads no more knows it
		s.Complain(exit.Err)
	}
	return exit.Code
}

// SeeHelp tells behind the first line of a usage error where there is help.
func SeeHelp(cmd *cobra.Command, err error) *ExitError {
	text, more, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	if more = strings.TrimSpace(more); more != "" { // the names that were perhaps meant
		more = "\n  " + strings.ReplaceAll(more, "\n\t", "\n    ")
	}
	return &ExitError{Usage, fmt.Errorf("%s (see %s --help)%s", text, cmd.CommandPath(), more)}
}

// NoArguments is the Args of a command that takes none.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return SeeHelp(cmd, fmt.Errorf("%q: %s takes no arguments", args[0], cmd.CommandPath()))
}
