package fakeclient

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// A reporter observes the calls of another fake client, and logs the writes and seeds that a server
// would reject.
type reporter struct {
	*server
	seeds    sync.Once // checks the seeds before the first call
	rejected atomic.Int64
}

func newReporter(s *server) *reporter {
	r := &reporter{server: s}
	s.undecided = func(format string, args ...any) { r.t.Logf("%s", untrusted.Sprintf(format, args...)) }
	s.t.Cleanup(func() {
		if n := r.rejected.Load(); n > 0 {
			s.t.Logf("fakeclient: an API server would reject %d writes and seeds of this test (Config.ReportOnly is set)", n)
		}
	})
	return r
}

// An observed write is a request with the stored object before and after it.
type observed struct {
	verb string
	kind *kind
	at   endpoint
	key  struct{ namespace, name string }
	// sent is the object that was sent, or nil for a patch.
	sent map[string]any
	// value is the object as the test has it.
	value any
	// before and after are the stored object. They are nil if there is none.
	before, after map[string]any
}

// report logs the write if a server would reject it.
func (r *reporter) report(o observed) {
	obj := o.sent
	if obj == nil {
		obj = o.after
	}
	c, err := r.path(o.kind, o.at, o.key.namespace, o.key.name, o.verb)
	if obj == nil || err != nil {
		r.log(o, err)
		return
	}
	if u := (&unstructured.Unstructured{Object: obj}); u.GetName() == "" {
		u.SetName(o.key.name) // from generateName
	}
	c.options(r.server, "", "", nil)
	res, err := r.decide(c, engine.Request{Object: obj, OldObject: o.before, FieldValidation: c.fieldValidation})
	if err == nil {
		err = rejection(res)
	}
	if !apierrors.IsTimeout(err) && !apierrors.IsInternalError(err) { // decide has reported these
		r.log(o, err)
	}
}

// seed logs a seed that a server would reject.
func (r *reporter) seed(k *kind, version string, value runtime.Object) {
	given, err := sent(value, k.group.WithVersion(version))
	if err != nil || r.config.InvalidSeeds {
		return
	}
	u := &unstructured.Unstructured{Object: given}
	o := observed{verb: "seed", kind: k, at: endpoint{version: version}, value: value}
	o.key.namespace, o.key.name = u.GetNamespace(), u.GetName()
	c, err := r.path(k, o.at, o.key.namespace, o.key.name, "seed")
	if err == nil {
		_, err = r.seeded(c.options(r.server, "", "", nil), given)
	}
	r.log(o, err)
}

// eachSeed checks the objects of all kinds that list finds. List may fail.
func (r *reporter) eachSeed(list func(k *kind, version string) (runtime.Object, error)) {
	r.seeds.Do(func() {
		for _, crd := range r.crds.Definitions() {
			k := newKind(crd)
			for i := range crd.Spec.Versions {
				version := crd.Spec.Versions[i].Name
				all, err := list(k, version)
				if err != nil || !k.serves(endpoint{version: version}) {
					continue
				}
				_ = meta.EachListItem(all, func(obj runtime.Object) error { // the function does not fail
					r.seed(r.kind(k.group), version, obj)
					return nil
				})
			}
		}
	})
}

// log logs a write that a server would reject with err.
func (r *reporter) log(o observed, err error) {
	if err == nil {
		return
	}
	r.rejected.Add(1)
	what := o.verb
	if o.at.subresource != "" {
		what = o.at.subresource + " " + what
	}
	var b strings.Builder
	untrusted.Fprintf(&b, "fakeclient: an API server would reject the %s of %s %q: %v", what, o.kind.group.Kind, o.key.name, err)
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes {
			if zero := zeroField(o.value, cause.Field); zero != "" {
				untrusted.Fprintf(&b, "\n  %s: %s", cause.Field, zero)
			}
		}
	}
	r.t.Logf("%s", b.String())
}

// observe performs a write of a kind with a CRD and reports it. get returns the stored object, or nil.
func (r *reporter) observe(ctx context.Context, o observed, get func() map[string]any, do func() (name string, err error)) error {
	o.before = get()
	name, err := do()
	if err != nil || ctx.Err() != nil {
		return err
	}
	if o.key.name == "" {
		o.key.name = name
	}
	if o.sent == nil {
		o.after = get()
	}
	r.report(o)
	return nil
}
