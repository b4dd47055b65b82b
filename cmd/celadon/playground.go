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
		Long: `Playground prints the address of a local web page. The page shows a CRD and an object,
the API server's verdict on both, the reasons, and the cost of each rule, updated as
you type. Your input stays on this machine. A link that the page creates holds all of
the input after the # of its address, which browsers do not send to servers.

The address contains a token: only users with the token can open the page. It works
until you stop the command.`,
		Example: `  celadon playground
  celadon playground --crd crd.yaml --object object.yaml --listen 127.0.0.1:8080`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return playground.Run(cmd.Context(), s, &o)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, false, "crd", "object", "old")
	command.KubeVersions(cmd, "kube-version")
	command.Values(cmd, "listen")
	return cmd
}
