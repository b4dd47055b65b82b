package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/config"
	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/repl"
	"github.com/celadon-cel/celadon/types"
)

// replOptions are the flags of celadon repl.
type replOptions struct {
	crd, object, old string
	kubeVersion      string
	echo, noHistory  bool
	config           config.Flags
	limits           cost.Limits // of the API server, but in tests
}

func (a *app) replCommand() *cobra.Command {
	var o replOptions
	cmd := &cobra.Command{
		Use:   "repl [--crd PATH] [--object FILE] [--old FILE]",
		Short: "Write, try and price CEL rules over an object of a CRD",
		Long: `Repl is a shell for the authors of CRDs. An expression is answered with its
value, type, estimated and actual cost; self is the object, or what :cd leads
to. Commands edit the object and the rules, and write the rules back into the
CRD without touching the rest of it; :help lists them.

It reads a pipe as well as a terminal; :quit or the end of input ends it.`,
		Example: `  celadon repl --crd crd.yaml --object obj.yaml
  echo 'self.spec.replicas > 1' | celadon repl --crd crd.yaml --object obj.yaml`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := o.config.Defaults(cmd, a.stderr); err != nil {
				return err
			}
			return a.repl(cmd.Context(), &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.crd, "crd", "", "the CRD: `PATH` of a file, a folder or -")
	f.StringVar(&o.object, "object", "", "the object: a `FILE`")
	f.StringVar(&o.old, "old", "", "the object before: a `FILE`")
	f.StringVar(&o.kubeVersion, "kube-version", "", "Kubernetes `X.Y` to write rules for (default all that is known)")
	f.BoolVar(&o.echo, "echo", false, "print each line of a pipe with its prompt")
	f.BoolVar(&o.noHistory, "no-history", false, "neither read nor write the history file")
	o.config.Add(f)
	return cmd
}

func (a *app) repl(ctx context.Context, o *replOptions) error {
	if _, err := types.ParseVersion(o.kubeVersion); err != nil {
		return fmt.Errorf("--kube-version: %w", err)
	}
	s, err := a.session(ctx, o)
	if err != nil {
		return err
	}
	in, closeIn := a.lineReader(s, o)
	defer closeIn()
	if _, ok := in.(*repl.Terminal); ok {
		var stop func()
		ctx, stop = untilTerminated(ctx, closeIn)
		defer stop()
	}
	if err := repl.Run(ctx, s, in, a.stdout); err != nil {
		return fmt.Errorf("repl: %w", err)
	}
	return nil
}

// untilTerminated lets Ctrl-C end an evaluation and not the shell; SIGTERM
// still ends that.
func untilTerminated(ctx context.Context, leave func()) (context.Context, func()) {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // never the end of the process
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		select {
		case <-terminated:
			cancel()
			leave()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(terminated); cancel() }
}

// lineReader is the terminal where there is one.
func (a *app) lineReader(s *repl.Session, o *replOptions) (repl.LineReader, func()) {
	in, inFile := a.stdin.(*os.File)
	out, outFile := a.stdout.(*os.File)
	if inFile && outFile {
		cfg := repl.TerminalConfig{Colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
		if !o.noHistory {
			h := openHistory()
			cfg.History, cfg.Remember = h.lines(), h.remember
		}
		if t, err := repl.OpenTerminal(in, out, s, cfg); err == nil {
			return t, func() { _ = t.Close() }
		}
	}
	if o.echo {
		return repl.EchoLines(a.stdin, a.stdout), func() {}
	}
	return repl.Lines(a.stdin), func() {}
}

// session loads what the flags name.
func (a *app) session(ctx context.Context, o *replOptions) (*repl.Session, error) {
	// A large CRD leaves much garbage once: what is waited for is the prompt.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	s, err := repl.NewSession(repl.Config{KubeVersion: o.kubeVersion, Limits: o.limits, Host: a.host()})
	if err != nil {
		return nil, err
	}
	objects, err := a.loadDocuments(ctx, o.object)
	if err != nil {
		return nil, err
	}
	olds, err := a.loadDocuments(ctx, o.old)
	if err != nil {
		return nil, err
	}
	crds, err := a.loadDocuments(ctx, o.crd)
	if err != nil {
		return nil, err
	}
	if o.crd == "" && (o.object != "" || o.old != "") {
		return nil, errors.New("no CRD given: want --crd PATH")
	}
	return s, s.Start(repl.Inputs{CRDs: crds, Objects: objects, Olds: olds, CRDPath: o.crd, ObjectPath: o.object, OldPath: o.old})
}
