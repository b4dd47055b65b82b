// Command celadon validates custom resources and the CEL rules of their definitions as the Kubernetes
// API server would, without a cluster.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
	"github.com/celadon-cel/celadon/docs"
	"github.com/celadon-cel/celadon/x/assist"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process
	// Writing to a closed pipe returns an error, and does not end the process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, name: command.Called(os.Args[0])}
	os.Exit(a.run(ctx, os.Args[1:]))
}

// An app is the command with its streams, so that tests can run it in-process.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	name           string // the name to show in messages; "" means celadon
}

func (a *app) streams() command.Streams {
	return command.Streams{Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr, Name: a.name}
}

func (a *app) run(ctx context.Context, args []string) (code int) {
	s := a.streams().Guarded()
	a = &app{stdin: s.Stdin, stdout: s.Stdout, stderr: s.Stderr, name: a.name}
	return command.Execute(ctx, s, a.root(), args)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "celadon",
		Short: "Check custom resources and CEL rules as an API server does, without a cluster",
		Long: `Celadon validates custom resources against their CustomResourceDefinitions as a
Kubernetes API server does, and helps you write their CEL rules.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	s := a.streams()
	addGroup(root, "Validate", checkCommand(s), convertCommand(s), diffCommand(s), vetCommand(s))
	addGroup(root, "Author", docsCommand(s), evalCommand(s), explainCommand(s), playgroundCommand(s), replCommand(s))
	addGroup(root, "Test", findCommand(s), testCommand(s))
	addGroup(root, "Operate", crdsCommand(s), manifestsCommand(s), mergeCommand(s), serveCommand(s))
	addGroup(root, "Integrate", lspCommand(s), versionCommand(s))
	command.GroupCommands(root)
	command.Complete(root, mistakes{})
	command.FitHelp(root)
	command.Rename(root, a.name)
	return root
}

func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	for _, cmd := range commands {
		cmd.GroupID = title
	}
	root.AddCommand(commands...)
}

// withoutFiles turns off the completion of file names for flags.
func withoutFiles(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		command.Values(cmd, flag)
	}
}

func versionCommand(s command.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of Celadon, Kubernetes, and CEL",
		Args:  command.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(s.Stdout, command.Versions())
			return err
		},
	}
}

// mistakes are the help topics about mistakes in rules, and about lints.
type mistakes struct{}

// listed is the topic that lists the others.
const listed = "errors"

// Names returns "errors", the codes of the mistakes, and the names of the lints.
func (mistakes) Names() []string {
	codes := []string{listed}
	for _, e := range assist.Index() {
		codes = append(codes, e.Code)
	}
	return append(codes, vet.LintNames()...)
}

// Text returns the description of a mistake or lint, or the list of mistakes.
func (mistakes) Text(name string) string {
	var b strings.Builder
	if name == listed {
		b.WriteString("The kinds of mistakes in rules; celadon help CODE describes one:\n\n")
		for _, e := range assist.Index() {
			fmt.Fprintf(&b, "  %-20s %s\n", e.Code, e.Server)
		}
		return b.String()
	}
	if _, section, ok := strings.Cut(docs.Lints, "\n## "+name+"\n"); ok {
		section, _, _ = strings.Cut(section, "\n## ")
		return name + "\n" + section + "\n"
	}
	e, _ := assist.Find(name)
	fmt.Fprintf(&b, "%s\n\nThe API server reports: %s\n\n%s\n", e.Code, e.Server, e.Cause)
	switch {
	case e.Fixed != "":
		fmt.Fprintf(&b, "\n  instead of  %s\n  write       %s\n", e.Example, e.Fixed)
	case e.Example != "":
		fmt.Fprintf(&b, "\n  for example  %s\n", e.Example)
	}
	return b.String()
}
