package playground

import (
	"bytes"
	"context"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground/service"
)

// How it works. The page is the one that make site builds, but its engine runs in this process instead of the page.
// Only a browser on this machine may send requests, and only from the page itself. Other pages are rejected by the
// Origin header, and DNS rebinding by the Host header. Other users of the machine do not have the token in the path,
// which is known only to the user who started the command.

//go:embed page/dist
var dist embed.FS

type page struct {
	hosts   []string
	token   string
	start   *start
	files   fs.FS
	service *service.Service
	turns   *semaphore.Weighted
}

const (
	// turns limits the requests that are processed at once. Others wait.
	turns = 2
	// maxWork limits the time of a search.
	maxWork = time.Minute
	// quick limits the time of requests other than searches.
	quick = 15 * time.Second
)

func newPage(at net.Addr, token string, begin *start) *page {
	_, port, errAddress := net.SplitHostPort(at.String())
	files, errName := fs.Sub(dist, "page/dist") // as built by make site
	if err := errors.Join(errAddress, errName); err != nil {
		panic(err) // the address of a listener is valid, and so is the name of the folder
	}
	return &page{
		hosts: []string{at.String(), net.JoinHostPort("localhost", port)},
		token: token, start: begin, files: files, service: service.New(), turns: semaphore.NewWeighted(turns),
	}
}

func (p *page) url() string { return "http://" + p.hosts[0] + "/" + p.token + "/" }

// headers prevent the page from treating the contents of CRDs and objects as anything but text. The
// editor's markers are images with data: addresses.
var headers = map[string]string{
	"Content-Security-Policy":      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control":                "no-store",
}

func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	if !slices.Contains(p.hosts, r.Host) {
		http.Error(w, "use the address that celadon playground printed", http.StatusMisdirectedRequest)
		return
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host || r.Method == http.MethodPost && origin == "" {
		http.Error(w, "requests from other pages are not allowed", http.StatusForbidden)
		return
	}
	token, name, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !ok || subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) != 1 {
		http.NotFound(w, r)
		return
	}
	switch {
	case r.Method == http.MethodPost && name == "answer":
		p.answer(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "want GET, or POST of a request", http.StatusMethodNotAllowed)
	case name == "start.json":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(p.start) // the client has gone, so the error is dropped
	default:
		p.file(w, r, name)
	}
}

// native instead of inBrowser makes the page send its requests to the server.
var inBrowser, native = []byte(`data-engine="wasm"`), []byte(`data-engine="native"`)

func (p *page) file(w http.ResponseWriter, r *http.Request, name string) {
	if name == "" {
		name = "index.html"
	}
	data, err := fs.ReadFile(p.files, name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if name == "index.html" {
		data = bytes.Replace(data, inBrowser, native, 1)
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

func (p *page) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, service.MaxRequest))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		http.Error(w, fmt.Sprintf("more than %d MiB", service.MaxRequest>>20), http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		http.Error(w, "the request is incomplete", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), p.timeLimit(body))
	defer cancel()
	if p.turns.Acquire(ctx, 1) != nil {
		http.Error(w, "too many requests at once", http.StatusServiceUnavailable)
		return
	}
	defer p.turns.Release(1)
	reply := p.service.Answer(ctx, body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(reply) // the client has gone, so the error is dropped
}

func (p *page) timeLimit(body []byte) time.Duration {
	var q struct{ Do string }
	if json.Unmarshal(body, &q) == nil && q.Do == "find" {
		return maxWork
	}
	return quick
}
