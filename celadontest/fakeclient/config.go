package fakeclient

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/celadon-cel/celadon/celadontest"
)

// Config configures a fake client. The zero value is valid.
type Config struct {
	// Scheme defines the Go types of objects. The default is a copy of client-go's scheme. The
	// builder uses it too; do not call WithScheme.
	Scheme *runtime.Scheme
	// FieldValidation applies to writes that do not set it: "Strict", "Warn", or "Ignore". The
	// default is "Strict", unlike in a server, where it is "Warn".
	FieldValidation string
	// Warnings receives the server's warnings. If nil, they are discarded.
	Warnings rest.WarningHandler
	// InvalidSeeds allows WithObjects to contain objects that the CRDs reject, for example objects
	// stored before a rule was added.
	InvalidSeeds bool
}

// NewClientBuilder calls Config.NewClientBuilder with the zero Config.
func NewClientBuilder(t testing.TB, crds *celadontest.CRDs) *fake.ClientBuilder {
	t.Helper()
	return Config{}.NewClientBuilder(t, crds)
}

// NewClientBuilder returns a builder for a client that writes kinds with a CRD like a server.
// Objects passed to WithObjects fail the test if the CRDs reject them, unless InvalidSeeds is set. Clients return
// managedFields. Do not use WithObjectTracker or WithTypeConverters with the builder. Instead of
// WithInterceptorFuncs, wrap the client with interceptor.NewClient.
func (cfg Config) NewClientBuilder(t testing.TB, crds *celadontest.CRDs) *fake.ClientBuilder {
	t.Helper()
	s := newServer(t, crds, cfg)
	return fake.NewClientBuilder().
		WithScheme(s.config.Scheme).
		WithObjectTracker(&tracker{server: s, others: otherKinds(s.config.Scheme)}).
		WithInterceptorFuncs(s.interceptors()).
		WithReturnManagedFields()
}

// React makes client-go's dynamic fake client handle kinds with a CRD like a server. Seeds are
// stored first, as in NewClientBuilder. Pass seeds of other kinds to the dynamic client's
// constructor.
func (cfg Config) React(t testing.TB, crds *celadontest.CRDs, fake *clienttesting.Fake, seeds ...runtime.Object) {
	t.Helper()
	s := newServer(t, crds, cfg)
	for _, seed := range seeds {
		noCRD := func() error {
			return fmt.Errorf("no CRD of %s (%T)", seed.GetObjectKind().GroupVersionKind().GroupKind(), seed)
		}
		if err := s.seed(seed, noCRD); err != nil {
			t.Errorf("fakeclient: %v", err)
		}
	}
	fake.PrependReactor("*", "*", s.react)
	fake.PrependWatchReactor("*", s.reactWatch)
}
