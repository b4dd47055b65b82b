package vet

import (
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	genericvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/internal/metadata"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

// admission validates a CRD as the API server does. The server's own function gets the schemas without rules, apart
// from schemas with unit.whole, and the errors of rules are added.
type admission struct {
	ctx      context.Context
	cfg      Config
	crd, old *apiextensions.CustomResourceDefinition // old is nil on create
	version  types.Version
	limits   cost.Limits
	units    []*unit
	dropped  []Need
	// undecided is set if a rule on a default needs too much work, or if a rule was not compiled and there are other
	// errors.
	undecided *engine.WorkLimitError
	// complex is the reason why a rule was not compiled. Without other errors, run returns it.
	complex      *celenv.ComplexError
	compiler     *compiler
	reestimators []*reestimator
	// Expressions and versions of the old CRD, which are exempt from some checks.
	oldRules, oldMessages map[string]bool
	unchanged             map[string]bool

	errs  field.ErrorList
	refs  map[*field.Error]*rule
	kinds map[*field.Error]engine.CauseKind
}

func newAdmission(ctx context.Context, crd, old *apiextensions.CustomResourceDefinition, v types.Version, cfg Config) *admission {
	a := &admission{
		ctx: ctx, cfg: cfg, crd: crd, old: old, version: v, limits: cfg.Limits.WithDefaults(),
		units:    units(&crd.Spec),
		compiler: newCompiler(v),
		refs:     map[*field.Error]*rule{},
		kinds:    map[*field.Error]engine.CauseKind{},
	}
	for _, u := range a.units {
		u.adapt(v)
	}
	if old != nil {
		a.oldRules, a.oldMessages = expressions(&old.Spec, storedMessages.Include(v.Minor))
		a.unchanged = unchangedVersions(crd, old)
	}
	return a
}

// Validating some CRDs makes the API server panic.
var errPanics = errors.New("This request caused apiserver to panic. Look in the logs for details.") //lint:ignore ST1005 the server's text

type panicsAt struct{ engine.Cause }

func (e *panicsAt) Error() string { return errPanics.Error() }
func (e *panicsAt) Unwrap() error { return errPanics }

func (a *admission) panics(r *rule, part, why string) error {
	err := field.InternalError(r.path.Child(part), errors.New(why))
	a.refs[err] = r
	return &panicsAt{a.cause(err, why)}
}

// run collects errors of the CRD in a.errs. It returns an error that wraps errPanics if the server would panic.
func (a *admission) run() error {
	errs, err := a.ownErrors()
	if err == nil && a.leaveUnreadable(errs) {
		errs, err = a.ownErrors()
	}
	if err != nil {
		return err
	}
	var added field.ErrorList
	for _, u := range a.units {
		if u.tree == nil || u.whole {
			continue
		}
		found, err := a.unit(u, errs)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			errs = withoutBuild(errs, u)
		}
		added = append(added, found...)
	}
	a.errs = append(a.restore(errs), added...)
	a.rewordDefaults()
	for _, err := range a.errs {
		reword(err, a.version.Minor)
	}
	return a.incomplete()
}

// If there are errors, the CRD is rejected anyway, and a.undecided records the reason.
func (a *admission) incomplete() error {
	switch {
	case a.complex == nil:
		return nil
	case len(a.errs) == 0:
		return tooComplex(a.complex)
	case a.undecided == nil:
		a.undecided = tooComplex(a.complex)
	}
	return nil
}

func tooComplex(why *celenv.ComplexError) *engine.WorkLimitError {
	return &engine.WorkLimitError{Part: "schema", Reason: why.Error()}
}

// leaveUnreadable leaves the rules in schemas that cannot be converted to structural schemas, so that the server's
// function reports the same errors as with rules.
func (a *admission) leaveUnreadable(errs field.ErrorList) bool {
	found := false
	for _, u := range a.units {
		if u.tree == nil || u.whole {
			continue
		}
		if own := u.ofSchema(errs); len(own) > 0 {
			if convertible, _, _ := u.structure(a.ctx, own); !convertible {
				u.whole, u.stripped, found = true, u.full, true
			}
		}
	}
	return found
}

func (a *admission) withoutRules() (errs field.ErrorList, err error) {
	defer func() {
		if recover() != nil {
			errs, err = nil, errPanics
		}
	}()
	errs = a.metadataErrors()
	crd := *a.crd
	crd.Spec.Versions = slices.Clone(crd.Spec.Versions)
	for _, u := range a.units {
		if u.stripped != u.root {
			u.setSchema(&crd.Spec, u.stripped)
		}
	}
	if !checkedBundles.Include(a.version.Minor) {
		withoutBundle(&crd)
	}
	var found field.ErrorList
	if a.old == nil {
		found = validation.ValidateCustomResourceDefinition(a.ctx, &crd)
	} else {
		errs = append(errs, a.keepStructural(&crd)...)
		found = validation.ValidateCustomResourceDefinitionUpdate(a.ctx, &crd, a.oldGiven())
	}
	return append(errs, slices.DeleteFunc(found, ofMetadata)...), nil
}

// keepStructural keeps a CRD with preserveUnknownFields subject to the structural check, which the server applies if
// the schema has any extension. Rules may have been the only extension. The mark that replaces them makes a type
// optional, so keepStructural returns the errors for missing types.
func (a *admission) keepStructural(crd *apiextensions.CustomResourceDefinition) (errs field.ErrorList) {
	if p := crd.Spec.PreserveUnknownFields; p == nil || !*p {
		return nil
	}
	for _, u := range a.units {
		if u.tree == nil || u.whole || u.stripped.XPreserveUnknownFields != nil {
			continue
		}
		marked, yes := *u.stripped, true
		marked.XPreserveUnknownFields = &yes
		u.setSchema(&crd.Spec, &marked)
		if marked.Type == "" && !marked.XIntOrString && !marked.XEmbeddedResource {
			errs = append(errs, field.Required(u.schemaPath().Child("type"), "must not be empty at the root"))
		}
	}
	return errs
}

// The server reports that no validator can be built from a schema only for schemas without other errors.
func withoutBuild(errs field.ErrorList, u *unit) field.ErrorList {
	path := u.path.String()
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		return err.Field == path && strings.HasPrefix(err.Detail, "error building validator: ")
	})
}

const identicalDetail = "per-version schemas may not all be set to identical values (top-level validation should be used instead)"

// restore replaces the values of errors that show schemas without rules, and drops errors that occur only without
// rules.
func (a *admission) restore(errs field.ErrorList) field.ErrorList {
	kept := errs[:0]
	for _, err := range errs {
		switch err.BadValue.(type) {
		case []apiextensions.CustomResourceDefinitionVersion:
			err.BadValue = a.crd.Spec.Versions
			if err.Detail == identicalDetail && !identicalSchemas(a.crd.Spec.Versions) {
				continue // the versions differ in rules only
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

func identicalSchemas(versions []apiextensions.CustomResourceDefinitionVersion) bool {
	return !slices.ContainsFunc(versions, func(v apiextensions.CustomResourceDefinitionVersion) bool {
		return v.Schema == nil || !apiequality.Semantic.DeepEqual(v.Schema, versions[0].Schema)
	})
}

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

// Without own, messages holds the rules that have a messageExpression.
func expressions(spec *apiextensions.CustomResourceDefinitionSpec, own bool) (rules, messages map[string]bool) {
	rules, messages = map[string]bool{}, map[string]bool{}
	validation.HasSchemaWith(spec, func(root *apiextensions.JSONSchemaProps) bool {
		return validation.SchemaHas(root, func(s *apiextensions.JSONSchemaProps) bool {
			for i := range s.XValidations {
				rule, message := s.XValidations[i].Rule, s.XValidations[i].MessageExpression
				rules[rule] = true
				switch {
				case message == "":
				case own:
					messages[message] = true
				default:
					messages[rule] = true
				}
			}
			return false
		})
	})
	return rules, messages
}

// The server validates the metadata of any updated object as if the object were new and as a change, before the CRD's
// own function validates the change again, so most causes occur three times. On create, the server does this only for
// a CRD without other errors, and then finds nothing that the CRD's function does not.
func (a *admission) metadataErrors() field.ErrorList {
	path, check := field.NewPath("metadata"), metadata.For(a.version.Minor)
	meta := &a.crd.ObjectMeta
	if a.old == nil {
		return check.Distinct(check.Create(meta, false, a.nameReasons, path))
	}
	old := &a.old.ObjectMeta
	errs := append(check.Create(meta, false, metadata.PathSegment, path), check.Update(meta, old, path)...)
	return append(errs, check.Distinct(check.Update(meta, old, path))...)
}

func (a *admission) nameReasons(name string, beginning bool) []string {
	reasons := genericvalidation.NameIsDNSSubdomain(name, beginning)
	if name != a.crd.Spec.Names.Plural+"."+a.crd.Spec.Group {
		reasons = append(reasons, `must be spec.names.plural+"."+spec.group`)
	}
	return reasons
}

// ofMetadata is false for the annotation that approves a protected group.
func ofMetadata(err *field.Error) bool {
	return strings.HasPrefix(err.Field, "metadata.") && !strings.HasPrefix(err.Field, "metadata.annotations[")
}
