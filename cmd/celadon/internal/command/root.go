package command

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/types"
)

// Topics are the topics of the help command in addition to the commands.
type Topics interface {
	// Names returns the names of the topics.
	Names() []string
	// Text returns the text of a topic.
	Text(name string) string
}

// Complete prepares root, to which all commands have been added. Usage errors then suggest similar
// names, and "help" and "completion" reject unknown arguments. By default, cobra prints help for these.
// topics may be nil.
func Complete(root *cobra.Command, topics Topics) {
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return SeeHelp(cmd, flagError(cmd, err)) })
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

func topic(root *cobra.Command, topics Topics, args []string) error {
	known := names(root)
	if topics != nil {
		if len(args) == 1 && slices.Contains(topics.Names(), args[0]) {
			_, err := fmt.Fprint(root.OutOrStdout(), topics.Text(args[0]))
			return err
		}
		known = append(known, topics.Names()...)
	}
	return SeeHelp(root, fmt.Errorf("%q: no such command%s", args[0], suggestion("", args[0], known)))
}

// names returns the sorted names of cmd's subcommands.
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

// flagError adds a similar flag's name, or the expected kind of value, to an error of the flag library.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		if want := wanted[invalid.GetFlag().Value.Type()]; want != "" {
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

// habits maps flags of kubectl and of similar tools to what replaces them.
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

// Values completes the value of a flag with values. Without values, it only turns off the completion of
// file names.
func Values(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// KubeVersions completes --kube-version with the supported versions.
func KubeVersions(cmd *cobra.Command, flags ...string) {
	var versions []string
	for minor := types.Last; minor >= types.Oldest; minor-- {
		versions = append(versions, types.Version{Minor: minor}.String())
	}
	for _, flag := range flags {
		Values(cmd, flag, versions...)
	}
}
