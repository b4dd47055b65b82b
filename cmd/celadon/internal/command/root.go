package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/types"
)

// Topics are the topics of the help command in addition to the commands.
type Topics interface {
	// Names returns the names of the topics.
	Names() []string
	// Text returns the text of a topic.
	Text(name string) string
}

// Complete prepares root, to which all commands have been added. Errors about unknown names then suggest
// similar names, most flags reject an empty value, and "help" and "completion" reject unknown arguments.
// By default, cobra prints help for these arguments.
func Complete(root *cobra.Command, topics Topics) {
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return SeeHelp(cmd, flagError(cmd, err)) })
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return emptyFlag(cmd) }
	root.Version = Version()
	root.SetVersionTemplate(Versions())
	root.InitDefaultVersionFlag()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			show := cmd.Run
			cmd.Run, cmd.RunE = nil, func(cmd *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil || len(args) > 0 && found == root {
					return topic(root, topics, args)
				}
				if len(rest) == 1 && rest[0] == all {
					Details(found)
				}
				show(cmd, args)
				return nil
			}
		case "completion":
			cmd.Args = cobra.ArbitraryArgs
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				if len(args) == 0 {
					return cmd.Help()
				}
				shells := names(cmd)
				return SeeHelp(cmd, fmt.Errorf("%q: no such shell: want %s", args[0], phrase.Or(shells)))
			}
		}
	}
}

// emptyFlag returns an error if a flag has an empty value, for example because a variable of a script is not set. As
// in kubectl, --kubeconfig and --context can be empty. So can --at, because the path of a schema's root is empty.
func emptyFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && slices.Contains(flagValues(f), "") && !slices.Contains([]string{"kubeconfig", "context", "at"}, f.Name) {
			err = SeeHelp(cmd, fmt.Errorf("--%s: the value is empty", f.Name))
		}
	})
	return err
}

func topic(root *cobra.Command, topics Topics, args []string) error {
	if len(args) == 1 && slices.Contains(topics.Names(), args[0]) {
		_, err := fmt.Fprint(root.OutOrStdout(), topics.Text(args[0]))
		return err
	}
	known := append(names(root), topics.Names()...)
	return SeeHelp(root, fmt.Errorf("%q: no such command%s", args[0], suggestion("", args[0], known)))
}

func names(cmd *cobra.Command) []string {
	var all []string
	for _, sub := range cmd.Commands() {
		all = append(all, sub.Name())
	}
	slices.Sort(all)
	return all
}

func suggestion(prefix, word string, known []string) string {
	if near := spell.Nearest(word, known); near != "" {
		return "; did you mean " + prefix + near + "?"
	}
	return ""
}

func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		if want := Wanted(invalid.GetFlag()); want != "" {
			return fmt.Errorf("--%s %q: want %s", invalid.GetFlag().Name, invalid.GetValue(), want)
		}
		return err
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	if hint := habits[unknown.GetSpecifiedName()]; hint != "" {
		return fmt.Errorf("%w: %s", err, hint)
	}
	if unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	return fmt.Errorf("%w%s", err, suggestion("--", unknown.GetSpecifiedName(), known))
}

// habits maps flags of kubectl and similar tools to hints.
var habits = map[string]string{
	"R": "folders are searched recursively", "recursive": "folders are searched recursively",
	"dry-run": "celadon writes nothing to a cluster", "server-side": "celadon check emulates kubectl apply",
	"schema-location": "use --crd PATH", "kubernetes-version": "use --kube-version X.Y",
	"ignore-missing-schemas": "objects without a CRD are skipped, unless --strict-kinds is set",
	"strict":                 "unknown fields are errors, unless --validate warn or ignore is set",
}

// wanted maps flag types, for which pflag would print strconv's error, to the expected values.
var wanted = map[string]string{
	"bool": "true or false", "int": "a whole number", "int64": "a whole number", "uint64": "a whole number from 0", "uint": "a whole number from 0",
	"float64": "a number", "duration": "a duration, as 10s or 5m",
}

// Wanted describes the values of a flag, or returns "" if the flag's own errors do.
func Wanted(f *pflag.Flag) string { return wanted[f.Value.Type()] }

// Values completes the value of a flag with values. Without values, it only turns off the completion of file names.
func Values(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// KubeVersions completes flags with the supported Kubernetes versions.
func KubeVersions(cmd *cobra.Command, flags ...string) {
	var versions []string
	for minor := types.Last; minor >= types.Oldest; minor-- {
		versions = append(versions, types.Version{Minor: minor}.String())
	}
	for _, flag := range flags {
		Values(cmd, flag, versions...)
	}
}

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

// GroupFlags makes the help of cmd list its essential flags. "help COMMAND all" prints the details, and all
// flags in groups. Flags that no group names follow under the title "Other".
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

// Details makes the help of cmd complete if GroupFlags has shortened it.
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

// GroupCommands makes the help of root list its subcommands under the titles of its groups. Subcommands without a
// group (cobra's help and completion) are not listed. The help of the subcommands does not change.
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

// Width reports whether w is a terminal, and returns its number of columns, or 0 if that is unknown.
func Width(w io.Writer) (columns int, terminal bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, true
	}
	return columns, true
}

// Color reports whether w is a terminal that supports colors and whose user has not turned them off.
func Color(w io.Writer) bool {
	_, terminal := Width(w)
	return terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// FitHelp fits the help of root and its subcommands to the width of a terminal.
func FitHelp(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := cmd.OutOrStdout()
		width, _ := Width(out)
		if width == 0 {
			help(cmd, args)
			return
		}
		var text strings.Builder
		cmd.SetOut(&text)
		help(cmd, args)
		cmd.SetOut(out)
		_, _ = io.WriteString(out, fitted(text.String(), width))
	})
}

// fitted breaks the lines of a help text that are wider than width. It joins the lines of a paragraph first, indents
// further lines of a table's second column, and does not change other indented lines, which are commands to copy.
func fitted(text string, width int) string {
	var b strings.Builder
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		for ; isProse(line) && i+1 < len(lines) && isProse(lines[i+1]); i++ {
			line += " " + lines[i+1]
		}
		if first := firstColumn.FindString(line); first != "" || isProse(line) {
			line = termwidth.FoldLine(line, width, len(first))
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// firstColumn matches the line of a table up to its second column.
var firstColumn = lazy.New(`^ +\S.*?\S {2,}`)

func isProse(line string) bool { return line != "" && !strings.ContainsAny(line[:1], " \t") }
