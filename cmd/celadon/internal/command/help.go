package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A FlagGroup names flags that a command's help lists under a title.
type FlagGroup struct {
	Title string
	Flags []string
}

// all is the argument after a command's name for which the help command prints all flags, and detailsKey annotates a
// command with the text before them.
const (
	all        = "all"
	detailsKey = "celadon_details"
)

// GroupFlags makes the help of cmd list its essential flags in groups. "help COMMAND all" prints the details and all flags.
// Flags that no group names follow under the title "Other".
func GroupFlags(cmd *cobra.Command, groups []FlagGroup, essential []string, details string) {
	cmd.Annotations = map[string]string{detailsKey: details}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		w := cmd.OutOrStderr()
		fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
		if cmd.HasExample() {
			fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
		}
		shown := append(slices.Clone(groups), FlagGroup{"Other", ungroupedFlags(cmd, groups)})
		_, brief := cmd.Annotations[detailsKey]
		if brief {
			shown = []FlagGroup{{"Essential", essential}}
		}
		for _, group := range shown {
			flags := pflag.NewFlagSet(group.Title, pflag.ContinueOnError)
			flags.SortFlags = false
			for _, name := range group.Flags {
				flags.AddFlag(cmd.Flags().Lookup(name))
			}
			fmt.Fprintf(w, "\n%s flags:\n%s", group.Title, flags.FlagUsages())
		}
		if brief {
			fmt.Fprintf(w, "\nUse \"%s help %s %s\" for details and all flags.\n", cmd.Root().CommandPath(), cmd.Name(), all)
		}
		return nil
	})
}

// Details makes the help of cmd complete.
func Details(cmd *cobra.Command) {
	if details, ok := cmd.Annotations[detailsKey]; ok {
		cmd.Long += "\n\n" + details
		delete(cmd.Annotations, detailsKey)
	}
}

func ungroupedFlags(cmd *cobra.Command, groups []FlagGroup) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.ContainsFunc(groups, func(g FlagGroup) bool { return slices.Contains(g.Flags, f.Name) }) {
			names = append(names, f.Name)
		}
	})
	return names
}

// GroupCommands makes the help of root list its subcommands under the titles of
// its groups. Subcommands without a group (cobra's help and completion) are not
// listed. The help of the subcommands does not change.
func GroupCommands(root *cobra.Command) {
	standard := root.UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		if cmd != root {
			return standard(cmd)
		}
		w := root.OutOrStderr()
		fmt.Fprintf(w, "Usage:\n  %s [command]\n", root.CommandPath())
		for _, group := range root.Groups() {
			fmt.Fprintf(w, "\n%s\n", group.Title)
			for _, sub := range root.Commands() {
				if sub.GroupID == group.ID {
					fmt.Fprintf(w, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
				}
			}
		}
		fmt.Fprintf(w, "\nFlags:\n%s\n", strings.TrimRight(root.LocalFlags().FlagUsages(), "\n"))
		fmt.Fprintf(w, "\nUse \"%[1]s [command] --help\" for more information about a command,\nand \"%[1]s completion\" for a script that completes commands and flags in your shell.\n", root.CommandPath())
		return nil
	})
}
