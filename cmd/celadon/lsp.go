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
		Long: `Lsp is a language server. An editor starts it and communicates over standard input and
output; docs/editors.md shows the configuration for VS Code, Neovim, Emacs, and Helix.

The server reports the findings of celadon vet in CRDs, of celadon check in objects,
and of celadon test in suites, for the text in the editor. Objects are checked against
the CRDs of the workspace. In rules, it offers completion, hover, signature help, and
quick fixes.

Lsp runs nothing from the workspace. It reads Go packages only if the editor reports
that the user trusts the workspace.`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return lsp.Run(cmd.Context(), s, &o) },
	}
	cmd.Flags().StringVar(&o.KubeVersion, "kube-version", "", "Kubernetes `X.Y` to emulate, unless set in the editor (default: the newest supported)")
	cmd.Flags().Bool("stdio", true, "accepted because some editors pass it; standard input and output are always used")
	command.KubeVersions(cmd, "kube-version")
	return cmd
}
