package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB, name string, ends time.Time) *authority {
	t.Helper()
	a := &authority{t: t}
	pair := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotAfter: ends, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	a.cert, a.key = pair.Leaf, pair.PrivateKey.(*ecdsa.PrivateKey)
	return a
}

func (a *authority) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}))
}

func (a *authority) sign(template *x509.Certificate) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber, template.NotBefore = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func (a *authority) client(name string, ends time.Time, use x509.ExtKeyUsage) tls.Certificate {
	return a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: name}, NotAfter: ends, ExtKeyUsage: []x509.ExtKeyUsage{use}, KeyUsage: x509.KeyUsageDigitalSignature})
}

// as returns the server for a client that sends the first of certs, if any.
func (s *serving) as(version uint16, sessions tls.ClientSessionCache, certs ...tls.Certificate) *serving {
	cfg := s.client.Transport.(*http.Transport).TLSClientConfig.Clone()
	cfg.MinVersion, cfg.MaxVersion, cfg.ClientSessionCache = version, version, sessions
	if len(certs) > 0 { // sent even if the server does not name its authority
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certs[0], nil }
	}
	other := *s
	transport := &http.Transport{TLSClientConfig: cfg}
	other.client = &http.Client{Transport: transport}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &other
}

func TestServeClientCA(t *testing.T) {
	t.Parallel()
	later := time.Now().Add(time.Hour)
	ours, other, over := newAuthority(t, "ours", later), newAuthority(t, "other", later), newAuthority(t, "ours, once", time.Now().Add(-time.Minute))
	file := filepath.Join(t.TempDir(), "ca.crt")
	write(t, file, "A comment.\n"+ours.pem()+over.pem())
	s := startServe(t, "--crd", exampleD, "--client-ca", file)
	good := ours.client("kube-apiserver", later, x509.ExtKeyUsageClientAuth)
	chain := good
	for len(chain.Certificate) <= maxChain {
		chain.Certificate = append(chain.Certificate, ours.cert.Raw)
	}
	for name, c := range map[string]struct {
		certs []tls.Certificate
		code  int
		want  string
	}{
		"none":             {nil, 401, "a client certificate is required"},
		"good":             {[]tls.Certificate{good}, 200, `"allowed":true`},
		"another CA's":     {[]tls.Certificate{other.client("kube-apiserver", later, x509.ExtKeyUsageClientAuth)}, 403, "unknown authority"},
		"expired":          {[]tls.Certificate{ours.client("kube-apiserver", time.Now().Add(-time.Second), x509.ExtKeyUsageClientAuth)}, 403, "expired"},
		"a server's":       {[]tls.Certificate{ours.client("kube-apiserver", later, x509.ExtKeyUsageServerAuth)}, 403, "incompatible key usage"},
		"an expired CA's":  {[]tls.Certificate{over.client("kube-apiserver", later, x509.ExtKeyUsageClientAuth)}, 403, "expired"},
		"signed by itself": {[]tls.Certificate{(&authority{t: t}).client("kube-apiserver", later, x509.ExtKeyUsageClientAuth)}, 403, "unknown authority"},
	} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			client := s.as(version, nil, c.certs...)
			for _, path := range []string{"/validate", "/mutate", "/validate"} {
				if code, text := client.post(path, cronTab(goodSpec)); code != c.code || !strings.Contains(text, c.want) {
					t.Errorf("%s, %s, %s: %d %s, want %d %s", name, tls.VersionName(version), path, code, text, c.code, c.want)
				}
			}
			for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
				if code, text := client.get(path); code != 200 {
					t.Errorf("%s: %s: %d %s", name, path, code, text)
				}
			}
		}
	}
	if _, err := s.as(tls.VersionTLS13, nil, chain).client.Get(s.url("/healthz")); err == nil {
		t.Error("a chain of nine certificates is kept")
	}
}

func TestServeClientCAChanges(t *testing.T) {
	t.Parallel()
	later := time.Now().Add(time.Hour)
	first, second := newAuthority(t, "first", later), newAuthority(t, "second", later)
	file := filepath.Join(t.TempDir(), "ca.crt")
	write(t, file, first.pem())
	s := startServe(t, "--crd", exampleD, "--client-ca", file)
	cert := first.client("kube-apiserver", later, x509.ExtKeyUsageClientAuth)
	open := map[uint16]*serving{}
	resuming := map[uint16]*serving{}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		open[version] = s.as(version, nil, cert)
		resuming[version] = s.as(version, tls.NewLRUClientSessionCache(1), cert)
	}
	expect := func(when string, code int) {
		t.Helper()
		for version := range open {
			resuming[version].client.CloseIdleConnections()
			for what, client := range map[string]*serving{"an open connection": open[version], "a resumed session": resuming[version]} {
				if got, text := client.post("/validate", cronTab(goodSpec)); got != code {
					t.Errorf("%s, %s, %s: %d %s", when, what, tls.VersionName(version), got, text)
				}
			}
		}
	}
	expect("at first", 200)
	both := first.pem() + second.pem()
	for i, broken := range []string{"", "no PEM", both[:len(both)-100], strings.ReplaceAll(first.pem(), "CERTIFICATE", "PRIVATE KEY"), strings.Replace(first.pem(), "M", "N", 1)} {
		replace(t, file, broken)
		s.await("the broken file is seen", func() bool { return len(s.log.records("client CA not changed")) == i+1 })
		expect("with a broken file", 200)
	}
	replace(t, file, both)
	s.await("both are seen", func() bool { return len(s.log.records("client CA changed")) == 1 })
	expect("with both", 200)
	res, err := resuming[tls.VersionTLS13].client.Get(s.url("/healthz"))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if !res.TLS.DidResume {
		t.Error("this test resumes no session")
	}
	replace(t, file, second.pem())
	s.await("the other is seen", func() bool { return len(s.log.records("client CA changed")) == 2 })
	expect("without the first", 403)
}

func TestClientExpires(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ca := newAuthority(t, "ours", now.Add(time.Hour))
	cert := ca.client("kube-apiserver", now.Add(time.Minute), x509.ExtKeyUsageClientAuth)
	pool, err := poolOf([]byte(ca.pem()))
	if err != nil {
		t.Fatal(err)
	}
	if err := (&authorities{pool: pool}).verify([]*x509.Certificate{cert.Leaf}, now); err != nil {
		t.Error(err)
	}
	if err := (&authorities{pool: pool}).verify([]*x509.Certificate{cert.Leaf}, now.Add(2*time.Minute)); err == nil {
		t.Error("good after its end")
	}
	short := newAuthority(t, "short", now.Add(time.Minute))
	pool.AddCert(short.cert)
	cert = short.client("kube-apiserver", now.Add(time.Hour), x509.ExtKeyUsageClientAuth)
	if err := (&authorities{pool: pool}).verify([]*x509.Certificate{cert.Leaf}, now.Add(2*time.Minute)); err == nil {
		t.Error("good longer than its authority")
	}
}
