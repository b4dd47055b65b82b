// Package serve implements celadon serve: an admission webhook for the CRDs and policies in files and folders,
// which are read again when they change.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/watch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/converter"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/admission"
	"github.com/celadon-cel/celadon/types"
)

// Options holds the flags of celadon serve.
type Options struct {
	CRDs        []string
	Policies    []string
	Listen      string
	TLSCert     string
	TLSKey      string
	ClientCA    string
	PlainHTTP   bool
	Mode        string
	Unknown     string
	KubeVersion string
	NoVet       bool
	Concurrency int
	Drain       time.Duration
	Grace       time.Duration
	Convert     converter.Flags
}

const defaultConcurrency = 256

// Flags adds the flags of celadon serve to f.
func (o *Options) Flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.CRDs, "crd", nil, "read CRDs from `PATH`: a file or a folder, watched (repeatable)")
	f.StringArrayVar(&o.Policies, "policy", nil, "evaluate the admission policies in `PATH`, with the objects that they refer to: a file or a folder, watched (repeatable)")
	f.StringVar(&o.Listen, "listen", ":8443", "`ADDRESS` to listen on")
	f.StringVar(&o.TLSCert, "tls-cert", "", "read the certificate chain in PEM from `FILE`, watched")
	f.StringVar(&o.TLSKey, "tls-key", "", "read the private key in PEM from `FILE`, watched")
	f.StringVar(&o.ClientCA, "client-ca", "", "require client certificates signed by an authority in `FILE` (PEM), watched")
	f.BoolVar(&o.PlainHTTP, "plain-http", false, "serve without TLS; requires --listen on a loopback address")
	f.StringVar(&o.Mode, "mode", "enforce", "effect of a rejection: enforce, warn (allow with warnings), or audit (only record)")
	f.StringVar(&o.Unknown, "unknown-crd", "allow", "result for objects without a CRD: allow (with a warning) or refuse")
	f.StringVar(&o.KubeVersion, "kube-version", "", "Kubernetes `X.Y` to emulate (default: the newest supported)")
	f.BoolVar(&o.NoVet, "no-vet", false, "also load CRDs that an API server would reject, if they compile")
	f.DurationVar(&o.Grace, "remove-after", 30*time.Second, "how long the files must be unchanged before CRDs that are missing from them are removed")
	f.IntVar(&o.Concurrency, "max-concurrent", defaultConcurrency, "maximum number of concurrent requests; others wait until their timeout")
	f.DurationVar(&o.Drain, "drain", 5*time.Second, "how long to continue after SIGTERM, while clients may still send requests")
	o.Convert.Add(f)
}

func (o *Options) config() (cfg admission.Config, err error) {
	switch {
	case len(o.CRDs)+len(o.Policies) == 0:
		return cfg, errors.New("no CRDs given: use --crd PATH, or --policy PATH (see celadon serve --help)")
	case slices.Contains(o.CRDs, "-"):
		return cfg, errors.New("--crd -: want a file or a folder, which can be watched")
	case slices.Contains(o.Policies, "-"):
		return cfg, errors.New("--policy -: want a file or a folder, which can be watched")
	case o.Unknown != "allow" && o.Unknown != "refuse":
		return cfg, fmt.Errorf("--unknown-crd %q: want allow or refuse", o.Unknown)
	case o.Grace < 0:
		return cfg, fmt.Errorf("--remove-after %s: want 0 or more", o.Grace)
	case o.Drain < 0:
		return cfg, fmt.Errorf("--drain %s: want 0 or more", o.Drain)
	case o.Concurrency < 1:
		return cfg, fmt.Errorf("--max-concurrent %d: want at least 1", o.Concurrency)
	}
	modes := []admission.Mode{admission.Enforce, admission.Warn, admission.Audit}
	mode := slices.IndexFunc(modes, func(m admission.Mode) bool { return m.String() == o.Mode })
	if mode < 0 {
		return cfg, fmt.Errorf("--mode %q: want enforce, warn, or audit", o.Mode)
	}
	if cfg.Mode = modes[mode]; o.Unknown == "refuse" {
		cfg.Unknown = admission.RejectUnknown
	}
	if _, err := types.ParseVersion(o.KubeVersion); err != nil {
		return cfg, fmt.Errorf("--kube-version: %w", err)
	}
	cfg.Engine = engine.Config{KubeVersion: o.KubeVersion}
	if cfg.Engine.Converter, err = o.Convert.Open(0); err != nil {
		return cfg, err
	}
	return cfg, o.listener()
}

// listener returns an error if the flags about TLS contradict each other, or if objects, which may contain
// secrets, would be sent unencrypted over a network.
func (o *Options) listener() error {
	if !o.PlainHTTP {
		if o.TLSCert == "" || o.TLSKey == "" {
			return errors.New("no certificate given: use --tls-cert FILE and --tls-key FILE (see celadon serve --help)")
		}
		return nil
	}
	if o.TLSCert != "" || o.TLSKey != "" || o.ClientCA != "" {
		return errors.New("--plain-http together with a certificate: want only one of them")
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--plain-http with --listen %s: want a loopback address, such as 127.0.0.1:8080", o.Listen)
	}
	return nil
}

// Run implements celadon serve. It serves until ctx is done or the process receives a signal. A
// second signal ends the process immediately.
func Run(ctx context.Context, streams command.Streams, o *Options) error {
	// Run, not main, handles the signals, because it drains before it returns. Tests stop a server in the same way.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	cfg, err := o.config()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(streams.Stderr, nil))
	s := newServer(admission.NewSet(cfg), o.Concurrency, log)
	folder := &crdFolder{stdin: streams.Stdin, paths: o.CRDs, server: s, reading: reading{grace: o.Grace}, enforce: cfg.Mode == admission.Enforce}
	if !o.NoVet {
		folder.reviewer = &crdReviewer{kubeVersion: o.KubeVersion}
	}
	if len(o.CRDs) > 0 {
		err = s.watch(ctx, o.CRDs, func() error {
			problems, _ := folder.load()
			return notServed("CRDs", errors.Join(problems...))
		}, folder.reload)
	}
	if err == nil {
		err = o.servePolicies(ctx, s)
	}
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	defer listener.Close()
	var cert *certificate
	if !o.PlainHTTP {
		if cert, err = serveTLS(ctx, o, s); err != nil {
			return err
		}
	}
	log.Info("serving", "address", listener.Addr().String(), "mode", o.Mode, "unknownCRD", o.Unknown, "crds", len(s.set.Names()), "pid", os.Getpid())
	return s.run(ctx, listener, cert, o.Drain)
}

func notServed(what string, problems error) error {
	if problems == nil {
		return nil
	}
	return fmt.Errorf("not all %s can be served:%s", what, strings.ReplaceAll("\n"+problems.Error(), "\n", "\n  "))
}

func serveTLS(ctx context.Context, o *Options, s *server) (*certificate, error) {
	cert := &certificate{certFile: o.TLSCert, keyFile: o.TLSKey, server: s}
	watch := func(what string, load func() (changed []any, err error), paths ...string) error {
		first := func() error {
			_, err := load()
			return err
		}
		return s.watch(ctx, paths, first, func() time.Duration {
			switch changed, err := load(); {
			case err != nil:
				s.log.Error(what+" not changed", "error", err)
			case changed != nil:
				s.log.Info(what+" changed", changed...)
			}
			return 0
		})
	}
	if o.ClientCA != "" {
		s.clients = &clientCA{file: o.ClientCA}
		if err := watch("client CA", s.clients.load, o.ClientCA); err != nil {
			return nil, err
		}
	}
	return cert, watch("certificate", cert.load, o.TLSCert, o.TLSKey)
}

func (s *server) watch(ctx context.Context, paths []string, load func() error, reload func() time.Duration) error {
	files, err := watch.New(paths, func(path string, err error) {
		if path == "" {
			s.log.Warn("watch", "error", err)
			return
		}
		s.log.Warn("folder not watched", "path", path, "error", err)
	})
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = files.Close() })
	if err := load(); err != nil {
		return err
	}
	go files.Run(ctx, reload)
	return nil
}
