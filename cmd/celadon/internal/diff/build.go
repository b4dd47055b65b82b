package diff

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/analysis/compare"
	"github.com/celadon-cel/celadon/x/secret"
)

type internalError struct{ error }

func (e *internalError) Unwrap() error { return e.error }

func (d *differ) compared(ctx context.Context, p *pair) (*CRD, error) {
	o := d.options
	crd := &CRD{Name: p.name, Changes: []*Change{}}
	if p.before != nil {
		crd.OldFile, crd.OldLine = p.before.doc.File, p.before.doc.Line
	}
	if p.after != nil {
		crd.NewFile, crd.NewLine = p.after.doc.File, p.after.doc.Line
	}
	switch {
	case p.after == nil:
		crd.Changes = append(crd.Changes, &Change{Subject: "CRD", Old: p.name, Effect: compare.Breaking, By: compare.ByProof, Proof: "its clients get 404", OldLine: crd.OldLine})
		return crd, nil
	case p.before == nil:
		crd.Changes = append(crd.Changes, &Change{Subject: "CRD", New: p.name, Effect: compare.Loosening, By: compare.ByProof, Proof: "it is new, so nothing uses it", NewLine: crd.NewLine})
		return crd, nil
	}
	var err error
	if crd.Update, err = p.update(ctx, o); err != nil {
		return nil, err
	}
	if crd.KubeVersions, err = p.upgrade(ctx, o); err != nil {
		return nil, err
	}
	cfg := compare.Config{Steps: o.Steps, Seed: o.Seed, KubeVersion: o.KubeVersion, ToKubeVersion: o.ToKubeVersion, Earlier: d.work}
	r, err := compare.CRDs(ctx, p.before.crd.ForEngine(), p.after.crd.ForEngine(), cfg)
	if err != nil {
		return nil, err
	}
	d.work += r.Work
	oldFields, newFields := make([]string, len(r.Changes)), make([]string, len(r.Changes))
	for i := range r.Changes {
		oldFields[i], newFields[i] = vet.Place(r.Changes[i].OldField), vet.Place(r.Changes[i].NewField)
	}
	olds, news := p.before.doc.Locate(oldFields), p.after.doc.Locate(newFields)
	for i := range r.Changes {
		change := p.change(&r.Changes[i])
		if r.Changes[i].Limited {
			crd.limited++
		}
		if change.NewLine = news[i].Line; o.ToKubeVersion == "" {
			change.OldLine = olds[i].Line
		}
		crd.Changes = append(crd.Changes, change)
	}
	return crd, nil
}

// update returns the API server's verdict on the update of the CRD, or nil if two Kubernetes versions are compared.
func (p *pair) update(ctx context.Context, o *Options) (*finding.CRD, error) {
	if o.ToKubeVersion != "" {
		return nil, nil
	}
	old, err := resource.Decode(p.before.doc)
	if err != nil {
		return nil, err
	}
	verdict := (&verdict.CRDReviewer{KubeVersion: o.KubeVersion, Old: old}).Review(ctx, p.after.doc)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if verdict != nil && verdict.Bug != nil {
		return nil, &internalError{verdict.Bug}
	}
	if verdict != nil && len(verdict.Kept) > 0 {
		p.kept = finding.Kept(p.after.doc.Location(), verdict.Kept)
	}
	return verdict, nil
}

func (p *pair) change(c *compare.CRDChange) *Change {
	return &Change{
		Version: c.Version, OldVersion: differs(c.OldVersion, c.Version), Also: c.Also, Path: c.Path, Subject: c.Subject, Old: c.Old, New: c.New,
		Effect: c.Effect, Clusters: c.Clusters, By: c.By, Proof: c.Proof, Reason: c.Reason, Searched: c.Searched,
		Rejected: p.witness(c.Rejected), Admitted: p.witness(c.Admitted), Kept: p.witness(c.Kept),
	}
}

func differs(old, new string) string {
	if old == new {
		return ""
	}
	return old
}

// witness returns a copy of w without passwords. It returns nil if w is nil.
func (p *pair) witness(w *compare.Witness) *Witness {
	if w == nil {
		return nil
	}
	out := &Witness{Operation: string(w.Operation), Create: w.Create, ChangedUpdate: w.ChangedUpdate, UnchangedUpdate: w.UnchangedUpdate}
	secrets := p.hide(w, out)
	for _, c := range w.Causes {
		message := c.Message
		for _, text := range secrets {
			message = strings.ReplaceAll(message, strconv.Quote(text), strconv.Quote(secret.Hidden))
		}
		if subject, _, ok := strings.Cut(message, ":"); ok && slices.Contains(out.Hidden, c.Field) {
			message = subject + ": " + secret.Hidden // the message may contain other values
		}
		out.Causes = append(out.Causes, finding.Cause{Reason: string(c.Reason), Field: c.Field, Message: message, Kind: c.Kind})
	}
	for _, c := range w.Kept {
		change := finding.Change{Field: engine.FormatPath(c.Path)}
		if !c.Added {
			change.Before = finding.Preview(c.Before, secrets)
		}
		if !c.Removed {
			change.After = finding.Preview(c.After, secrets)
		}
		out.Kept = append(out.Kept, change)
	}
	for _, other := range w.AlsoBreaks {
		out.AlsoBreaks = append(out.AlsoBreaks, OtherChange(other))
	}
	return out
}

// hide copies the objects to out without their passwords, and returns the passwords.
func (p *pair) hide(w *compare.Witness, out *Witness) (secrets secret.Texts) {
	out.Object, out.Old = runtime.DeepCopyJSON(w.Object), runtime.DeepCopyJSON(w.Old)
	for _, d := range []*definition{p.before, p.after} {
		object, old := secret.Of(d.crd.ForEngine(), w.Object), secret.Of(d.crd.ForEngine(), w.Old)
		object.Hide(out.Object)
		old.Hide(out.Old)
		secrets = append(append(secrets, object.Texts...), old.Texts...)
		for _, path := range object.PathStrings() {
			if !slices.Contains(out.Hidden, path) {
				out.Hidden = append(out.Hidden, path)
			}
		}
	}
	return secrets
}
