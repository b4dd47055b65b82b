package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/repl"
)

const evalHelp = `Eval evaluates an expression as a rule of the CRD would be evaluated: self is the
object, or its value at --at, and oldSelf is the old value. Eval prints the result;
with -o json, also its type, cost, and cost estimate.

Eval uses the objects of the CRD's kind. Built-in kinds, such as Deployment, need no CRD. If there are several, for example in a folder, it
prints a line for each; use --name to choose one. Self is each element of a list or map if
--at has [*]. With --cluster and --crd, and without --object, eval reads all objects of the
kind from a cluster. -o json then prints JSON lines with the identity of each object.

With --expressions, eval evaluates the variables, matchConditions, validations, and other expressions of
ValidatingAdmissionPolicies for requests with the objects, as celadon check --policy makes them, with the params and
Namespaces in the file. It also evaluates the selectors of a DeviceClass, ResourceClaim, or ResourceClaimTemplate for
each device of the ResourceSlices in --object, the matchConditions of an AuthorizationConfiguration over
SubjectAccessReviews, or the expressions of an AuthenticationConfiguration over the claims of a token.

Exit codes: 0 evaluated, 1 with --exit-status if a value is false, 2 usage error,
unreadable input, or no value for some object, 3 internal error, 130 interrupted.`

const evalExamples = `  celadon eval --crd crd.yaml --object obj.yaml 'self.spec.replicas > 1'
  celadon eval --cluster -n default --object crontab/nightly 'self.spec.replicas > 1'
  celadon eval --crd crd.yaml --object obj.yaml --at 'spec.env[0]' --exit-status "self.name != ''"
  celadon eval --crd crd.yaml --object objects/ self.spec.replicas
  celadon eval --cluster --crd crd.yaml --exit-status 'self.spec.replicas < 100'
  celadon eval --expressions policy.yaml --object pod.yaml
  celadon eval --expressions class.yaml --object slice.yaml`

func evalCommand(s command.Streams) *cobra.Command {
	var o repl.EvalOptions
	cmd := &cobra.Command{
		Use:     "eval [--crd PATH] [--object PATH...] [--old PATH] [--at PATH] EXPR",
		Short:   "Evaluate a CEL expression over objects, with self as their CRD declares it",
		Long:    evalHelp,
		Example: evalExamples,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case o.Expressions != "" && len(args) > 0:
				return errors.New("--expressions: the file has the expressions: want no argument")
			case o.Expressions != "":
				return nil
			case len(args) != 1:
				return fmt.Errorf("want one expression (got %d): quote it for the shell", len(args))
			case strings.TrimSpace(args[0]) == "":
				return errors.New("want one expression (got an empty one)")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Config.NoTree = o.Cluster.On
			if _, err := o.Config.Defaults(cmd, s.Stderr); err != nil {
				return err
			}
			return repl.Eval(cmd.Context(), s, &o, strings.Join(args, ""))
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, false, "crd", "object", "old", "config", "expressions")
	command.Also(cmd, "object", "filename", "f", "")
	command.Values(cmd, "output", "text", "json")
	command.KubeVersions(cmd, "kube-version")
	command.Values(cmd, "subresource", "status")
	cluster.Complete(cmd)
	return cmd
}
