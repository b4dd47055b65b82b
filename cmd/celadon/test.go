package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/test"
)

const testHelp = `Test runs suites: objects with the verdicts expected from the API server. PATHs are
suites, or folders that are searched for them. Suites are recognized by their content:
Celadon's own format (kind: RuleTest), or OpenShift's (crdName and tests), unchanged.

A suite names its CRD by file or by name. CRDs are looked up by name in --crd, or in
the folder where the repository's layout keeps CRDs. Each case must hold for all CRDs
of that name that match the suite's feature gates.

A suite with policies also tests admission policies. They decide the objects that the
CRD accepts, with the params, Namespace, user, and operation of the case.

Cases run for the newest Kubernetes version, or the one in --kube-version, unless they
list their own kubeVersions.

If an expected message differs from the server's only in the printed value, the case
passes, because older servers print values differently; with --exact-messages, it fails.

--cover reports rules and conditions that the cases do not test; --cover-min sets the
minimum percentage of rules that ran and rejected an object. --mutate changes the CRD's
rules and bounds one at a time and reports changes that no case detects; --mutate-min
sets the minimum percentage of detected changes, not counting those that are proved to
have no effect.

Exit codes: 0 all passed, 1 a case failed, 2 usage error, unreadable suite or CRD,
malformed case, or nothing was run (2 takes precedence over 1), 3 internal error, 130
interrupted.`

const testExamples = `  # Run all suites in a folder.
  celadon test config/

  # Run some of the cases, with a CRD from another folder.
  celadon test --crd crd.yaml --run 'replicas' tests/

  # Show untested rules, and require 80 % coverage.
  celadon test --cover-min 80 tests/

  # Write a first suite for a CRD; each of its cases passes.
  celadon test init --crd crd.yaml --out tests/

  # After an intended change of the CRD, update the expectations in the suites.
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
	command.KubeVersions(cmd, "kube-version")
	withoutFiles(cmd, "run", "feature-gates", "cover-min", "mutate-min", "convert", "exec", "timeout")
	cmd.AddCommand(testInitCommand(s))
	return cmd
}

func testInitCommand(s command.Streams) *cobra.Command {
	var o test.InitOptions
	cmd := &cobra.Command{
		Use:   "init --crd PATH",
		Short: "Write a starter suite for each version of a CRD, or for admission policies",
		Long: `Init writes a suite for each version of a CRD. For each rule, it has an object that is
rejected, by this rule alone if possible, and an accepted object on which the rule ran.
The objects are samples, or found by search. Each case has passed before it is written.
For a rule without an object, the suite gives the reason.

With --policy, Init writes suites of admission policies: an object that they accept, and
an object for each validation that it denies. Objects of the CRDs in --crd are found by
search. For built-in kinds, Init uses the objects in --from.

Existing files are not changed.`,
		Example: `  celadon test init --crd crd.yaml --out tests/
  celadon test init --crd config/crd --from config/samples --out tests/
  celadon test init --policy policies/ --crd crd.yaml --out tests/`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Check(); err != nil {
				return command.SeeHelp(cmd, err)
			}
			return test.Init(cmd.Context(), s, &o)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, false, "crd", "policy", "from")
	command.Values(cmd, "steps")
	return cmd
}
