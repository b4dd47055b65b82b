package requests

import (
	"context"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// How it works: a policy with conditions denies an object only for some users or namespaces, or with some names,
// labels, or annotations, and two policies often differ in such a condition. No search for an object finds these
// requests, so an object that both policies deny, or that a validation rejects, is tried in all the situations that
// the policies name.

const (
	maxTransfers  = 3   // objects that are tried in all situations, for a question
	maxSituations = 300 // for an object
)

// transfers yields variants of a request, in which a string of the vocabulary is the user, the namespace, the name,
// and so on. It returns false if yield does.
func (q *question) transfers(ctx context.Context, req *policy.Request, yield func(*policy.Request) bool) bool {
	words := q.vocabulary()
	for _, word := range words.texts {
		if slices.Contains(fillers, word) {
			continue
		}
		user, member, moved := *req, *req, *req
		user.User = policyrequest.User(word, nil)
		member.User.Groups = append(slices.Clone(req.User.Groups), word)
		all := []*policy.Request{&user, &member}
		if move(&moved, word) {
			all = append(all, &moved)
		}
		for _, key := range words.extra {
			next := *req
			next.User = withExtra(req.User, key, word)
			all = append(all, &next)
		}
		for _, next := range all {
			if !yield(next) {
				return false
			}
		}
	}
	of := req.Object
	if of == nil {
		of = req.OldObject
	}
	left := maxSituations
	for meta := range words.situations(object(of, "metadata")) {
		if left--; left < 0 || q.work.Empty() {
			break
		}
		as := func(next *policy.Request) bool {
			next.User = req.User
			return yield(next)
		}
		if !q.try(ctx, req.Operation, with(of, "metadata", meta), with(req.OldObject, "metadata", meta), as) {
			return false
		}
	}
	return true
}

func (v *vocabulary) situations(meta map[string]any) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		for _, name := range v.texts {
			if !slices.Contains(fillers, name) && len(validation.IsDNS1123Subdomain(name)) == 0 && !yield(with(meta, "name", name)) {
				return
			}
		}
		for _, value := range v.texts {
			for _, key := range v.keys {
				if slices.Contains(v.labelValues, value) && !yield(with(meta, "labels", with(object(meta, "labels"), key, value))) ||
					!yield(with(meta, "annotations", with(object(meta, "annotations"), key, value))) {
					return
				}
			}
		}
	}
}

// FindAgainst searches for a request that a validation denies and that the policies of another Finder for
// the same version accept. It returns an error if f does not have the validation, if ctx is done, or on an
// internal error.
func (f *Finder) FindAgainst(ctx context.Context, v Validation, other *Finder) (*Answer, error) {
	d, err := f.document(v)
	if err != nil {
		return nil, err
	}
	return f.answer(ctx, &question{Finder: f, document: d, index: v.Index, want: Denied, other: other})
}

// differs reports whether the validation denies a request that the other policies accept. It sets
// q.deniedByBoth.
func (q *question) differs(ctx context.Context, req *policy.Request) (bool, error) {
	q.deniedByBoth = false
	res, err := q.evaluate(ctx, q.Finder, req)
	if err != nil {
		return false, err
	}
	if q.note(req, res.Undecided, q.document.name); res.Allowed {
		return false, nil
	}
	if _, actions, _ := q.decision(res); !slices.Contains(actions, policy.ActionDeny) {
		return false, nil
	}
	if res, err = q.evaluate(ctx, q.other, req); err == nil && res.Allowed {
		q.note(req, res.Undecided, "")
	}
	q.deniedByBoth = err == nil && !res.Allowed
	return err == nil && res.Allowed && len(res.Undecided) == 0, err
}

// butAccepted returns a rule that is false if the given rule is false and the other policies accept the
// request. It ignores validations that cannot be translated.
func (q *question) butAccepted(rule string, operation policy.Operation) string {
	var accepts []string
	for _, d := range q.other.policies {
		t := newTranslator(d, operation, q.request(operation, nil, nil))
		for _, validation := range d.validations {
			if other, ok := t.translate(validation, 0); ok && (!t.usesOld || operation == policy.OperationUpdate) {
				accepts = append(accepts, "("+other+")")
			}
		}
	}
	if len(accepts) == 0 {
		return rule
	}
	return "(" + rule + ") || !(" + strings.Join(accepts, " && ") + ")"
}
