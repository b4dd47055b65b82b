package fuzz

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/celadon-cel/celadon/engine"
)

// Definition returns the CRD of a scenario. The API server would reject many of them because of the
// costs of their rules, or because of rules at nodes where it forbids them.
func (w *Scenario) Definition() *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.APIVersion, crd.Kind = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
	crd.Name = "things." + w.group()
	crd.Spec.Group = w.group()
	crd.Spec.Scope = apiextensionsv1.NamespaceScoped
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: kind, ListKind: kind + "List"}
	for name, schema := range map[string]*props{version: w.props, other: w.second} {
		v := apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: true, Storage: name == w.storage()}
		v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema}
		if w.hasStatus() {
			v.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
		}
		crd.Spec.Versions = append(crd.Spec.Versions, v)
	}
	slices.SortFunc(crd.Spec.Versions, func(a, b apiextensionsv1.CustomResourceDefinitionVersion) int { return strings.Compare(a.Name, b.Name) })
	return crd
}

// alone returns the CRD with the first version only, because the strategy supports only one.
func (w *Scenario) alone() *apiextensionsv1.CustomResourceDefinition {
	crd := w.Definition()
	crd.Spec.Versions = crd.Spec.Versions[:1]
	crd.Spec.Versions[0].Storage = true
	return crd
}

func (w *Scenario) storage() string {
	if w.seed%3 == 0 {
		return other
	}
	return version
}

func (w *Scenario) hasStatus() bool { return w.seed%2 == 0 }

func (w *Scenario) group() string { return fmt.Sprintf("w%d.example.com", w.seed) }

func (w *Scenario) strategy() (rest.RESTCreateStrategy, rest.RESTUpdateStrategy, error) {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(w.props, internal, nil); err != nil {
		return nil, nil, err
	}
	validator, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		return nil, nil, err
	}
	var status *apiextensions.CustomResourceSubresourceStatus
	if w.hasStatus() {
		status = &apiextensions.CustomResourceSubresourceStatus{}
	}
	gvk := runtimeschema.GroupVersionKind{Group: w.group(), Version: version, Kind: kind}
	s := customresource.NewStrategy(crdserverscheme.NewUnstructuredObjectTyper(), true, gvk, validator, nil, w.schema, status, nil, nil)
	return s, s, nil
}

// compareWrites compares the causes for which the engine and the API server's strategies reject a
// scenario's object. Both get the object as prepared by the engine; the preparation is only compared
// with a real server. The difference is also "" if the strategies cannot check the object, or if their
// result varies and ours is consistent with it.
func compareWrites(w *Scenario) (difference string, ours *engine.Result) {
	e, err := engine.Compile(w.alone(), engine.Config{})
	if e == nil {
		return fmt.Sprintf("our engine does not compile: %v", err), nil
	}
	ours, err = e.Validate(context.Background(), engine.Request{Object: w.obj, OldObject: w.old, Trace: true})
	if err != nil {
		return fmt.Sprintf("our engine fails: %v", err), nil
	}
	want, err := w.upstreamWrite(e)
	if err != nil {
		return "", ours // nothing to compare with
	}
	got := writeOutcome(ours)
	if equalOutcome(want, got) {
		return "", ours
	}
	seen := []outcome{want}
	for i := range runs {
		again, err := w.shuffled(i).upstreamWrite(e)
		if err != nil {
			return err.Error(), ours
		}
		if seen = append(seen, again); within(seen, got) {
			return "", ours
		}
	}
	return describe(want, got), ours
}

func writeOutcome(res *engine.Result) outcome {
	var o outcome
	for _, c := range res.Causes {
		o.errs = append(o.errs, normal(fmt.Sprintf("%s %s: %s", c.Reason, c.Field, c.Message)))
	}
	return sorted(o)
}

func (w *Scenario) upstreamWrite(e *engine.Engine) (o outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("upstream panics: %v", p)
		}
	}()
	create, update, err := w.strategy()
	if err != nil {
		return o, err
	}
	ctx := warning.WithWarningRecorder(genericapirequest.WithNamespace(context.Background(), "default"), &recorder{})
	obj, err := stored(e, w.obj)
	if err != nil {
		return o, err
	}
	if w.old == nil {
		err = rest.BeforeCreate(create, ctx, obj)
	} else {
		old, oldErr := stored(e, w.old)
		if oldErr != nil {
			return o, oldErr
		}
		err = rest.BeforeUpdate(update, ctx, obj, old)
	}
	var status *apierrors.StatusError
	if errors.As(err, &status) && status.ErrStatus.Details != nil {
		for _, c := range status.ErrStatus.Details.Causes {
			o.errs = append(o.errs, normal(fmt.Sprintf("%s %s: %s", c.Type, c.Field, c.Message)))
		}
		return sorted(o), nil
	}
	return o, err
}

func stored(e *engine.Engine, obj map[string]any) (*unstructured.Unstructured, error) {
	prepared, err := e.Prepare(engine.Request{Object: obj, OldObject: obj})
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: prepared.Old} // preparing the request removed the new object's status
	u.SetUID("1")
	u.SetCreationTimestamp(metav1.Unix(1, 0))
	u.SetResourceVersion("1")
	u.SetGeneration(1)
	return u, nil
}
