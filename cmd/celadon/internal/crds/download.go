package crds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

const (
	maxDownload  = 64 << 20
	maxRedirects = 5
	patience     = 2 * time.Minute
	maxManifest  = 4 << 20
	maxLayers    = 100
)

var errPrivate = errors.New("a private address: pass --private-addresses if the source is in your network")

// shared is the address range of carriers, which netip does not count as private.
var shared = netip.MustParsePrefix("100.64.0.0/10")

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

// publicHost returns an error unless all addresses of a host are public.
func publicHost(ctx context.Context, host string) error {
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for _, ip := range addresses {
		if err == nil {
			err = public(net.JoinHostPort(ip.String(), "443"))
		}
	}
	return err
}

// A transport makes requests to untrusted servers. It adds no credentials and, unless private is set, connects only to
// public addresses and with TLS.
type transport struct {
	http.Transport
	private bool
}

// RoundTrip implements http.RoundTripper. It also checks the URLs of redirects and of a registry's tokens.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := checkURL(req.URL, t.private); err != nil {
		return nil, err
	}
	return t.Transport.RoundTrip(req)
}

func (o *Options) client() *http.Client {
	dialer := &net.Dialer{Timeout: 30 * time.Second, Control: o.control}
	if dialer.Control == nil && !o.Private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error { return public(address) }
	}
	t := &transport{private: o.Private}
	t.Proxy, t.DialContext, t.ForceAttemptHTTP2, t.DisableKeepAlives = http.ProxyFromEnvironment, dialer.DialContext, true, true
	t.TLSHandshakeTimeout, t.ResponseHeaderTimeout, t.MaxResponseHeaderBytes = 30*time.Second, time.Minute, 64<<10
	return &http.Client{Transport: t, Timeout: patience, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		return nil
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

func userAgent() string { return "celadon/" + command.Version() }

func (o *Options) download(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent())
	resp, err := o.client().Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server responds with %s", resp.Status)
	}
	return input.ReadAll(resp.Body, maxDownload)
}

func (o *Options) artifact(ctx context.Context, name string) (*opened, error) {
	repository, err := remote.NewRepository(name)
	if err == nil && repository.Reference.Reference == "" {
		err = errors.New("want oci://REGISTRY/REPOSITORY:TAG, or @sha256:DIGEST")
	}
	if err != nil {
		return nil, err
	}
	host := (&url.URL{Host: repository.Reference.Host()}).Hostname()
	repository.PlainHTTP = o.Private && (host == "localhost" || net.ParseIP(host).IsLoopback())
	client := &auth.Client{Client: o.client()}
	if o.Logins {
		logins, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
		if err != nil {
			return nil, fmt.Errorf("--logins: %w", err)
		}
		client.Credential = credentials.Credential(logins)
	}
	client.SetUserAgent(userAgent())
	repository.Client = client
	found, body, err := repository.FetchReference(ctx, repository.Reference.Reference)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if found.Size > maxManifest {
		return nil, fmt.Errorf("a manifest of more than %d MiB", maxManifest>>20)
	}
	data, err := content.ReadAll(body, found)
	if err != nil {
		return nil, err
	}
	var manifest v1.Manifest
	if err := json.Unmarshal(data, &manifest); err != nil {
		return nil, err
	}
	if n := len(manifest.Layers); n == 0 || n > maxLayers {
		return nil, fmt.Errorf("%s with %d layers: want the manifest of an artifact or a chart", found.MediaType, n)
	}
	texts, err := layers(ctx, repository, name, manifest.Layers)
	all, err := fromTexts(texts, err)
	all.version = found.Digest.String()
	return all, err
}

func layers(ctx context.Context, from *remote.Repository, name string, list []v1.Descriptor) ([]input.Text, error) {
	var all []input.Text
	packed, unpacked := int64(0), 0
	for _, layer := range list {
		if strings.HasSuffix(layer.MediaType, ".prov") {
			continue // the signature of a chart
		}
		if packed += max(layer.Size, 0); packed > maxDownload {
			return nil, fmt.Errorf("more than %d MiB", maxDownload>>20)
		}
		if err := layer.Digest.Validate(); err != nil { // it becomes a part of a URL
			return nil, err
		}
		data, err := content.FetchAll(ctx, from.Blobs(), layer)
		if err != nil {
			return nil, err
		}
		texts, err := textsOf("oci://"+name, data)
		if err != nil {
			return nil, err
		}
		for _, text := range texts {
			if unpacked += len(text.Data); unpacked > maxBytes {
				return nil, fmt.Errorf("more than %d MiB decompressed", maxBytes>>20)
			}
		}
		all = append(all, texts...)
	}
	return all, nil
}
