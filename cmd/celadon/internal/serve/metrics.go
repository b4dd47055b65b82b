package serve

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/celadon-cel/celadon/engine/admission"
)

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

// otherKind is the label for all kinds without a CRD.
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

func (m *metrics) answered(path string, code int, took time.Duration) {
	m.duration.WithLabelValues(path, strconv.Itoa(code)).Observe(took.Seconds())
}
