package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/convert"
)

const convertHelp = `Convert shows objects in another version of their CRD, as a client of that version
reads them: pruned and defaulted in their own version, converted to the storage
version and defaulted there, and then converted to the requested version.

A CRD with conversion strategy Webhook needs a converter: --convert URL, or --exec COMMAND, a
program that reads a ConversionReview from standard input and writes one to standard
output. The webhook that the CRD itself names is never called.

Exit codes: 0 all objects were shown, 1 the API server would reject an object, 2 usage
error, unreadable input, or a failing converter (2 takes precedence over 1).`

const convertExamples = `  celadon convert --crd crd.yaml --to v2 object.yaml
  celadon convert --crd crd.yaml --to v2 --convert https://localhost:9443/convert --convert-ca ca.crt object.yaml
  celadon convert --crd crd.yaml --to v2 --exec ./converter object.yaml

  # Find data that the converter loses.
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
	withoutFiles(cmd, "to", "convert", "exec", "timeout")
	cmd.AddCommand(convertTestCommand(s))
	return cmd
}

const convertTestHelp = `Test finds data that a converter loses. It generates objects that a version of the CRD
accepts and converts each to every other version and back: twice, and once more with a
change in between, as from a client that only knows the other version. It reports
fields that are lost, changed, or added, reordered lists, changes that are undone by
data the converter keeps in annotations, objects that the other version rejects, and
converters that fail, panic, or take longer than --timeout.

Each finding is shown with an example object that is as small as possible. The same
seed generates the same objects. A run without findings does not prove that a converter
is lossless. A CRD with conversion strategy None needs no converter: its findings are
the data that pruning loses.

Labels and annotations that the converter adds are not findings, and the order of
lists of type set and map does not matter. --ignore, or the setting ignore in the
section convert-test of a file named with --config, lists fields that may be lost.

Exit codes: 0 nothing found, 1 findings, 2 usage error, unreadable input, or a
converter that does not respond, 130 interrupted.`

func convertTestCommand(s command.Streams) *cobra.Command {
	var o convert.TestOptions
	cmd := &cobra.Command{
		Use:   "test --crd PATH (--convert URL | --exec COMMAND)",
		Short: "Find objects that a round trip through a converter changes",
		Long:  convertTestHelp,
		Example: `  celadon convert test --crd crd.yaml --exec ./converter
  celadon convert test --crd crd.yaml --convert https://localhost:9443/convert --convert-ca ca.crt --objects 10000
  celadon convert test --crd crd.yaml --exec ./converter --ignore spec.deprecated`,
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
	withoutFiles(cmd, "convert", "exec", "timeout", "objects", "seed", "ignore")
	return cmd
}
