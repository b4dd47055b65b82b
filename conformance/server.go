package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.uber.org/zap"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apiextensions-apiserver/test/integration/fixtures"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

const (
	// etcdURLVariable is the environment variable from which the fixtures read etcd's address. They
	// have no parameter for it.
	etcdURLVariable = "KUBE_INTEGRATION_ETCD_URL"
	// etcdPrefix is the key prefix of all objects in etcd. The fixtures would choose a random
	// prefix; a fixed prefix makes objects easy to find.
	etcdPrefix = "/celadon"
	// etcdRequestBytes is the maximum request size. etcd's default is too small for some CRDs.
	etcdRequestBytes = 16 << 20
	etcdStartTimeout = 30 * time.Second
)

// Server is a real API server for custom resources, with its own etcd, both inside this process. It
// needs no binaries, no network except the loopback interface, and no files except a temporary
// folder.
type Server struct {
	requestBytes uint // etcd's request limit
	dir          string
	etcd         *embed.Etcd
	store        *clientv3.Client
	tearDown     func()
	host         string
	client       *http.Client
	crds         clientset.Interface
	config       *rest.Config
}

// Start starts etcd and the API server, which takes about a second. Calls must not overlap within a
// process, because the fixtures read etcd's address from the environment.
func Start() (*Server, error) { return startWith(etcdRequestBytes) }

// startWith starts a server whose etcd accepts requests of at most requestBytes bytes.
func startWith(requestBytes uint) (*Server, error) {
	silenceLogs()
	s := &Server{requestBytes: requestBytes}
	if err := s.start(); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) start() (err error) {
	if s.dir, err = os.MkdirTemp("", "celadon-conformance"); err != nil {
		return err
	}
	if s.etcd, err = startEtcd(s.dir, s.requestBytes); err != nil {
		return err
	}
	s.store = v3client.New(s.etcd.Server)
	return s.startAPI()
}

func (s *Server) startAPI() error {
	if err := os.Setenv(etcdURLVariable, "http://"+s.etcd.Clients[0].Addr().String()); err != nil {
		return err
	}
	defer os.Unsetenv(etcdURLVariable)
	tearDown, config, _, err := fixtures.StartDefaultServer(quiet{}, "--etcd-prefix", etcdPrefix)
	if err != nil {
		return fmt.Errorf("start the API server: %w", err)
	}
	s.tearDown = tearDown
	return s.connect(config)
}

func (s *Server) connect(config *rest.Config) (err error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the default of 5 requests per second would dominate the run time
	config.WarningHandler = rest.NoWarnings{}
	s.config = config
	if s.crds, err = clientset.NewForConfig(config); err != nil {
		return err
	}
	if s.client, err = rest.HTTPClientFor(config); err != nil {
		return err
	}
	host, err := url.Parse(config.Host)
	if err != nil || host.Host == "" {
		s.host = "https://" + config.Host
		return nil
	}
	s.host = strings.TrimSuffix(host.String(), "/")
	return nil
}

// Stop stops both servers and removes their files.
func (s *Server) Stop() {
	if s.tearDown != nil {
		s.tearDown()
	}
	if s.store != nil {
		s.store.Close()
	}
	if s.etcd != nil {
		s.etcd.Close()
	}
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}

func startEtcd(dir string, requestBytes uint) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = dir
	config.UnsafeNoFsync = true
	config.MaxRequestBytes = requestBytes
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	anyPort := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.ListenClientUrls = []url.URL{anyPort}
	config.ListenPeerUrls = []url.URL{anyPort}
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("start etcd: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), etcdStartTimeout)
	defer cancel()
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err := <-etcd.Err():
		etcd.Close()
		return nil, fmt.Errorf("start etcd: %w", err)
	case <-ctx.Done():
		etcd.Close()
		return nil, errors.New("start etcd: not ready in time")
	}
}

// silenceLogs keeps the API server's log out of the test output. The server logs every rejected
// object.
func silenceLogs() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	klog.SetLogger(logr.Discard())
	log.SetOutput(io.Discard) // net/http logs panics here
}

// quiet discards log messages of the fixtures. They also report failures as errors.
type quiet struct{}

func (quiet) Errorf(string, ...any)          {}
func (quiet) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
func (quiet) Logf(string, ...any)            {}
