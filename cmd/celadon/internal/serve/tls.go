package serve

import (
	"crypto/tls"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

// A certificate is the server's certificate, which is read again when its files change.
type certificate struct {
	certFile, keyFile string
	server            *server
	current           atomic.Pointer[tls.Certificate]
}

// load reads the files. If certificate and key do not match, the previous pair stays.
func (c *certificate) load() error {
	cert, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("--tls-cert %s: %w", c.certFile, input.WithoutPath(err))
	}
	c.current.Store(&cert)
	if cert.Leaf != nil {
		c.server.metrics.certificateExpiry.Set(float64(cert.Leaf.NotAfter.Unix()))
	}
	return nil
}

func (c *certificate) reload() (again time.Duration) {
	before := c.current.Load()
	if err := c.load(); err != nil {
		c.server.log.Error("certificate not changed", "error", err)
		return 0
	}
	if now := c.current.Load(); now.Leaf != nil && before.Leaf != nil && !now.Leaf.Equal(before.Leaf) {
		c.server.log.Info("certificate changed", "subject", now.Leaf.Subject.String(), "notAfter", now.Leaf.NotAfter)
	}
	return 0
}

// listener wraps inner with TLS. HTTP/2 is disabled, because the API server does not use it for
// webhooks, and it would increase the attack surface.
func (c *certificate) listener(inner net.Listener) net.Listener {
	cfg := &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.current.Load(), nil
		},
	}
	if c.server.clients != nil {
		c.server.clients.requestCertificate(cfg)
	}
	return tls.NewListener(inner, cfg)
}
