package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/semaphore"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/celadon-cel/celadon/engine/admission"
)

const (
	maxHeaderBytes = 16 << 10
	headerTimeout  = 5 * time.Second
	// readTimeout is for header and body. Who reads the body of a review says
	// how long that may take; other bodies are thrown away.
	readTimeout = 10 * time.Second
	// writeTimeout is for the longest request and a slow reader.
	writeTimeout = maxTimeout + 15*time.Second
	// idleTimeout is longer than the API server keeps idle connections.
	idleTimeout = 2 * time.Minute
	// stopTimeout is for requests that are open when draining ends.
	stopTimeout = maxTimeout + 5*time.Second
)

// decide is what answers a request: a Set's Validate or Mutate.
type decide func(context.Context, *admissionv1.AdmissionRequest) (*admission.Decision, error)

// server answers HTTP requests by a set of CRDs.
type server struct {
	set              *admission.Set
	validate, mutate decide
	// slots are taken by requests being read and decided, deciding by the bytes
	// of the large ones being decided: a body of tiny values takes some hundred
	// times its size.
	slots, deciding *semaphore.Weighted
	bodies          sync.Pool // of *bytes.Buffer
	draining        atomic.Bool
	log             *slog.Logger
	metrics         *serveMetrics
}

func newServer(set *admission.Set, concurrency int, log *slog.Logger) *server {
	return &server{
		set:      set,
		validate: set.Validate,
		mutate:   set.Mutate,
		slots:    semaphore.NewWeighted(int64(concurrency)),
		deciding: semaphore.NewWeighted(maxDeciding),
		log:      log,
		metrics:  newServeMetrics(set),
	}
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/validate", s.observed("validate", &admissionHandler{s, "validate", s.validate}))
	mux.Handle("/mutate", s.observed("mutate", &admissionHandler{s, "mutate", s.mutate}))
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.readyz)
	return mux
}

func (s *server) readyz(w http.ResponseWriter, _ *http.Request) {
	if s.draining.Load() {
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// observed measures a handler and turns a panic into a 500.
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

// panicked tells of a panic, from the deferred function that recovered it.
func (s *server) panicked(path string, p any) {
	s.metrics.panics.Inc()
	s.log.Error("panic, please report it", "path", path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
}

// recorder remembers the status code.
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

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// fail answers with an error unless an answer has begun.
func (r *recorder) fail(code int, text string) {
	if !r.written {
		http.Error(r, text, code)
	}
}

// run serves until the context ends, then drains: it goes on for a while, not
// ready, so that whoever sends requests learns of it, and then answers those
// that are open.
func (s *server) run(ctx context.Context, listener net.Listener, drain time.Duration) error {
	srv := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
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
		return fmt.Errorf("requests were cut off: %w", err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	s.log.Info("stopped")
	return nil
}
