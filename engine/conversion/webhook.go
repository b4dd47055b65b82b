package conversion

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// Webhook is a conversion webhook. Requests go only to its URL, never to a URL from a CRD.
type Webhook struct {
	// URL begins with https:// and has no user, query, or fragment.
	URL string
	// CA is a PEM bundle of certificate authorities. One must have issued the webhook's certificate. If
	// empty, the system's certificate authorities are used.
	CA []byte
	// Timeout limits a conversion. If 0, it is DefaultTimeout.
	Timeout time.Duration
	// MaxBytes limits the size of a response. If 0, it is DefaultMaxBytes.
	MaxBytes int64
	// Patience is the number of timeouts after which a webhook that never responded is not called
	// again. 0 means no limit.
	Patience int64
	// MaxWaiting limits concurrent conversions. Further conversions fail at once. 0 means no limit.
	MaxWaiting int64
}

// Default limits of a webhook: the API server's timeout, and more than the size of an object in
// etcd, which is at most 1.5 MiB.
const (
	DefaultTimeout  = 30 * time.Second
	DefaultMaxBytes = 8 << 20
)

// Converter returns a Converter that calls the webhook.
func (w Webhook) Converter() (*Converter, error) {
	c, err := newClient(w)
	if err != nil {
		return nil, err
	}
	return single(reviews(c.codec, c.call)), nil
}

type client struct {
	Webhook
	codec         runtime.Codec
	http          *http.Client
	slow, waiting atomic.Int64
	answered      atomic.Bool // the webhook has sent a response, valid or not
	late          *Error
}

func newClient(w Webhook) (*client, error) {
	u, err := url.Parse(w.URL)
	switch {
	case err != nil:
		return nil, errors.New("the URL cannot be parsed")
	case u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("not an https URL (got %q, want https://HOST/PATH)", u.Redacted())
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("the URL has a user, a query or a fragment (got %q, want https://HOST/PATH)", u.Redacted())
	}
	roots, err := pool(w.CA)
	if err != nil {
		return nil, err
	}
	if w.Timeout == 0 {
		w.Timeout = DefaultTimeout
	}
	if w.MaxBytes == 0 {
		w.MaxBytes = DefaultMaxBytes
	}
	u.RawQuery = url.Values{"timeout": {w.Timeout.String()}}.Encode() // as the API server does
	w.URL = u.String()
	return &client{
		Webhook: w,
		codec:   newCodec(),
		http:    &http.Client{Transport: transport(roots), CheckRedirect: sameAddress},
		// The message of net/http, regardless of where the timeout occurred.
		late: &Error{TooSlow, fmt.Sprintf("Post %q: %v", w.URL, context.DeadlineExceeded)},
	}, nil
}

func pool(bundle []byte) (*x509.CertPool, error) {
	if len(bundle) == 0 {
		return nil, nil
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return nil, errors.New("the CA bundle has no certificate in PEM")
	}
	return roots, nil
}

// Without a proxy, the transport ignores the environment.
func transport(roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		DialContext:            (&net.Dialer{}).DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: roots},
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      false, // the API server only uses HTTP/2 to call itself
	}
}

const maxRedirects = 10

// sameAddress is a redirect policy that allows only the original address. The API server follows redirects to any
// address.
func sameAddress(req *http.Request, via []*http.Request) error {
	if to, from := req.URL, via[0].URL; to.Scheme != from.Scheme || to.Host != from.Host {
		return fmt.Errorf("redirect to another address (got %s://%s, want %s://%s)", to.Scheme, to.Host, from.Scheme, from.Host)
	}
	if len(via) >= maxRedirects {
		return fmt.Errorf("stopped after %d redirects", maxRedirects)
	}
	return nil
}

func (c *client) call(ctx context.Context, review []byte, into runtime.Object) error {
	if c.Patience > 0 && !c.answered.Load() && c.slow.Load() >= c.Patience {
		return c.late
	}
	if n := c.waiting.Add(1); c.MaxWaiting > 0 && n > c.MaxWaiting {
		c.waiting.Add(-1)
		return fmt.Errorf("%d conversions are already waiting for it", c.MaxWaiting)
	}
	defer c.waiting.Add(-1)
	timed, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	err := c.post(timed, review, into)
	if err != nil && timed.Err() != nil && ctx.Err() == nil {
		c.slow.Add(1)
		return c.late
	}
	return err
}
