// Package playground implements celadon playground: a page on a local address that shows a CRD, an
// object, the API server's response, and the reasons for it.
package playground

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/net/netutil"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground/service"
	"github.com/celadon-cel/celadon/types"
)

// Options holds the flags of celadon playground.
type Options struct {
	Listen           string
	CRD, Object, Old string
	KubeVersion      string
}

// Flags adds the flags of celadon playground to f.
func (o *Options) Flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.Listen, "listen", "127.0.0.1:0", "loopback `ADDRESS` to listen on; port 0 selects a free port")
	f.StringVar(&o.CRD, "crd", "", "start with the CRD in this `FILE`")
	f.StringVar(&o.Object, "object", "", "start with the object in this `FILE`")
	f.StringVar(&o.Old, "old", "", "start with the old object in this `FILE`")
	f.StringVar(&o.KubeVersion, "kube-version", "", "start with Kubernetes `X.Y` (default: the newest supported)")
}

type start struct {
	CRD         string `json:"crd"`
	Object      string `json:"object"`
	Old         string `json:"old"`
	KubeVersion string `json:"kubeVersion"`
}

// maxBody limits the size of a file. The flags name up to three files, and the page sends them in each request.
const maxBody = service.MaxRequest / 4

func (o *Options) start(stdin io.Reader) (*start, error) {
	if _, err := types.ParseVersion(o.KubeVersion); err != nil {
		return nil, fmt.Errorf("--kube-version: %w", err)
	}
	s := &start{KubeVersion: o.KubeVersion}
	for _, file := range []struct {
		flag, path string
		into       *string
	}{{"--crd", o.CRD, &s.CRD}, {"--object", o.Object, &s.Object}, {"--old", o.Old, &s.Old}} {
		var text []byte
		var err error
		switch file.path {
		case "":
		case "-":
			text, err = input.ReadAll(stdin, maxBody)
		default:
			text, err = input.ReadFile(file.path, maxBody)
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", file.flag, file.path, err)
		}
		*file.into = string(text)
	}
	return s, nil
}

// loopback returns an error if address is not a loopback address, because the page must not be
// reachable from a network.
func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("--listen %s: want a loopback address, such as 127.0.0.1:8080", address)
	}
	return nil
}

const (
	maxConnections = 64
	headerTimeout  = 5 * time.Second
	// readTimeout includes the time for the body.
	readTimeout = 15 * time.Second
	idleTimeout = 2 * time.Minute
	maxHeader   = 16 << 10
	stopTimeout = time.Second
)

// Run implements celadon playground. It serves until ctx is done.
func Run(ctx context.Context, s command.Streams, o *Options) error {
	if err := loopback(o.Listen); err != nil {
		return err
	}
	begin, err := o.start(s.Stdin)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	defer listener.Close()
	p := newPage(listener.Addr(), rand.Text(), begin)
	srv := &http.Server{
		Handler:           p,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      maxWork + readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
	}
	if _, err := fmt.Fprintf(s.Stdout, "%s\n", p.url()); err != nil {
		return fmt.Errorf("cannot write the address: %w", err)
	}
	fmt.Fprintln(s.Stderr, "open this address in a browser; anyone who has it can use the page until you stop the command (Ctrl-C)")
	served := make(chan error, 1)
	go func() { served <- srv.Serve(netutil.LimitListener(listener, maxConnections)) }()
	select {
	case err := <-served:
		return fmt.Errorf("cannot serve: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return srv.Close()
}
