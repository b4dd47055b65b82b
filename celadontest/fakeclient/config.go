package fakeclient

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/celadon-cel/celadon/celadontest"
)

// Config is how a fake client differs from the default.
type Config struct {
	// Scheme knows the Go types of objects; nil is a copy of client-go's scheme. It is
	// also the builder's: do not call WithScheme.
	Scheme *runtime.Scheme
	// FieldValidation is that of writes that do not say it: "Strict", "Warn" or
	// "Ignore". "" is "Strict": a server would warn.
	FieldValidation string
	// Warnings is given what a server would warn of; nil ignores it.
	Warnings rest.WarningHandler
	// InvalidSeeds says that WithObjects may hold objects that the CRDs refuse, as
	// those that were stored before a rule came.
	InvalidSeeds bool
}

// NewClientBuilder is that of the zero Config.
func NewClientBuilder(t testing.TB, crds *celadontest.CRDs) *fake.ClientBuilder {
	t.Helper()
	return Config{}.NewClientBuilder(t, crds)
}

// NewClientBuilder makes a builder whose client writes kinds with a CRD as a server
// does. Objects that it is given with WithObjects fail the test where the CRDs refuse
// them. Its clients return managedFields. WithObjectTracker and WithTypeConverters
// cannot be used with it; in place of WithInterceptorFuncs wrap the client with
// interceptor.NewClient.
func (cfg Config) NewClientBuilder(t testing.TB, crds *celadontest.CRDs) *fake.ClientBuilder {
	t.Helper()
	s := cfg.server(t, crds)
	return fake.NewClientBuilder().
		WithScheme(s.config.Scheme).
		WithObjectTracker(&tracker{server: s, others: otherKinds(s.config.Scheme)}).
		WithInterceptorFuncs(s.interceptors()).
		WithReturnManagedFields()
}

// React makes client-go's dynamic fake client answer for kinds with a CRD as a server
// does. Seeds are stored first, as by NewClientBuilder; those of other kinds belong
// to the dynamic client's own constructor.
func (cfg Config) React(t testing.TB, crds *celadontest.CRDs, fake *clienttesting.Fake, seeds ...runtime.Object) {
	t.Helper()
	s := cfg.server(t, crds)
	for _, seed := range seeds {
		if err := s.seed(seed); err != nil {
			t.Errorf("fakeclient: %v", err)
		}
	}
	fake.PrependReactor("*", "*", s.react)
	fake.PrependWatchReactor("*", s.reactWatch)
}

func (cfg Config) server(t testing.TB, crds *celadontest.CRDs) *server {
	if cfg.Scheme == nil { // one of its own, since the fake client adds kinds to it
		cfg.Scheme = runtime.NewScheme()
		if err := scheme.AddToScheme(cfg.Scheme); err != nil {
			t.Fatalf("fakeclient: %v", err)
		}
	}
	return &server{t: t, crds: crds, config: cfg, types: typesOf(cfg.Scheme), store: newStore()}
}
