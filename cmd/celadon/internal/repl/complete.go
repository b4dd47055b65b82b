package repl

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/repl"
	"github.com/celadon-cel/celadon/types"
)

// CompleteInputs completes the values of the flags in Inputs, except for file names, which the user's
// shell completes.
func CompleteInputs(cmd *cobra.Command, s command.Streams, in *Inputs) {
	var versions []string
	for minor := types.Last; minor >= types.Oldest; minor-- {
		versions = append(versions, types.Version{Minor: minor}.String())
	}
	command.Values(cmd, "kube-version", versions...)
	command.Values(cmd, "subresource", "status")
	complete(cmd, "name", func(string) ([]string, cobra.ShellCompDirective) {
		in.useFirst()
		if in.Object == "-" || in.Cluster.On {
			return nil, cobra.ShellCompDirectiveNoFileComp // standard input and clusters are not read for completion
		}
		docs, err := (&host{Streams: s, given: in.given, opened: true}).load(cmd.Context(), in.Object)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return repl.Names(docs), cobra.ShellCompDirectiveNoFileComp
	})
}

// CompletePaths completes versions and paths from the CRD that the command line names.
func CompletePaths(cmd *cobra.Command, s command.Streams, o *EvalOptions) {
	session := func() *repl.Session {
		o.useFirst()
		if o.Cluster.On || o.CRD == "" || o.CRD == "-" || o.Object == "-" || o.Old == "-" {
			return nil
		}
		opened, _, err := (&host{Streams: s, given: o.given, opened: true}).session(cmd.Context(), &o.Inputs, cost.Limits{})
		if err != nil {
			return nil
		}
		return opened
	}
	fits := func(prefix string) func(string) []string {
		return func(typed string) []string {
			s := session()
			if s == nil {
				return nil
			}
			line := []rune(prefix + typed)
			c := s.Complete(string(line), len(line))
			var out []string
			for _, candidate := range c.Candidates {
				out = append(out, string(line[len([]rune(prefix)):c.Start])+candidate.Text)
			}
			return out
		}
	}
	complete(cmd, "version", func(typed string) ([]string, cobra.ShellCompDirective) {
		return fits(":use ")(typed), cobra.ShellCompDirectiveNoFileComp
	})
	complete(cmd, "at", func(typed string) ([]string, cobra.ShellCompDirective) {
		return fits(":cd ")(typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// useFirst sets Object for completion. Flags may have been parsed twice.
func (in *Inputs) useFirst() {
	if len(in.Objects) > 0 {
		in.Object = in.Objects[0]
	}
}

func complete(cmd *cobra.Command, flag string, with func(typed string) ([]string, cobra.ShellCompDirective)) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return with(typed)
	})
}
