package vet

import (
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validate/content"
	genericvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
)

// admission is one CRD on its way through the API server. The server's own
// function looks at everything but rules: it is given the schemas without
// them, and what it would have said of them is added.
type admission struct {
	ctx      context.Context
	cfg      Config
	crd, old *apiextensions.CustomResourceDefinition // old is nil on create
	// rest is the CRD without what is plain, where the server's function finds
	// nothing in it; else nil.
	rest    *apiextensions.CustomResourceDefinition
	version types.Version
	limits  cost.Limits
	units   []*unit
	dropped []Need
	// undecided: a rule on a default asks for too much work.
	undecided *engine.WorkLimitError
	compiler  *compiler
	// what a CRD that was there before is excused
	oldRules, oldMessages map[string]bool
	unchanged             map[string]bool

	errs field.ErrorList
	refs map[*field.Error]*rule
}

func newAdmission(ctx context.Context, crd, old *apiextensions.CustomResourceDefinition, v types.Version, cfg Config) *admission {
	a := &admission{
		ctx: ctx, cfg: cfg, crd: crd, old: old, version: v, limits: cfg.Limits.WithDefaults(),
		units:    units(&crd.Spec),
		compiler: newCompiler(v),
		refs:     map[*field.Error]*rule{},
	}
	if old != nil {
		a.oldRules, a.oldMessages = expressions(&old.Spec)
		a.unchanged = unchangedVersions(crd, old)
	}
	return a
}

// errPanics is for a CRD whose validation makes the API server itself panic.
var errPanics = errors.New("This request caused apiserver to panic. Look in the logs for details.") //lint:ignore ST1005 the server's text

// panicsAt is an errPanics of which the place is known.
type panicsAt struct{ engine.Cause }

func (e *panicsAt) Error() string { return errPanics.Error() }
func (e *panicsAt) Unwrap() error { return errPanics }

// panics is the error of a part of a rule over which the server panics.
func (a *admission) panics(r *rule, part, why string) error {
	err := field.InternalError(r.path.Child(part), errors.New(why))
	a.refs[err] = r
	return &panicsAt{a.cause(err, why)}
}

// run collects all errors, those of rules included.
func (a *admission) run() (err error) {
	defer func() {
		p := recover()
		if known, ok := p.(error); ok && errors.Is(known, errPanics) {
			err = known
		} else if p != nil {
			panic(p)
		}
	}()
	errs, err := a.withoutRules()
	if err == nil && a.leaveUnreadable(errs) {
		errs, err = a.withoutRules()
	}
	if err != nil {
		return err
	}
	var added field.ErrorList
	for _, u := range a.units {
		if u.tree == nil || u.whole {
			continue
		}
		found, err := a.unit(u, u.own(errs))
		if err != nil {
			return err
		}
		if len(found) > 0 {
			errs = withoutBuild(errs, u)
		}
		added = append(added, found...)
	}
	a.errs = append(a.restore(errs), added...)
	return nil
}

// leaveUnreadable gives the server's function the rules of schemas that cannot
// be read as structural: it then says what it says with rules in them.
func (a *admission) leaveUnreadable(errs field.ErrorList) bool {
	found := false
	for _, u := range a.units {
		if u.tree == nil || u.whole {
			continue
		}
		if own := u.ofSchema(u.own(errs)); len(own) > 0 {
			if convertible, _, _ := u.structure(a.ctx, own); !convertible {
				u.whole, found = true, true
			}
		}
	}
	return found
}

// withoutRules asks the server's function.
func (a *admission) withoutRules() (errs field.ErrorList, err error) {
	defer func() {
		if recover() != nil {
			errs, err = nil, errPanics
		}
	}()
	if a.rest != nil {
		return nil, nil
	}
	crd := *a.crd
	crd.Spec.Versions = slices.Clone(crd.Spec.Versions)
	for _, u := range a.units {
		if u.tree != nil && !u.whole {
			u.place(&crd.Spec, u.stripped)
		}
	}
	if a.old == nil {
		return validation.ValidateCustomResourceDefinition(a.ctx, &crd), nil
	}
	a.keepStructural(&crd)
	errs = updatedMetadata(&crd.ObjectMeta, &a.old.ObjectMeta)
	return append(errs, validation.ValidateCustomResourceDefinitionUpdate(a.ctx, &crd, a.old)...), nil
}

// updatedMetadata returns the errors that the server finds in the metadata of any updated
// object. It validates an update as a new object and as a change, before the CRD's own function
// validates the change again, so most causes occur three times. On create, the server does this
// only for a CRD without other errors, and then finds nothing that the CRD's function does not.
func updatedMetadata(now, old *metav1.ObjectMeta) field.ErrorList {
	path := field.NewPath("metadata")
	errs := genericvalidation.ValidateObjectMetaAccessor(now, false, pathSegment, path)
	return append(errs, genericvalidation.ValidateObjectMetaAccessorUpdate(now, old, path)...)
}

// pathSegment returns why a name, or the beginning of a name, cannot be in a URL.
func pathSegment(name string, beginning bool) []string {
	if beginning {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// keepStructural marks a schema whose rules were its only extension: with any,
// even a CRD that preserves unknown fields must be structural.
func (a *admission) keepStructural(crd *apiextensions.CustomResourceDefinition) {
	if p := crd.Spec.PreserveUnknownFields; p == nil || !*p {
		return
	}
	for _, u := range a.units {
		if u.tree != nil && !u.whole && u.stripped.XPreserveUnknownFields == nil {
			marked, yes := *u.stripped, true
			marked.XPreserveUnknownFields = &yes
			u.place(&crd.Spec, &marked)
		}
	}
}

// withoutBuild drops the complaint about a schema that no validator can be
// built from, which the server makes only of schemas without other errors.
func withoutBuild(errs field.ErrorList, u *unit) field.ErrorList {
	path := u.path.String()
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		return err.Field == path && strings.HasPrefix(err.Detail, "error building validator: ")
	})
}

const identicalDetail = "per-version schemas may not all be set to identical values (top-level validation should be used instead)"

// restore undoes what the missing rules did to the texts of errors.
func (a *admission) restore(errs field.ErrorList) field.ErrorList {
	kept := errs[:0]
	for _, err := range errs {
		switch err.BadValue.(type) {
		case []apiextensions.CustomResourceDefinitionVersion:
			err.BadValue = a.crd.Spec.Versions
			if err.Detail == identicalDetail && !a.identicalSchemas() {
				continue // identical but for their rules
			}
		case apiextensions.JSONSchemaProps:
			for _, u := range a.units {
				if err.Field == u.schemaPath().String() {
					err.BadValue = *u.root
				}
			}
		}
		kept = append(kept, err)
	}
	return kept
}

func (a *admission) identicalSchemas() bool {
	versions := a.crd.Spec.Versions
	for i := range versions {
		if versions[i].Schema == nil || !apiequality.Semantic.DeepEqual(versions[i].Schema, versions[0].Schema) {
			return false
		}
	}
	return true
}

// unchangedVersions have the schema that they had before.
func unchangedVersions(crd, old *apiextensions.CustomResourceDefinition) map[string]bool {
	unchanged := map[string]bool{}
	for _, v := range crd.Spec.Versions {
		now, err := apiextensions.GetSchemaForVersion(crd, v.Name)
		if err != nil {
			continue
		}
		before, err := apiextensions.GetSchemaForVersion(old, v.Name)
		if err == nil && apiequality.Semantic.DeepEqual(now, before) {
			unchanged[v.Name] = true
		}
	}
	return unchanged
}

// expressions are the texts of all rules and messageExpressions of a CRD.
func expressions(spec *apiextensions.CustomResourceDefinitionSpec) (rules, messages map[string]bool) {
	rules, messages = map[string]bool{}, map[string]bool{}
	validation.HasSchemaWith(spec, func(root *apiextensions.JSONSchemaProps) bool {
		return validation.SchemaHas(root, func(s *apiextensions.JSONSchemaProps) bool {
			for i := range s.XValidations {
				rules[s.XValidations[i].Rule] = true
				if s.XValidations[i].MessageExpression != "" {
					messages[s.XValidations[i].MessageExpression] = true
				}
			}
			return false
		})
	})
	return rules, messages
}
