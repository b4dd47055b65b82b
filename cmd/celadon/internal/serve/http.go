package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/celadon-cel/celadon/engine/admission"
	"github.com/celadon-cel/celadon/internal/text/preview"
)

const (
	// maxHeader limits the request line and header fields together. An API server sends a few hundred bytes.
	maxHeader = 8 << 10
	// headerSlack is the number of bytes that http.Server adds to its MaxHeaderBytes.
	headerSlack   = 4 << 10
	headerTimeout = 5 * time.Second
	// readTimeout includes the header. The body of a review has transferTimeout instead.
	readTimeout = 10 * time.Second
	// rejectTimeout is how long the server reads the rest of a request after it has responded.
	rejectTimeout = time.Second
	// writeTimeout covers the longest request and a slow reader.
	writeTimeout = maxTimeout + 15*time.Second
	// maxScrapes limits concurrent requests for metrics.
	maxScrapes = 4
	// idleTimeout is longer than the API server keeps idle connections.
	idleTimeout = 2 * time.Minute
	// stopTimeout is the time for requests that are open when draining ends.
	stopTimeout = maxTimeout + 5*time.Second
)

// A decide validates a request: it is a Set's Validate or Mutate.
type decide func(context.Context, *admissionv1.AdmissionRequest) (*admission.Decision, error)

// A server serves HTTP requests with a set of CRDs.
type server struct {
	set              *admission.Set
	validate, mutate decide
	concurrency      int
	limits           limits
	clients          *clientCA // nil if every client is authorized
	draining         atomic.Bool
	log              *slog.Logger
	metrics          *metrics
}

func newServer(set *admission.Set, concurrency int, log *slog.Logger) *server {
	return &server{
		set:         set,
		validate:    set.Validate,
		mutate:      set.Mutate,
		concurrency: concurrency,
		limits:      newLimits(concurrency),
		log:         log,
		metrics:     newMetrics(set),
	}
}

func (s *server) handler() http.Handler {
	others := http.NewServeMux()
	others.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxScrapes, DisableCompression: true,
	}))
	others.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	others.HandleFunc("GET /readyz", s.readyz)
	mux := http.NewServeMux()
	mux.Handle("/validate", s.observed("validate", &admissionHandler{s, "validate", s.validate}))
	mux.Handle("/mutate", s.observed("mutate", &admissionHandler{s, "mutate", s.mutate}))
	mux.Handle("/", rejectBody(others))
	return fewFields(mux)
}

// fewFields rejects requests with many header fields, which would be kept in memory until the body is received.
func fewFields(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header) > maxFields {
			reject(w, &httpError{http.StatusRequestHeaderFieldsTooLarge, fmt.Sprintf("more than %d header fields", maxFields), true})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// rejectBody rejects requests with a body, and limits the time for sending the response.
func rejectBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			reject(w, &httpError{http.StatusRequestEntityTooLarge, "a request body is not allowed", true})
			return
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(transferTimeout)) // a recorder in a test does not support it
		next.ServeHTTP(w, r)
	})
}

func (s *server) readyz(w http.ResponseWriter, _ *http.Request) {
	if s.draining.Load() {
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// observed measures a handler and converts a panic to a 500 response.
func (s *server) observed(path string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &recorder{ResponseWriter: w, code: http.StatusOK}
		defer func() {
			if p := recover(); p != nil {
				s.panicked(path, p)
				rec.fail(http.StatusInternalServerError, internalError)
			}
			s.metrics.answered(path, rec.code, time.Since(start))
		}()
		next.ServeHTTP(rec, r)
	})
}

const internalError = "internal error"

// panicked logs a panic. It must be called by the deferred function that recovered it.
func (s *server) panicked(path string, p any) {
	s.metrics.panics.Inc()
	s.log.Error("panic, please report it", "path", path, "panic", brief(fmt.Sprint(p)), "stack", brief(string(debug.Stack())))
}

const maxLog = 8 << 10

func brief(text string) string { return preview.Bytes(text, maxLog) }

// A recorder records the status code of a response.
type recorder struct {
	http.ResponseWriter
	code    int
	written bool
}

func (r *recorder) WriteHeader(code int) {
	if !r.written {
		r.code, r.written = code, true
	}
	r.ResponseWriter.WriteHeader(code)
}

func (r *recorder) Write(data []byte) (int, error) {
	r.written = true
	return r.ResponseWriter.Write(data)
}

// Unwrap returns the underlying writer for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// fail sends an error, unless a response has already begun.
func (r *recorder) fail(code int, text string) {
	if !r.written {
		http.Error(r, text, code)
	}
}

// run serves until ctx is done, then drains: it continues to serve for drain, but reports that it is
// not ready, so that clients send their requests elsewhere. Then it waits for open requests.
func (s *server) run(ctx context.Context, inner net.Listener, cert *certificate, drain time.Duration) error {
	listener := netutil.LimitListener(inner, connectionsEach*s.concurrency)
	if cert != nil {
		listener = cert.listener(listener)
	}
	srv := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader - headerSlack,
		ConnContext:       rememberClient,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("cannot serve: %w", err)
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.log.Info("draining", "for", drain.String(), "pid", os.Getpid())
	time.Sleep(drain)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		return fmt.Errorf("requests were aborted: %w", err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	s.log.Info("stopped")
	return nil
}
