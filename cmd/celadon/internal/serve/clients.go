package serve

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

// maxChain limits the certificates that a client may send, because they are kept with the connection.
const maxChain = 8

// A clientCA determines which clients may request decisions: those with a certificate of its
// authorities, which are read again when the file changes. It checks each request instead of the
// handshake. Therefore probes and metrics need no certificate, a response can explain the error, and
// no open connection or resumed session outlives an authority or a certificate.
type clientCA struct {
	file    string
	current atomic.Pointer[authorities]
}

type authorities struct {
	pem  []byte
	pool *x509.CertPool
}

// On an error, load keeps the previous authorities. changed has attributes for the log.
func (c *clientCA) load() (changed []any, err error) {
	data, err := os.ReadFile(c.file)
	if err != nil {
		return nil, fmt.Errorf("client CA: %w", err)
	}
	pool, err := poolOf(data)
	if err != nil {
		return nil, fmt.Errorf("client CA %s: %w", c.file, err)
	}
	if before := c.current.Swap(&authorities{data, pool}); before == nil || !bytes.Equal(data, before.pem) {
		changed = []any{"file", c.file}
	}
	return changed, nil
}

func poolOf(data []byte) (*x509.CertPool, error) {
	pool, n := x509.NewCertPool(), 0
	for {
		block, rest := pem.Decode(data)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("has a %s (want certificates only)", block.Type)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", n+1, err)
		}
		pool.AddCert(cert)
		data, n = rest, n+1
	}
	switch {
	case bytes.Contains(data, []byte("-----")):
		return nil, fmt.Errorf("the data after certificate %d is not PEM: is the file being written?", n)
	case n == 0:
		return nil, errors.New("has no certificate in PEM")
	}
	return pool, nil
}

func (c *clientCA) check(r *http.Request) *httpError {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return &httpError{code: http.StatusUnauthorized, text: "a client certificate is required (see --client-ca)", unread: true}
	}
	if err := c.current.Load().verify(r.TLS.PeerCertificates, time.Now()); err != nil {
		return &httpError{code: http.StatusForbidden, text: "client certificate: " + brief(err.Error()), unread: true}
	}
	return nil
}

func (a *authorities) verify(certs []*x509.Certificate, now time.Time) error {
	opts := x509.VerifyOptions{
		Roots:         a.pool,
		Intermediates: x509.NewCertPool(),
		CurrentTime:   now,
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, cert := range certs[1:] {
		opts.Intermediates.AddCert(cert)
	}
	_, err := certs[0].Verify(opts)
	return err
}

// requestCertificate makes the handshake request a certificate. The handshake proves that the client has the key;
// check verifies the certificate.
func (c *clientCA) requestCertificate(cfg *tls.Config) {
	cfg.ClientAuth = tls.RequestClientCert
	cfg.VerifyPeerCertificate = func(certs [][]byte, _ [][]*x509.Certificate) error {
		if len(certs) > maxChain {
			return fmt.Errorf("%d client certificates: want at most %d", len(certs), maxChain)
		}
		return nil
	}
}

type certificate struct {
	certFile, keyFile string
	server            *server
	current           atomic.Pointer[tls.Certificate]
}

// On an error, load keeps the previous certificate. changed has attributes for the log.
func (c *certificate) load() (changed []any, err error) {
	cert, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert %s: %w", c.certFile, input.WithoutPath(err))
	}
	before := c.current.Swap(&cert)
	if cert.Leaf != nil {
		c.server.metrics.certificateExpiry.Set(float64(cert.Leaf.NotAfter.Unix()))
		if before != nil && before.Leaf != nil && !cert.Leaf.Equal(before.Leaf) {
			changed = []any{"subject", cert.Leaf.Subject.String(), "notAfter", cert.Leaf.NotAfter}
		}
	}
	return changed, nil
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
