package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	strictjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/internal/text/spell"
)

// How it works: documents are decoded into structs with the fields of the API, strictly, so that an
// unknown field is an error and not ignored. The API types of k8s.io/api are not used, because their
// fields depend on the linked release.

const registration = "admissionregistration.k8s.io"

const crdGroup = "apiextensions.k8s.io"

// maxDocument limits the size of a decoded document in bytes, like the API server's limit on requests.
const maxDocument = 3 << 20

type policyDocument struct {
	Spec struct {
		policyBase
		Validations      []validation      `json:"validations"`
		AuditAnnotations []auditAnnotation `json:"auditAnnotations"`
	} `json:"spec"`
}

func (d *policyDocument) base() *policyBase { return &d.Spec.policyBase }

type policyBase struct {
	ParamKind        *paramKind       `json:"paramKind"`
	MatchConstraints *matchResources  `json:"matchConstraints"`
	FailurePolicy    *string          `json:"failurePolicy"`
	MatchConditions  []matchCondition `json:"matchConditions"`
	Variables        []matchCondition `json:"variables"`
}

type paramKind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

func (k *paramKind) String() string { return k.APIVersion + " " + k.Kind }

func (k *paramKind) gvk() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(k.APIVersion, k.Kind)
}

type matchResources struct {
	NamespaceSelector    *metav1.LabelSelector `json:"namespaceSelector"`
	ObjectSelector       *metav1.LabelSelector `json:"objectSelector"`
	ResourceRules        []resourceRule        `json:"resourceRules"`
	ExcludeResourceRules []resourceRule        `json:"excludeResourceRules"`
	MatchPolicy          *string               `json:"matchPolicy"`
}

type resourceRule struct {
	ResourceNames []string `json:"resourceNames"`
	Operations    []string `json:"operations"`
	APIGroups     []string `json:"apiGroups"`
	APIVersions   []string `json:"apiVersions"`
	Resources     []string `json:"resources"`
	Scope         *string  `json:"scope"`
}

type validation struct {
	Expression        string  `json:"expression"`
	Message           string  `json:"message"`
	Reason            *string `json:"reason"`
	MessageExpression string  `json:"messageExpression"`
}

type auditAnnotation struct {
	Key             string `json:"key"`
	ValueExpression string `json:"valueExpression"`
}

// A matchCondition is also used for variables, which have the same fields.
type matchCondition struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
}

type bindingDocument struct {
	Spec struct {
		bindingBase
		ValidationActions []Action `json:"validationActions"`
	} `json:"spec"`
}

type bindingBase struct {
	PolicyName     string          `json:"policyName"`
	ParamRef       *paramRef       `json:"paramRef"`
	MatchResources *matchResources `json:"matchResources"`
}

type paramRef struct {
	Name                    string                `json:"name"`
	Namespace               string                `json:"namespace"`
	Selector                *metav1.LabelSelector `json:"selector"`
	ParameterNotFoundAction *string               `json:"parameterNotFoundAction"`
}

type header struct {
	schema.GroupVersionKind
	apiVersion string
	paramsObject
}

func headerOf(doc map[string]any) (h header, err error) {
	h.apiVersion, h.Kind, h.object = textOf(doc, "apiVersion"), textOf(doc, "kind"), doc
	if h.apiVersion == "" || h.Kind == "" {
		return h, errors.New("apiVersion and kind must be set")
	}
	var grouped bool
	if h.Group, h.Version, grouped = strings.Cut(h.apiVersion, "/"); !grouped {
		h.Group, h.Version = "", h.apiVersion
	}
	meta, _ := doc["metadata"].(map[string]any)
	h.name, h.namespace = textOf(meta, "name"), textOf(meta, "namespace")
	h.labels, err = labelsOf(meta)
	return h, err
}

func (h *header) paramKind() paramKind { return paramKind{h.apiVersion, h.Kind} }

func labelsOf(meta map[string]any) (map[string]string, error) {
	given, ok := meta["labels"].(map[string]any)
	if !ok {
		if meta["labels"] != nil {
			return nil, fmt.Errorf("metadata.labels: got %T, want an object", meta["labels"])
		}
		return nil, nil
	}
	labels := make(map[string]string, len(given))
	for k, v := range given {
		text, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("metadata.labels: %q: got %T, want a string", k, v)
		}
		labels[k] = text
	}
	return labels, nil
}

// decode decodes a document without apiVersion, kind, metadata, and status. Unknown fields are errors.
func decode(doc map[string]any, out any) error {
	part := maps.Clone(doc)
	for _, field := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(part, field)
	}
	data, err := json.Marshal(part)
	if err != nil {
		return err
	}
	if len(data) > maxDocument {
		return fmt.Errorf("the document has %d bytes: the API server accepts at most %d", len(data), maxDocument)
	}
	strict, err := strictjson.UnmarshalStrict(data, out)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if len(strict) > 0 {
		names := map[string]bool{}
		fieldNames(reflect.TypeOf(out), names)
		path := pathOf(strict[0])
		near := spell.DidYouMean(path[strings.LastIndex(path, ".")+1:], slices.Sorted(maps.Keys(names)))
		return fmt.Errorf("%w: remove it or correct its name%s", errors.Join(strict...), near)
	}
	return nil
}

func pathOf(err error) string {
	var at strictjson.FieldError
	if !errors.As(err, &at) {
		return ""
	}
	return at.FieldPath()
}

func fieldNames(t reflect.Type, names map[string]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names[name] = true
		}
		fieldNames(f.Type, names)
	}
}
