package kube

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/celadon-cel/celadon/internal/testing/exchange"
)

type hooks struct {
	url, authority string
	mu             sync.Mutex
	calls          map[string][]string // names of webhooks by call
}

// callKey is the extra field of users that identifies a call.
const callKey = "call"

func (p *plane) serveHooks() *hooks {
	p.t.Helper()
	cert, key := certificate(p.t, p.host)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		p.t.Fatal(err)
	}
	at := p.host + ":9443"
	h := &hooks{url: "https://" + at + "/", authority: base64.StdEncoding.EncodeToString(cert), calls: map[string][]string{}}
	server := &http.Server{Addr: at, Handler: h, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}}
	go func() { _ = server.ListenAndServeTLS("", "") }()
	p.t.Cleanup(func() { server.Close() })
	return h
}

func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if call := review.Request.UserInfo.Extra[callKey]; len(call) > 0 {
		h.mu.Lock()
		h.calls[call[0]] = append(h.calls[call[0]], path.Base(r.URL.Path))
		h.mu.Unlock()
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	review.Request = nil
	_ = json.NewEncoder(w).Encode(review)
}

func (h *hooks) called(call string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(h.calls[call])))
}

// configuration returns a webhook configuration. fields is the JSON of other fields, after a comma.
func (h *hooks) configuration(kind, name, fields string) exchange.Object {
	return object(fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"%sWebhookConfiguration","metadata":{"name":%q},"webhooks":[{
		"name":"%[2]s.example.com","clientConfig":{"url":%[3]q,"caBundle":%[4]q},"sideEffects":"None","admissionReviewVersions":["v1"]%[5]s}]}`,
		kind, name, h.url+name+".example.com", h.authority, fields))
}
