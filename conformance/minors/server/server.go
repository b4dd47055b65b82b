package server

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"k8s.io/apiextensions-apiserver/test/integration/fixtures"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

const (
	// EtcdPrefix is the key prefix of all objects in etcd. The fixtures would choose a random prefix; a
	// fixed prefix makes objects easy to find.
	EtcdPrefix = "/celadon"
	// RequestBytes is a maximum size of etcd's requests. etcd's default is too small for some CRDs.
	RequestBytes = 16 << 20

	// etcdURLVariable is the environment variable from which the fixtures read etcd's address. They
	// have no parameter for it.
	etcdURLVariable = "KUBE_INTEGRATION_ETCD_URL"
	startTimeout    = 30 * time.Second
)

// Server is a running API server.
type Server struct {
	Endpoint Endpoint
	dir      string
	etcd     *embed.Etcd
	tearDown func()
}

// An Endpoint holds the addresses of an API server and its etcd.
type Endpoint struct {
	// Host is the address of the API server, ServerName the name in its certificate, and Token the
	// bearer token of an administrator.
	Host, ServerName, Token string
	// CA is the API server's certificate authority, in PEM.
	CA []byte
	// Etcd is the URL of etcd.
	Etcd string
}

// Config returns a client configuration for the API server.
func (e *Endpoint) Config() *rest.Config {
	return &rest.Config{
		Host: e.Host, BearerToken: e.Token,
		TLSClientConfig: rest.TLSClientConfig{CAData: e.CA, ServerName: e.ServerName},
	}
}

// Start starts etcd and the API server. etcd accepts requests of at most requestBytes bytes. Calls must
// not overlap within a process, because the fixtures read etcd's address from the environment.
func Start(requestBytes uint) (*Server, error) {
	silenceLogs()
	s := &Server{}
	if err := s.start(requestBytes); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(requestBytes uint) (err error) {
	if s.dir, err = os.MkdirTemp("", "celadon-conformance"); err != nil {
		return err
	}
	if s.etcd, err = startEtcd(s.dir, requestBytes); err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	s.Endpoint.Etcd = "http://" + s.etcd.Clients[0].Addr().String()
	return s.startAPI()
}

func (s *Server) startAPI() error {
	if err := os.Setenv(etcdURLVariable, s.Endpoint.Etcd); err != nil {
		return err
	}
	defer os.Unsetenv(etcdURLVariable)
	tearDown, config, _, err := fixtures.StartDefaultServer(quiet{}, "--etcd-prefix", EtcdPrefix)
	if err != nil {
		return fmt.Errorf("start the API server: %w", err)
	}
	s.tearDown = tearDown
	s.Endpoint.Host, s.Endpoint.Token = config.Host, config.BearerToken
	s.Endpoint.CA, s.Endpoint.ServerName = config.CAData, config.ServerName
	return nil
}

// Stop stops both servers and removes their files.
func (s *Server) Stop() {
	if s.tearDown != nil {
		s.tearDown()
	}
	if s.etcd != nil {
		s.etcd.Close()
	}
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}

// etcdConfig is a configuration file, because the fields of embed.Config for the addresses have other
// names since etcd 3.6. Any free port is used.
const etcdConfig = `
data-dir: %s
listen-client-urls: http://127.0.0.1:0
listen-peer-urls: http://127.0.0.1:0
log-level: panic
`

func startEtcd(dir string, requestBytes uint) (*embed.Etcd, error) {
	file := filepath.Join(dir, "etcd.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, etcdConfig, filepath.Join(dir, "data")), 0o600); err != nil {
		return nil, err
	}
	config, err := embed.ConfigFromFile(file)
	if err != nil {
		return nil, err
	}
	config.UnsafeNoFsync = true
	config.MaxRequestBytes = requestBytes
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err := <-etcd.Err():
		etcd.Close()
		return nil, err
	case <-time.After(startTimeout):
		etcd.Close()
		return nil, errors.New("not ready in time")
	}
}

// The server logs every rejected object.
func silenceLogs() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	klog.SetLogger(logr.Discard())
	log.SetOutput(io.Discard) // net/http logs panics here
}

// quiet discards the log messages and errors of the fixtures, which also return their errors.
// Fatalf panics.
type quiet struct{}

func (quiet) Errorf(string, ...any)          {}
func (quiet) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
func (quiet) Logf(string, ...any)            {}
