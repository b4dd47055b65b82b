package conformance

import (
	"net/http"
	"net/url"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/client-go/rest"

	"github.com/celadon-cel/celadon/conformance/minors/server"
)

const etcdPrefix = server.EtcdPrefix

// Server is a real API server for custom resources, with its own etcd.
type Server struct {
	// kubeVersion is the minor version of the server, or "" if it runs in this process with the newest
	// libraries. Engines that are compared with the server emulate that version.
	kubeVersion string
	stop        func()
	store       *clientv3.Client
	host        string
	client      *http.Client
	crds        clientset.Interface
	config      *rest.Config
}

// Start starts etcd and the API server in this process. See server.Start.
func Start() (*Server, error) { return startWith(server.RequestBytes) }

// startWith starts a server whose etcd accepts requests of at most requestBytes bytes.
func startWith(requestBytes uint) (*Server, error) {
	running, err := server.Start(requestBytes)
	if err != nil {
		return nil, err
	}
	s := &Server{stop: running.Stop}
	return s, s.connect(&running.Endpoint)
}

func (s *Server) connect(to *server.Endpoint) error {
	err := s.connectClients(to)
	if err != nil {
		s.Stop()
	}
	return err
}

func (s *Server) connectClients(to *server.Endpoint) (err error) {
	s.config = to.Config()
	s.config.QPS = -1 // the default of 5 requests per second would dominate the run time
	s.config.WarningHandler = rest.NoWarnings{}
	s.store, err = clientv3.New(clientv3.Config{
		Endpoints: []string{to.Etcd}, MaxCallSendMsgSize: 2 * server.RequestBytes, Logger: zap.NewNop(),
	})
	if err != nil {
		return err
	}
	if s.crds, err = clientset.NewForConfig(s.config); err != nil {
		return err
	}
	if s.client, err = rest.HTTPClientFor(s.config); err != nil {
		return err
	}
	host, err := url.Parse(s.config.Host)
	if err != nil || host.Host == "" {
		s.host = "https://" + s.config.Host
		return nil
	}
	s.host = strings.TrimSuffix(host.String(), "/")
	return nil
}

// Stop stops the API server and etcd.
func (s *Server) Stop() {
	if s.store != nil {
		s.store.Close()
	}
	s.stop()
}
