// Package repl implements celadon repl and celadon eval: it connects the sessions of the public package
// repl to files, the terminal, and a history.
package repl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/gctuning"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/repl"
)

// Options holds the flags of celadon repl.
type Options struct {
	Inputs
	Config config.Flags

	Echo, NoHistory bool
	// Limits are the API server's limits, except in tests.
	Limits cost.Limits
}

// Inputs holds the initial state of a session, for eval and repl.
type Inputs struct {
	CRD, Object, Old string
	// Paths are files and folders that are sorted by content.
	Paths []string
	// Objects are the files and folders with objects for celadon eval. If there is only one, Object is its
	// path.
	Objects []string
	// Name selects one of several objects.
	Name        string
	KubeVersion string
	// Subresource is "status" to evaluate a write of the status.
	Subresource string
	Cluster     cluster.Flags

	given *pflag.FlagSet
}

func (in *Inputs) flags(f *pflag.FlagSet) {
	in.given = f
	f.StringVar(&in.CRD, "crd", "", "read the CRD from `PATH`: a file, a folder, or -")
	f.StringVar(&in.Old, "old", "", "read the old object, or old objects, from `PATH`")
	f.StringVar(&in.Name, "name", "", "the object's `NAME`, or NAMESPACE/NAME, if FILE has several of the CRD's kind")
	f.StringVar(&in.KubeVersion, "kube-version", "", "Kubernetes `X.Y` to write rules for (default: all supported versions)")
	f.StringVar(&in.Subresource, "subresource", "", "evaluate a write of a subresource: status (default: a write of the object, which does not change the status)")
	in.Cluster.Add(f, "read --object KIND/NAME from a cluster, and its CRD too unless --crd is given (see docs/cluster.md)")
}

// Flags adds the flags of celadon repl to f.
func (o *Options) Flags(f *pflag.FlagSet) {
	o.flags(f)
	f.StringVar(&o.Object, "object", "", "read the object from `FILE`")
	f.BoolVar(&o.Echo, "echo", false, "print each line of a pipe with its prompt")
	f.BoolVar(&o.NoHistory, "no-history", false, "do not read or write the history file")
	o.Config.Add(f)
	config.FromTree.Set(f, "crd")
	config.Stricter.Set(f, "kube-version")
	config.Never.Set(f, "echo")
}

// Run implements celadon repl.
func Run(ctx context.Context, streams command.Streams, o *Options) error {
	h := &host{Streams: streams, given: o.given}
	s, opened, many, err := h.session(ctx, &o.Inputs, o.Limits)
	if err != nil {
		return err
	}
	h.opened = true
	in, closeIn := h.lineReader(s, o)
	defer closeIn()
	if _, terminal := in.(*repl.Terminal); terminal || o.Echo || many {
		fmt.Fprint(h.Stdout, opened)
	}
	if _, ok := in.(*repl.Terminal); ok {
		var stop func()
		ctx, stop = untilTerminated(ctx, closeIn)
		defer stop()
	}
	if err := repl.Run(ctx, s, in, h.Stdout); err != nil {
		return fmt.Errorf("repl: %w", err)
	}
	return nil
}

// untilTerminated returns a context that Ctrl-C does not cancel, because Ctrl-C ends an evaluation and
// not the shell. SIGTERM cancels the context.
func untilTerminated(ctx context.Context, leave func()) (context.Context, func()) {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // so that it does not end the process
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM)
	stay := context.AfterFunc(ctx, leave)
	return ctx, func() { stay(); stop() }
}

func (h *host) lineReader(s *repl.Session, o *Options) (repl.LineReader, func()) {
	in, inFile := h.Stdin.(*os.File)
	out, outFile := h.Stdout.(*os.File)
	if inFile && outFile {
		cfg := repl.TerminalConfig{Color: command.Color(h.Stdout), Plain: os.Getenv("TERM") == "dumb"}
		if !o.NoHistory {
			kept := openHistory()
			cfg.History, cfg.Remember = kept.entries(), kept.remember
		}
		if t, err := repl.OpenTerminal(in, out, s, cfg); err == nil {
			return t, func() { _ = t.Close() }
		}
	}
	if o.Echo {
		return repl.EchoLines(h.Stdin, h.Stdout), func() {}
	}
	return repl.Lines(h.Stdin), func() {}
}

// session opens a session with the input that the flags name. opened describes the files, and many is set if
// the session holds a collection of objects.
func (h *host) session(ctx context.Context, in *Inputs, limits cost.Limits) (s *repl.Session, opened string, many bool, err error) {
	if err := in.check(); err != nil {
		return nil, "", false, err
	}
	// Loading a large CRD creates much garbage once. Collecting it would delay the prompt.
	defer gctuning.CollectSeldom(400, math.MaxInt64)()
	inputs, err := h.inputs(ctx, in)
	if err == nil {
		s, err = h.newSession(in, limits)
	}
	switch {
	case err != nil:
	case len(in.Paths) > 0:
		opened, many, err = s.Open(ctx, inputs)
	default:
		if err = s.Start(inputs); errors.Is(err, repl.ErrNoCRD) {
			err = errors.New("no CRD given: use --crd PATH")
		}
	}
	return s, opened, many, err
}

func (h *host) newSession(in *Inputs, limits cost.Limits) (*repl.Session, error) {
	return repl.NewSession(repl.Config{KubeVersion: in.KubeVersion, Limits: limits, Subresource: in.Subresource, Host: h.ofSession()})
}

// inputs reads the files and the cluster that the flags name. With --cluster, it sets an empty in.KubeVersion
// to the version of the cluster. With in.Paths and without in.Object, the session reads the old objects
// itself.
func (h *host) inputs(ctx context.Context, in *Inputs) (out repl.Inputs, err error) {
	out = repl.Inputs{CRDPath: in.CRD, ObjectPath: in.Object, OldPath: in.Old, Name: in.Name, Paths: in.Paths}
	if in.Cluster.On {
		out.Objects, out.CRDs, err = h.live(ctx, in)
	} else {
		out.Objects, err = h.load(ctx, in.Object)
	}
	if err == nil && (len(in.Paths) == 0 || in.Object != "") {
		out.Olds, err = h.load(ctx, in.Old)
	}
	switch {
	case err != nil:
	case in.CRD != "" || !in.Cluster.On:
		out.CRDs, err = h.load(ctx, in.CRD)
	default:
		out.CRDPath = noFile
	}
	return out, err
}
