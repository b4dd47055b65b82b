package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/test"
)

const testHelp = `Test runs suites: objects, each with what the API server has to say of it. PATHs
are suites, or folders in which what is one is found by what it holds: Celadon's
own (kind: RuleTest), and OpenShift's as they are (crdName and tests).

A suite names its CRD by a file, or by its name; then --crd is where it is, or
the folder that the layout of the repository has for CRDs. Each case has to
hold for all CRDs of that name that go with the suite's feature gates.

An expected text that differs from the server's in the printed value alone
passes, as an older server words it; --exact-messages turns that off.

--cover tells what the cases do not test: --cover-min is in percent of the rules
that ran and refused. --mutate changes the CRD's rules and bounds one at a time, and
tells which changes no case notices: --mutate-min is in percent of the changes that
a case notices, of those that are not proved to change nothing.

Exit codes: 0 all passed, 1 a case failed, 2 usage, a suite or CRD that cannot be
read, a case that is not well written, or nothing was run (2 wins over 1), 3 a bug
in celadon, 130 interrupted.`

const testExamples = `  # All suites below a folder.
  celadon test config/

  # Some cases, with a CRD that is elsewhere.
  celadon test --crd crd.yaml --run 'replicas' tests/

  # What the cases do not test, on a page, and at least 80 %.
  celadon test --cover-out cover.html --cover-min 80 tests/

  # A first suite for a CRD, each case proven.
  celadon test init --crd crd.yaml --out tests/

  # The CRD has changed as it should: write what it says now into the suites.
  celadon test --update tests/`

func testCommand(s command.Streams) *cobra.Command {
	var o test.Options
	cmd := &cobra.Command{
		Use:     "test PATH...",
		Short:   "Run test suites: objects and the verdicts that the API server must give",
		Long:    testHelp,
		Example: testExamples,
		RunE: func(cmd *cobra.Command, paths []string) error {
			suites, err := o.Config.Defaults(cmd, s.Stderr)
			if err != nil {
				return err
			}
			if len(paths) == 0 {
				paths = suites
			}
			if err := o.Check(cmd.Flags(), paths); err != nil {
				return err
			}
			return test.Run(cmd.Context(), s, &o, paths)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, true, "crd", "convert-ca", "config")
	command.Values(cmd, "output", test.Outputs...)
	for _, flag := range []string{"run", "feature-gates", "cover-min", "mutate-min", "convert", "exec", "timeout"} {
		command.Values(cmd, flag)
	}
	cmd.AddCommand(testInitCommand(s))
	return cmd
}

func testInitCommand(s command.Streams) *cobra.Command {
	var o test.InitOptions
	cmd := &cobra.Command{
		Use:   "init --crd PATH",
		Short: "Write a starter suite for each version of a CRD",
		Long: `Init writes a suite with, for each rule of a CRD version, an object that the rule
refuses, if it can be nothing but this rule, and one that is accepted and that the
rule ran on: of the samples, or found by search. Each case has passed before it is
written; a rule for which nothing was found stands there with the reason.

A file that is there already is not touched.`,
		Example: `  celadon test init --crd crd.yaml --out tests/
  celadon test init --crd config/crd --from config/samples --out tests/`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Check(); err != nil {
				return command.SeeHelp(cmd, err)
			}
			return test.Init(cmd.Context(), s, &o)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, false, "crd", "from")
	command.Values(cmd, "steps")
	return cmd
}
