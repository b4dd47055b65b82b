package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground"
)

func playgroundCommand(s command.Streams) *cobra.Command {
	var o playground.Options
	cmd := &cobra.Command{
		Use:   "playground",
		Short: "Open a local web page to try a CRD with objects",
		Long: `Playground prints the address of a page on this machine that shows a CRD, an object,
what the API server would say of both, why, and what each rule costs, while they are
written. What is written stays on the machine; a link that the page makes holds all of
it behind the # of an address, which no server sees.

The address has a token in it: only who has it can use the page. It works until the
command is ended.`,
		Example: `  celadon playground
  celadon playground --crd crd.yaml --object object.yaml --listen 127.0.0.1:8080`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return playground.Run(cmd.Context(), s, &o)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, false, "crd", "object", "old")
	command.KubeVersions(cmd)
	command.Values(cmd, "listen")
	return cmd
}
