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

	"github.com/celadon-cel/celadon/cmd/celadon/internal/httplimit"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground/service"
)

// How it works. The page is the one of make site, with its engine behind it instead
// of in it. Who may ask: a browser on this machine, on the page itself. Another
// page is kept out by the Origin of its requests, and one that has a name for this
// address by their Host; another user of the machine by the token in the path, which
// only who started the command has.

//go:embed page/dist
var dist embed.FS

// built is the page as make site has it.
func built() fs.FS {
	files, err := fs.Sub(dist, "page/dist")
	if err != nil {
		panic(err) // the name is a constant
	}
	return files
}

// page answers HTTP requests.
type page struct {
	hosts []string
	token string
	start *start
	files fs.FS
	room  *service.Service
	turns *httplimit.Turns
}

const (
	// turns is how many questions are answered at once; others wait.
	turns = 2
	// maxWork is for the longest question.
	maxWork = time.Minute
	// quick is for all but searches.
	quick = 15 * time.Second
)

func newPage(at net.Addr, token string, begin *start) *page {
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		panic(err) // it is a listener's
	}
	return &page{
		hosts: []string{at.String(), net.JoinHostPort("localhost", port)},
		token: token, start: begin, files: built(), room: service.New(), turns: httplimit.NewTurns(turns, turns),
	}
}

func (p *page) url() string { return "http://" + p.hosts[0] + "/" + p.token + "/" }

// headers keep what a CRD or an object says from becoming more than text. The editor's
// marks are images in data: addresses.
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
		http.Error(w, "want the address that celadon playground printed", http.StatusMisdirectedRequest)
		return
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host || r.Method == http.MethodPost && origin == "" {
		http.Error(w, "not from another page", http.StatusForbidden)
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
		http.Error(w, "want GET, or POST of a question", http.StatusMethodNotAllowed)
	case name == "start.json":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(p.start) // who asked is gone
	default:
		p.file(w, r, name)
	}
}

// native says in the page who answers it.
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
		http.Error(w, "the question did not come whole", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), p.patience(body))
	defer cancel()
	if !p.turns.Take(ctx, 1) {
		http.Error(w, "too many questions at once", http.StatusServiceUnavailable)
		return
	}
	defer p.turns.End(1)
	reply := p.room.Answer(ctx, body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(reply) // who asked is gone
}

// patience is how long a question may take.
func (p *page) patience(body []byte) time.Duration {
	var q struct{ Do string }
	if json.Unmarshal(body, &q) == nil && q.Do == "find" {
		return maxWork
	}
	return quick
}
