// Command run runs the conformance suite against an implementation:
//
//	go run ./suite/run [-minors 1.34,1.37] [-groups types,cost] [-known FILE] [-timeout 10s] [-failures 20] -- COMMAND [ARG]...
//
// It exits with 0 if all responses are as expected or known differences, 1 if some differ, and 2 if
// the suite could not be run. The page docs/project/conformance-suite.md describes the protocol.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/celadon-cel/celadon/conformance/suite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.SetOutput(stderr)
	minors := flags.String("minors", "", "the minor versions to compare, separated by commas; all if empty")
	groups := flags.String("groups", "", "the groups to run, separated by commas; all if empty")
	knownFile := flags.String("known", "", "a file of known differences")
	timeout := flags.Duration("timeout", 10*time.Second, "the limit of the wait for an answer")
	failures := flags.Int("failures", 20, "how many differences to print")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	cfg := suite.Config{Command: flags.Args(), Minors: split(*minors), Groups: split(*groups), Timeout: *timeout}
	report, err := runSuite(ctx, cfg, *knownFile)
	if report != nil {
		report.Print(stdout, *failures)
	}
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "run:", err)
		return 2
	case !report.Passed():
		return 1
	}
	return 0
}

func runSuite(ctx context.Context, cfg suite.Config, knownFile string) (*suite.Report, error) {
	s, err := suite.Default()
	if err != nil {
		return nil, err
	}
	if knownFile != "" {
		f, err := os.Open(knownFile)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if cfg.Known, err = suite.ReadKnown(f); err != nil {
			return nil, fmt.Errorf("%s: %w", knownFile, err)
		}
	}
	return s.Run(ctx, cfg)
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
