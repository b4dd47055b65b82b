package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/watch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/admission"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/vet"
)

type crdFolder struct {
	stdin  io.Reader
	paths  []string
	server *server
	reading
	// reviewer, if not nil, detects CRDs that an API server would reject. If enforce is set, such a CRD is never used.
	reviewer *crdReviewer
	enforce  bool
}

type reading struct {
	grace  time.Duration // how long the files must have been unchanged before something that they lack is removed
	digest []byte
	since  time.Time // of the first reading with the digest
}

// left records the digest of a reading, and returns how long the files must stay unchanged, or 0 or less.
func (r *reading) left(digest []byte) time.Duration {
	now := time.Now()
	if !bytes.Equal(digest, r.digest) {
		r.digest, r.since = digest, now
	}
	return r.grace - now.Sub(r.since)
}

// load applies the CRDs at the paths as one change. It removes a CRD that is gone only if everything was read, some
// CRD is left, and the content has been the same for at least grace. Otherwise a file that is being written, and may
// be truncated at the end of a document, or a folder that is about to be filled again, would disable checks. If
// everything was read, missing holds the CRDs that are kept until then.
func (f *crdFolder) load() (problems []error, missing []string) {
	before := f.digest
	found, digest, problems := f.read()
	left := f.left(digest)
	inForce := f.server.set.Names()
	put, rejected := f.choose(found, inForce)
	problems = append(problems, rejected...)
	if len(problems) == 0 {
		missing = slices.DeleteFunc(slices.Clone(inForce), func(name string) bool {
			return slices.ContainsFunc(found, func(crd readCRD) bool { return crd.Name == name })
		})
	}
	var gone []string
	if left <= 0 {
		gone, missing = missing, nil
	}
	crds := make([]*apiextensionsv1.CustomResourceDefinition, len(put))
	for i := range put {
		crds[i] = put[i].ForEngine()
	}
	var failed *admission.UpdateErrors
	if err := f.server.set.Apply(crds, gone); errors.As(err, &failed) {
		problems = append(problems, explainUpdate(put, failed)...)
	}
	f.server.metrics.crdProblems.Set(float64(len(problems)))
	if !bytes.Equal(before, f.digest) {
		// Reading and compiling temporarily takes several times the memory that is kept.
		debug.FreeOSMemory()
	}
	return problems, missing
}

// choose omits CRDs that an API server would reject. With enforce, it omits all of them, because their rules may
// not work as intended. Otherwise, it omits them only if a CRD with that name is in force.
func (f *crdFolder) choose(found []readCRD, inForce []string) (put []readCRD, problems []error) {
	rejected := 0
	for _, crd := range found {
		if crd.rejected == nil {
			put = append(put, crd)
			continue
		}
		rejected++
		why := fmt.Errorf("%s: %s: an API server would reject it: %w", crd.location, crd.Name, crd.rejected)
		switch {
		case f.enforce || slices.Contains(inForce, crd.Name):
			problems = append(problems, why)
		default:
			f.server.log.Warn("CRD in force that an API server would reject", "crd", crd.Name, "error", brief(why.Error()))
			put = append(put, crd)
		}
	}
	f.server.metrics.crdsRejected.Set(float64(rejected))
	return put, problems
}

// reload returns the time after which it must be called again, or 0.
func (f *crdFolder) reload() (again time.Duration) {
	read, before := f.digest, f.server.set.Names()
	problems, missing := f.load()
	if len(missing) > 0 {
		again = f.grace - time.Since(f.since)
	}
	after := f.server.set.Names()
	if bytes.Equal(read, f.digest) && slices.Equal(before, after) {
		return again
	}
	for _, problem := range problems {
		f.server.log.Error("CRD not changed", "error", problem)
	}
	f.server.metrics.compileErrors.Add(float64(len(problems)))
	f.server.metrics.reloads.Inc()
	f.server.log.Info("CRDs reloaded", "crds", len(after), "added", without(after, before), "removed", without(before, after), "missing", missing, "problems", len(problems))
	return again
}

func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

type readCRD struct {
	*resource.Compact
	location string
	rejected error
}

func (f *crdFolder) read() (found []readCRD, digest []byte, problems []error) {
	hash := sha256.New()
	f.reviewer.begin()
	f.each(func(doc *input.Document) {
		data, err := doc.JSON()
		fmt.Fprintf(hash, "%s %d %v %v %d\n%s", doc.File, doc.Line, err, doc.Duplicate, len(data), data)
		if resource.FoundPatch(doc, f.paths) {
			return
		}
		crd, err := resource.DecodeCompact(doc)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", doc.Location(), err))
		}
		if crd == nil {
			return
		}
		found = append(found, readCRD{crd, doc.Location(), f.reviewer.rejects(doc, data)})
	})
	if len(found) == 0 && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("no CustomResourceDefinition in %s", strings.Join(f.paths, ", ")))
	}
	return found, hash.Sum(nil), problems
}

func (f *crdFolder) each(yield func(*input.Document)) {
	input.Scan(f.stdin, f.paths, func() {}, func(c input.Chunk) bool {
		if watch.MountInternal(c.File) {
			return true
		}
		found := false
		c.Each(func(doc *input.Document) bool {
			found = true
			yield(doc)
			return true
		})
		if info, err := os.Stat(c.File); !found && err == nil && info.Size() == 0 {
			yield(&input.Document{File: c.File, Err: errors.New("is empty: is it being written?")})
		}
		return true
	})
}

func explainUpdate(crds []readCRD, failed *admission.UpdateErrors) []error {
	var problems []error
	for _, update := range failed.Errors {
		var rules *engine.CompileErrors
		switch {
		case errors.Is(update, catalog.ErrTwice):
			problems = append(problems, fmt.Errorf("%s: %s is %w", crds[update.Index].location, update.Name, catalog.ErrTwice))
		case errors.As(update, &rules):
			for _, rule := range rules.Errors {
				problems = append(problems, errors.New(resource.BrokenRule(crds[update.Index].Name, rule)))
			}
		default:
			problems = append(problems, update)
		}
	}
	return problems
}

// A crdReviewer caches the results of the last reading. A nil *crdReviewer accepts every CRD.
type crdReviewer struct {
	kubeVersion string
	known, last map[[32]byte]error
}

func (j *crdReviewer) begin() {
	if j != nil {
		j.last, j.known = j.known, map[[32]byte]error{}
	}
}

// data is the CRD's complete JSON.
func (j *crdReviewer) rejects(doc *input.Document, data []byte) error {
	if j == nil {
		return nil
	}
	if doc.Duplicate != nil {
		return j.vet(doc, data) // data does not show duplicate keys, so its digest may equal a valid CRD's digest
	}
	digest := sha256.Sum256(data)
	why, known := j.last[digest]
	if !known {
		why = j.vet(doc, data)
	}
	j.known[digest] = why
	return why
}

func (j *crdReviewer) vet(doc *input.Document, data []byte) error {
	verdict, err := vet.Vet(context.Background(), data, vet.Config{
		KubeVersion: j.kubeVersion, Stored: resource.Stored(doc.Object), DuplicateKeys: doc.Duplicate, VerdictOnly: true, Beta: true,
	})
	switch {
	case err != nil:
		return err
	case verdict.Status != nil:
		return errors.New(brief(verdict.Status.Message))
	case verdict.Undecided != nil:
		return verdict.Undecided
	}
	return nil
}

type policyFolder struct {
	paths       []string
	kubeVersion string
	server      *server
	reading
	// inForce is the number of bindings in force, and loaded the digest of the policies.
	inForce int
	loaded  []byte
}

func (o *Options) servePolicies(ctx context.Context, s *server) error {
	if len(o.Policies) == 0 {
		return nil
	}
	f := &policyFolder{paths: o.Policies, kubeVersion: o.KubeVersion, server: s, reading: reading{grace: o.Grace}}
	load := func() error {
		_, err := f.load(ctx)
		return notServed("policies", err)
	}
	return s.watch(ctx, f.paths, load, func() time.Duration { return f.reload(ctx) })
}

// load changes nothing unless all policies are valid. If there are fewer bindings, it waits until the content has
// been the same for at least grace, as for CRDs, and returns the time that is left.
func (f *policyFolder) load(ctx context.Context) (again time.Duration, err error) {
	p, err := policies.Read(ctx, nil, f.paths, input.Selection{}, policy.Config{KubeVersion: f.kubeVersion})
	if err != nil {
		return 0, err
	}
	digest := sha256.New()
	p.Hash(digest)
	left := f.left(digest.Sum(nil))
	if len(p.Problems) > 0 {
		return 0, errors.Join(p.Problems...)
	}
	bindings := 0
	var mutating []string
	for _, info := range p.Set.Policies() {
		bindings += len(info.Bindings)
		if info.Kind == "MutatingAdmissionPolicy" && len(info.Bindings) > 0 {
			mutating = append(mutating, info.Name)
		}
	}
	if bytes.Equal(f.digest, f.loaded) {
		return 0, nil
	}
	if bindings < f.inForce && left > 0 {
		return left, nil
	}
	for _, unbound := range p.Unbound {
		f.server.log.Warn("policy without effect", "error", unbound.Error())
	}
	if len(mutating) > 0 {
		f.server.log.Warn("mutating policies are not evaluated: a webhook receives the object after the cluster's own", "policies", mutating)
	}
	f.inForce, f.loaded = bindings, f.digest
	f.server.set.SetPolicies(p.Set)
	f.server.log.Info("policies loaded", "policies", len(p.Set.Policies()), "bindings", bindings)
	return 0, nil
}

// reload returns the time after which it must be called again, or 0.
func (f *policyFolder) reload(ctx context.Context) time.Duration {
	again, err := f.load(ctx)
	if err != nil {
		f.server.log.Error("policies not changed", "error", err)
	}
	return again
}
