package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/convert"
)

const convertHelp = `Convert shows objects in another version of their CRD, as a client reads them there:
pruned and defaulted in the version that they are written in, taken to the storage
version and its defaults, and from there to the one asked for.

A CRD with conversion Webhook needs who converts: --convert URL, or --exec COMMAND,
which gets a ConversionReview on standard input and writes one. The webhook that
the CRD itself names is never asked.

Exit codes: 0 all were shown, 1 the API server would refuse one, 2 usage, unreadable
input, or a converter that does not convert (2 wins over 1).`

const convertExamples = `  celadon convert --crd crd.yaml --to v2 object.yaml
  celadon convert --crd crd.yaml --to v2 --convert https://localhost:9443/convert --convert-ca ca.crt object.yaml
  celadon convert --crd crd.yaml --to v2 --exec ./converter object.yaml

  # What does the converter lose?
  celadon convert test --crd crd.yaml --exec ./converter`

func convertCommand(s command.Streams) *cobra.Command {
	var o convert.Options
	cmd := &cobra.Command{
		Use:     "convert --crd PATH --to VERSION OBJECTS...",
		Short:   "Convert objects to another version of their CRD, or find data that the converter loses",
		Long:    convertHelp,
		Example: convertExamples,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := o.Check(paths); err != nil {
				return command.SeeHelp(cmd, err)
			}
			return convert.Run(cmd.Context(), s, &o, paths)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, true, "crd", "convert-ca")
	for _, flag := range []string{"to", "convert", "exec", "timeout"} {
		command.Values(cmd, flag)
	}
	cmd.AddCommand(convertTestCommand(s))
	return cmd
}

const convertTestHelp = `Test finds what a converter loses. It makes objects that a version of the CRD admits,
has each converted to every other version and back, twice, and once with a change in
between, as a client makes it who only knows the other version. It tells of fields
that are lost, changed or added, lists in another order, changes that are undone by
what the converter keeps in annotations, objects that the other version does not
admit, and of converters that fail, panic or take longer than --timeout.

Each finding is shown by an object as small as could be made. The same seed gives
the same objects. That nothing was found proves nothing. A CRD with conversion None
needs no converter: what is found is what pruning loses.

Labels and annotations that the converter adds are its own; order does not count in
lists of type set and map. --ignore, or the setting ignore of the section
convert-test in a file named with --config, names what may be lost.

Exit codes: 0 nothing was found, 1 findings, 2 usage, unreadable input, or a
converter that does not answer, 130 interrupted.`

func convertTestCommand(s command.Streams) *cobra.Command {
	var o convert.TestOptions
	cmd := &cobra.Command{
		Use:   "test --crd PATH (--convert URL | --exec COMMAND)",
		Short: "Find objects that a round trip through a converter changes",
		Long:  convertTestHelp,
		Example: `  celadon convert test --crd crd.yaml --exec ./converter
  celadon convert test --crd crd.yaml --convert https://localhost:9443/convert --convert-ca ca.crt --objects 10000
  celadon convert test --crd crd.yaml --exec ./converter --ignore spec.deprecated --cases-out tests/`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := o.Config.Defaults(cmd, s.Stderr); err != nil {
				return err
			}
			if err := o.Check(); err != nil {
				return command.SeeHelp(cmd, err)
			}
			return convert.Test(cmd.Context(), s, &o)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, false, "crd", "convert-ca", "config")
	command.Values(cmd, "output", convert.Outputs...)
	for _, flag := range []string{"convert", "exec", "timeout", "objects", "seed", "ignore"} {
		command.Values(cmd, flag)
	}
	return cmd
}
