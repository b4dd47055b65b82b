package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

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
