package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/admission"
	"github.com/celadon-cel/celadon/types"
)

// serveOptions are the flags of celadon serve.
type serveOptions struct {
	crds        []string
	listen      string
	tlsCert     string
	tlsKey      string
	clientCA    string
	plainHTTP   bool
	mode        string
	unknown     string
	kubeVersion string
	concurrency int
	drain       time.Duration
	grace       time.Duration
}

const (
	defaultListen      = ":8443"
	defaultConcurrency = 256
	defaultDrain       = 5 * time.Second
	defaultGrace       = 30 * time.Second
)

func (a *app) serveCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve --crds PATH --tls-cert FILE --tls-key FILE",
		Short: "Serve an admission webhook that decides objects by a folder of CRDs",
		Long: `Serve answers AdmissionReviews (admission.k8s.io/v1) over HTTPS:

  /validate  refuses what the CRDs refuse
  /mutate    fills in the CRDs' defaults
  /healthz   the process is alive
  /readyz    the CRDs are loaded and the server is not draining
  /metrics   for Prometheus

The CRDs and certificates are read again when they change. A CRD that does
not compile leaves the one before in force; at the start it is an error.
Logs are JSON lines on stderr. SIGTERM drains: /readyz says 503 for --drain,
then open requests are answered, then the process ends with exit code 0.`,
		Example: `  celadon serve --crds crds/ --tls-cert tls.crt --tls-key tls.key --mode warn
  celadon serve --crds crds/ --plain-http --listen 127.0.0.1:8080`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Draining is ours, not main's: it is also how tests end a server.
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop) // a second one ends us at once
			return a.serve(ctx, &o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.crds, "crds", nil, "CRDs: `PATH` of a file or a folder, watched (repeatable)")
	f.StringVar(&o.listen, "listen", defaultListen, "`ADDRESS` to listen on")
	f.StringVar(&o.tlsCert, "tls-cert", "", "certificate chain in PEM: a `FILE`, watched")
	f.StringVar(&o.tlsKey, "tls-key", "", "its private key in PEM: a `FILE`, watched")
	f.StringVar(&o.clientCA, "client-ca", "", "decide only for clients with a certificate of these authorities in PEM: a `FILE`, watched")
	f.BoolVar(&o.plainHTTP, "plain-http", false, "no TLS; only with --listen on a loopback address")
	f.StringVar(&o.mode, "mode", "enforce", "what a refusal does: enforce, warn (allow with warnings) or audit (only record)")
	f.StringVar(&o.unknown, "unknown-crd", "allow", "objects without a CRD: allow (with a warning) or refuse")
	f.StringVar(&o.kubeVersion, "kube-version", "", "Kubernetes `X.Y` to stand for (default the newest known)")
	f.DurationVar(&o.grace, "remove-after", defaultGrace, "how long the files must have been the same before a CRD that they lack is removed")
	f.IntVar(&o.concurrency, "max-concurrent", defaultConcurrency, "requests decided at once; others wait until their time is up")
	f.DurationVar(&o.drain, "drain", defaultDrain, "how long to go on after SIGTERM, until no more requests are sent here")
	return cmd
}

// config is what the flags say, or why they make no sense.
func (o *serveOptions) config() (cfg admission.Config, err error) {
	if len(o.crds) == 0 {
		return cfg, errors.New("no CRDs given: want --crds PATH (see celadon serve --help)")
	}
	if slices.Contains(o.crds, "-") {
		return cfg, errors.New("--crds -: want a file or a folder, which can be watched")
	}
	if cfg.Mode, err = o.admissionMode(); err != nil {
		return cfg, err
	}
	switch o.unknown {
	case "allow":
	case "refuse":
		cfg.Unknown = admission.RefuseUnknown
	default:
		return cfg, fmt.Errorf("--unknown-crd %q: want allow or refuse", o.unknown)
	}
	if _, err := types.ParseVersion(o.kubeVersion); err != nil {
		return cfg, fmt.Errorf("--kube-version: %w", err)
	}
	cfg.Engine = engine.Config{KubeVersion: o.kubeVersion}
	if o.grace < 0 {
		return cfg, fmt.Errorf("--remove-after %s: want 0 or more", o.grace)
	}
	if o.concurrency < 1 {
		return cfg, fmt.Errorf("--max-concurrent %d: want at least 1", o.concurrency)
	}
	return cfg, o.checkListener()
}

func (o *serveOptions) admissionMode() (admission.Mode, error) {
	for _, mode := range []admission.Mode{admission.Enforce, admission.Warn, admission.Audit} {
		if o.mode == mode.String() {
			return mode, nil
		}
	}
	return 0, fmt.Errorf("--mode %q: want enforce, warn or audit", o.mode)
}

// checkListener keeps objects, which may hold secrets, from going over a
// network in the clear.
func (o *serveOptions) checkListener() error {
	if !o.plainHTTP {
		if o.tlsCert == "" || o.tlsKey == "" {
			return errors.New("no certificate given: want --tls-cert FILE and --tls-key FILE (see celadon serve --help)")
		}
		return nil
	}
	if o.tlsCert != "" || o.tlsKey != "" || o.clientCA != "" {
		return errors.New("--plain-http together with a certificate: want one of them")
	}
	host, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--plain-http with --listen %s: want a loopback address, as 127.0.0.1:8080", o.listen)
	}
	return nil
}

// serve is the whole of celadon serve.
func (a *app) serve(ctx context.Context, o *serveOptions) error {
	cfg, err := o.config()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(a.stderr, nil))
	s := newServer(admission.NewSet(cfg), o.concurrency, log)
	crds, err := newWatcher(o.crds, log)
	if err != nil {
		return err
	}
	defer crds.close()
	folder := &crdFolder{stdin: a.stdin, paths: o.crds, server: s, grace: o.grace}
	if problems, _ := folder.load(); len(problems) > 0 {
		return fmt.Errorf("not all CRDs can be served:\n%w", errors.Join(problems...))
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	defer listener.Close()
	var cert *certificate
	if !o.plainHTTP {
		if cert, err = serveTLS(ctx, o, s); err != nil {
			return err
		}
	}
	go crds.run(ctx, folder.reload)
	log.Info("serving", "address", listener.Addr().String(), "mode", o.mode, "unknownCRD", o.unknown, "crds", len(s.set.Names()), "pid", os.Getpid())
	return s.run(ctx, listener, cert, o.drain)
}

// serveTLS reads the certificate and who may ask, and watches their files until
// the context ends.
func serveTLS(ctx context.Context, o *serveOptions, s *server) (*certificate, error) {
	cert := &certificate{certFile: o.tlsCert, keyFile: o.tlsKey, server: s}
	watch := func(load func() error, reload func() time.Duration, paths ...string) error {
		files, err := newWatcher(paths, s.log)
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, func() { _ = files.close() })
		if err := load(); err != nil {
			return err
		}
		go files.run(ctx, reload)
		return nil
	}
	if o.clientCA != "" {
		s.clients = &clientCA{file: o.clientCA, log: s.log}
		if err := watch(s.clients.load, s.clients.reload, o.clientCA); err != nil {
			return nil, err
		}
	}
	return cert, watch(cert.load, cert.reload, o.tlsCert, o.tlsKey)
}
