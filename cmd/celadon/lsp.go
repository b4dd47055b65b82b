package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp"
)

func lspCommand(s command.Streams) *cobra.Command {
	var o lsp.Options
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Run the language server: findings of vet, check, and test, and help inside rules",
		Long: `Lsp is a language server. An editor starts it and speaks to it on standard input
and output; docs/editors.md says how for VS Code, Neovim, Emacs and Helix.

A CRD gets what celadon vet says, an object what celadon check says by the CRDs of
the workspace, a suite what celadon test says, each from its text in the editor. Inside
rules there is completion, hover, signature help and what mends a rule.

Nothing of a workspace is run. Its Go packages are read only where the editor says
that the user trusts it.`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return lsp.Run(cmd.Context(), s, &o) },
	}
	cmd.Flags().StringVar(&o.KubeVersion, "kube-version", "", "Kubernetes `X.Y` to stand for, unless the editor's settings say otherwise (default the newest known)")
	cmd.Flags().Bool("stdio", true, "what some editors say to every server; there is no other way")
	command.KubeVersions(cmd)
	return cmd
}
