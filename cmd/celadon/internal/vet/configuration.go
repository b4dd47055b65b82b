package vet

import (
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// Builtins decides built-in kinds and the files of kube-apiserver, as package builtins does. The playground has none.
type Builtins interface {
	policyrequest.Server
	// IsConfiguration reports whether an object is a file of kube-apiserver with CEL, which ValidateConfiguration decides.
	IsConfiguration(object map[string]any) bool
	ValidateConfiguration(object map[string]any) (*engine.Result, error)
}

// isConfiguration reports whether Builtins validates a document as a file of kube-apiserver.
func (v *vetter) isConfiguration(doc *input.Document) bool {
	return v.builtins != nil && doc.Err == nil && v.builtins.IsConfiguration(doc.Object)
}

// runConfigurations vets the files of kube-apiserver, and prints their reports.
func (p *policyVetter) runConfigurations(sum *summary, out printer) error {
	for _, doc := range p.configurations {
		res, err := p.vetter.builtins.ValidateConfiguration(doc.Object)
		if err != nil {
			sum.bug = err
			return nil
		}
		r := &policyvet.Report{Kind: doc.Identity().Kind, Name: doc.File, Accepted: res.Allowed && doc.Duplicate == nil}
		switch {
		case doc.Duplicate != nil:
			r.Errors = []policyvet.Error{{Message: doc.Duplicate.Error()}}
		case res.Failure != nil:
			r.Errors = []policyvet.Error{{Message: res.Failure.Message}}
		}
		for _, c := range res.Causes {
			path := configurationPath(doc, c.Field)
			expression := ""
			if n := doc.Value(path); n != nil && strings.HasSuffix(path, ".expression") {
				expression = n.Value
			}
			r.Errors = append(r.Errors, policyvet.Error{Path: path, Expression: expression, Message: c.Message})
		}
		one := &vettedPolicy{vetted{doc: doc}, r}
		sum.Policies.count(one)
		if err := out.policy(one); err != nil {
			return err
		}
	}
	return nil
}

// configurationPath returns the path of a field in the document. The server's paths of matchConditions leave out the webhook.
func configurationPath(doc *input.Document, path string) string {
	if within := strings.Replace(path, "].matchConditions[", "].webhook.matchConditions[", 1); doc.Value(path) == nil && doc.Value(within) != nil {
		return within
	}
	return path
}
