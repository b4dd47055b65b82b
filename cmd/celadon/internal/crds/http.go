package crds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

// Limits of a download.
const (
	maxDownload  = 64 << 20
	maxRedirects = 5
	patience     = 2 * time.Minute
)

var errPrivate = errors.New("a private address: pass --private-addresses if the source is in your network")

// shared is the address range of carriers, which netip does not count as private.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// public returns an error if an address does not belong to the public internet.
func public(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := at.Addr().Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || shared.Contains(ip) {
		return fmt.Errorf("%s: %w", ip, errPrivate)
	}
	return nil
}

// client returns an HTTP client for untrusted servers. It sends no credentials and, unless private is set, connects only to
// public addresses and with TLS.
func client(private bool) *http.Client {
	dialer := &net.Dialer{Timeout: 30 * time.Second}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error { return public(address) }
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		TLSHandshakeTimeout: 30 * time.Second, ResponseHeaderTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
	}
	return &http.Client{Transport: transport, Timeout: patience, CheckRedirect: func(to *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		return checkURL(to.URL, private)
	}}
}

func checkURL(u *url.URL, private bool) error {
	switch {
	case u.User != nil:
		return errors.New("credentials in a URL would be written to the lock file")
	case u.Scheme == "http" && !private:
		return errors.New("want https (http only with --private-addresses)")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return fmt.Errorf("%q: want an https URL", u.Redacted())
	}
	return nil
}

// download returns the content of a URL.
func download(ctx context.Context, address string, private bool) ([]byte, error) {
	u, err := url.Parse(address)
	if err == nil {
		err = checkURL(u, private)
	}
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "celadon/"+command.Version())
	resp, err := client(private).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
		return nil, fmt.Errorf("the server responds with %s", resp.Status)
	}
	return input.ReadAll(resp.Body, maxDownload)
}
