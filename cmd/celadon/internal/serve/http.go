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
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
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
	maxScrapes   = 4
	// idleTimeout is longer than the API server keeps idle connections.
	idleTimeout = 2 * time.Minute
	// stopTimeout is the time for requests that are open when draining ends.
	stopTimeout = maxTimeout + 5*time.Second
)

type decide func(context.Context, *admissionv1.AdmissionRequest) (*admission.Decision, error)

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

func (s *server) observed(path string, next http.Handler) http.Handler {
	duration := s.metrics.duration.MustCurryWith(prometheus.Labels{"path": path})
	return promhttp.InstrumentHandlerDuration(duration, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				s.panicked(path, p)
				http.Error(w, internalError, http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	}))
}

const internalError = "internal error"

// panicked logs a panic. It must be called by the deferred function that recovered it.
func (s *server) panicked(path string, p any) {
	s.metrics.panics.Inc()
	s.log.Error("panic, please report it", "path", path, "panic", brief(fmt.Sprint(p)), "stack", brief(string(debug.Stack())))
}

const maxLog = 8 << 10

func brief(text string) string { return preview.Bytes(text, maxLog) }

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

// metrics holds the metrics of /metrics. Label values come only from CRDs and constants, never from
// a request, so clients cannot create more of them.
type metrics struct {
	registry          *prometheus.Registry
	requests          *prometheus.CounterVec
	duration          *prometheus.HistogramVec
	cost              *prometheus.HistogramVec
	ruleRejections    *prometheus.CounterVec
	inFlight          prometheus.Gauge
	panics            prometheus.Counter
	compileErrors     prometheus.Counter
	crdProblems       prometheus.Gauge
	crdsRejected      prometheus.Gauge
	reloads           prometheus.Counter
	certificateExpiry prometheus.Gauge
}

const otherKind = "other"

func newMetrics(set *admission.Set) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "celadon_admission_requests_total", Help: "Admission requests answered.",
		}, []string{"path", "kind", "verdict"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "celadon_http_request_duration_seconds", Help: "Time to answer an HTTP request, including the transfer of its body.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"path", "code"}),
		cost: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "celadon_cel_cost_units", Help: "CEL cost units spent on an object.",
			Buckets: prometheus.ExponentialBuckets(10, 10, 7),
		}, []string{"kind"}),
		ruleRejections: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "celadon_rule_refusals_total", Help: "Objects that a rule rejected, in any mode.",
		}, []string{"crd", "version", "path", "index"}),
		inFlight:          gauge("celadon_requests_in_flight", "Admission requests being decided."),
		panics:            counter("celadon_panics_total", "Internal errors: panics, and requests that could not be decided."),
		compileErrors:     counter("celadon_crd_compile_errors_total", "CRDs and rules that could not be read or compiled."),
		crdProblems:       gauge("celadon_crd_problems", "CRDs and rules of the last reload that are not in force."),
		crdsRejected:      gauge("celadon_crds_refused", "CRDs of the last reload that an API server would reject, in force or not."),
		reloads:           counter("celadon_crd_reloads_total", "Number of CRD reloads."),
		certificateExpiry: gauge("celadon_certificate_expiry_timestamp_seconds", "When the serving certificate expires."),
	}
	crds := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "celadon_crds", Help: "CRDs in force."},
		func() float64 { return float64(len(set.Names())) })
	m.registry.MustRegister(m.requests, m.duration, m.cost, m.ruleRejections, m.inFlight, m.panics, m.compileErrors,
		m.crdProblems, m.crdsRejected, m.reloads, m.certificateExpiry, crds,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func (m *metrics) decided(path string, d *admission.Decision) {
	kind := otherKind
	if d.CRD != "" {
		kind = d.Kind.GroupKind().String()
	}
	m.requests.WithLabelValues(path, kind, string(d.Verdict)).Inc()
	if d.Result == nil {
		return
	}
	m.cost.WithLabelValues(kind).Observe(float64(d.Result.Cost))
	for _, rule := range d.RejectedBy() {
		m.ruleRejections.WithLabelValues(d.CRD, rule.Version, rule.Path, strconv.Itoa(rule.Index)).Inc()
	}
}
