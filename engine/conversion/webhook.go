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

// Webhook is a conversion webhook. It is asked at its URL alone, never at one
// that a CRD names.
type Webhook struct {
	// URL begins with https://; it has no user, query or fragment.
	URL string
	// CA is a bundle of certificates in PEM that the webhook's must come from;
	// empty: the system's.
	CA []byte
	// Timeout is that of one conversion; 0 is DefaultTimeout.
	Timeout time.Duration
	// MaxBytes bounds an answer; 0 is DefaultMaxBytes.
	MaxBytes int64
	// Patience is how often it may give no answer in time, when it never gave
	// one, before it is not asked any more; 0: without end.
	Patience int64
	// MaxWaiting bounds the conversions that wait for it at once: more get no
	// answer; 0: no bound.
	MaxWaiting int64
}

// The bounds of a webhook where none are given: the server's time, and more than
// an object that etcd takes, which is no larger than 1.5 MiB.
const (
	DefaultTimeout  = 30 * time.Second
	DefaultMaxBytes = 8 << 20
)

// Converter asks the webhook.
func (w Webhook) Converter() (*Converter, error) {
	c, err := newClient(w)
	if err != nil {
		return nil, err
	}
	return reviews(c.codec, c.call), nil
}

// client asks one webhook.
type client struct {
	Webhook
	codec runtime.Codec
	http  *http.Client
	// slow counts timeouts until it first answered, waiting those who wait.
	slow, waiting atomic.Int64
	answered      atomic.Bool
	late          *Error
}

func newClient(w Webhook) (*client, error) {
	u, err := url.Parse(w.URL)
	switch {
	case err != nil:
		return nil, errors.New("the URL cannot be parsed")
	case u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("the URL is not one of https (got %q, want https://HOST/PATH)", u.Redacted())
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
	u.RawQuery = url.Values{"timeout": {w.Timeout.String()}}.Encode() // as the server has it
	w.URL = u.String()
	return &client{
		Webhook: w,
		codec:   newCodec(),
		http:    &http.Client{Transport: transport(roots), CheckRedirect: sameAddress},
		// In the words of net/http, wherever it was that time ended.
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

// transport has no proxy: what is in the environment is not asked.
func transport(roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		DialContext:            (&net.Dialer{}).DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: roots},
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      false, // nor does the server, but to itself
	}
}

const maxRedirects = 10

// sameAddress lets a redirect lead to the same address only. (The server follows
// it anywhere.)
func sameAddress(req *http.Request, via []*http.Request) error {
	if to, from := req.URL, via[0].URL; to.Scheme != from.Scheme || to.Host != from.Host {
		return fmt.Errorf("redirect to another address (got %s://%s, want %s://%s)", to.Scheme, to.Host, from.Scheme, from.Host)
	}
	if len(via) >= maxRedirects {
		return fmt.Errorf("stopped after %d redirects", maxRedirects)
	}
	return nil
}

// call asks and reads the answer, within the time that there is.
func (c *client) call(ctx context.Context, review []byte, into runtime.Object) error {
	if c.Patience > 0 && !c.answered.Load() && c.slow.Load() >= c.Patience {
		return c.late
	}
	if n := c.waiting.Add(1); c.MaxWaiting > 0 && n > c.MaxWaiting {
		c.waiting.Add(-1)
		return fmt.Errorf("%d conversions wait for it already", c.MaxWaiting)
	}
	defer c.waiting.Add(-1)
	timed, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	err := c.post(timed, review, into)
	if err != nil && timed.Err() != nil && ctx.Err() == nil {
		c.slow.Add(1)
		return c.late
	}
	c.answered.Store(true)
	return err
}
