package policyvet

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/celenv"
)

const (
	policyKind    = "ValidatingAdmissionPolicy"
	mutatingKind  = "MutatingAdmissionPolicy"
	bindingSuffix = "Binding"
	apiGroup      = "admissionregistration.k8s.io"
)

func isPolicy(document map[string]any) bool {
	return document["kind"] == policyKind || document["kind"] == mutatingKind
}

func policyKindOf(kind string) string {
	if of, ok := strings.CutSuffix(kind, bindingSuffix); ok && (of == policyKind || of == mutatingKind) {
		return of
	}
	return ""
}

var webhookKinds = []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}

// IsVetted reports whether Vet analyzes a document: a policy, a binding, or a webhook configuration
// with matchConditions.
func IsVetted(document map[string]any) bool {
	apiVersion, _ := document["apiVersion"].(string)
	kind, _ := document["kind"].(string)
	if group, _, _ := strings.Cut(apiVersion, "/"); group != apiGroup {
		return false
	}
	return isPolicy(document) || policyKindOf(kind) != "" || slices.Contains(webhookKinds, kind) && hasConditions(document)
}

func hasConditions(document map[string]any) bool {
	webhooks, _ := document["webhooks"].([]any)
	return slices.ContainsFunc(webhooks, func(w any) bool {
		webhook, _ := w.(map[string]any)
		return webhook["matchConditions"] != nil
	})
}

// The fields of documents that lints read. Compiling has decoded the documents strictly before.
type policyDocument struct {
	Spec struct {
		ParamKind *struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		} `json:"paramKind"`
		MatchConstraints matchResources `json:"matchConstraints"`
		FailurePolicy    string         `json:"failurePolicy"`
		Validations      []struct {
			Message string `json:"message"`
		} `json:"validations"`
	} `json:"spec"`
}

type bindingDocument struct {
	Spec struct {
		PolicyName     string          `json:"policyName"`
		MatchResources *matchResources `json:"matchResources"`
	} `json:"spec"`
}

type webhookConfiguration struct {
	Webhooks []struct {
		matchResources
		Name          string `json:"name"`
		Rules         []rule `json:"rules"`
		FailurePolicy string `json:"failurePolicy"`
	} `json:"webhooks"`
}

type matchResources struct {
	NamespaceSelector    *metav1.LabelSelector `json:"namespaceSelector"`
	ObjectSelector       *metav1.LabelSelector `json:"objectSelector"`
	ResourceRules        []rule                `json:"resourceRules"`
	ExcludeResourceRules []rule                `json:"excludeResourceRules"`
}

type rule struct {
	ResourceNames []string `json:"resourceNames"`
	Operations    []string `json:"operations"`
	APIGroups     []string `json:"apiGroups"`
	APIVersions   []string `json:"apiVersions"`
	Resources     []string `json:"resources"`
}

func decode(document map[string]any, out any) error {
	data, err := json.Marshal(document)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, out)
}

type expression struct {
	policy.Expression
	tree   ast.Expr // nil if it cannot be parsed
	parsed *cel.Ast // of tree
	// uses holds the variables that it selects, and the name "" if it reads variables as a whole.
	uses map[string]bool
}

type subject struct {
	document   map[string]any
	kind, name string
	// prefix is the path of its fields, such as "spec." or "webhooks[0].". rulesPath is the path of
	// the object that has selectors, and rulesField the field with its resource rules.
	prefix, rulesPath, rulesField string
	match                         matchResources
	ignore                        bool // failurePolicy: Ignore
	expressions                   []*expression
	variables                     map[string]*expression
	messages                      []message
	params                        schema.GroupVersionKind // none for the zero value
	// reads holds the fields that expressions read. paths maps each field selection to the paths that it may
	// select.
	reads []read
	paths map[node][]string
	// tests is set for the selections that test a field.
	tests map[node]bool
	// whole is set if all expressions can be parsed.
	whole bool
}

type message struct{ path, text string }

func (s *subject) parse(env *cel.Env, list []policy.Expression) *subject {
	s.variables, s.whole = map[string]*expression{}, true
	for _, given := range list {
		x := &expression{Expression: given}
		if parsed, err := celenv.Parse(env, x.Source); err == nil {
			x.parsed, x.tree = parsed, parsed.NativeRep().Expr()
			x.uses = usedVariables(x.tree)
		} else {
			s.whole = false
		}
		s.expressions = append(s.expressions, x)
		if x.Part == policy.PartVariable {
			s.variables[x.Name] = x
		}
	}
	s.read()
	return s
}

// subjectsOf returns nil if the document cannot be decoded, which compiling reports.
func subjectsOf(env *cel.Env, document map[string]any) (list []*subject) {
	all := policy.Expressions(document)
	var d policyDocument
	var configuration webhookConfiguration
	switch {
	case isPolicy(document) && decode(document, &d) == nil:
		s := &subject{
			kind: fmt.Sprint(document["kind"]), name: nameOf(document), prefix: "spec.", rulesPath: "spec.matchConstraints", rulesField: "resourceRules",
			match: d.Spec.MatchConstraints, ignore: d.Spec.FailurePolicy == "Ignore",
		}
		if k := d.Spec.ParamKind; k != nil {
			s.params = schema.FromAPIVersionAndKind(k.APIVersion, k.Kind)
		}
		for i, v := range d.Spec.Validations {
			if v.Message != "" {
				s.messages = append(s.messages, message{fmt.Sprintf("spec.validations[%d].message", i), v.Message})
			}
		}
		return []*subject{s.parse(env, all)}
	case slices.Contains(webhookKinds, fmt.Sprint(document["kind"])) && decode(document, &configuration) == nil:
		for i, w := range configuration.Webhooks {
			path, n := fmt.Sprintf("webhooks[%d]", i), 0
			for n < len(all) && strings.HasPrefix(all[n].Path, path+".") {
				n++
			}
			if n > 0 {
				w.matchResources.ResourceRules = w.Rules
				s := &subject{name: w.Name, prefix: path + ".", rulesPath: path, rulesField: "rules", match: w.matchResources, ignore: w.FailurePolicy == "Ignore"}
				list = append(list, s.parse(env, all[:n]))
			}
			all = all[n:]
		}
	}
	return list
}

func nameOf(document map[string]any) string {
	meta, _ := document["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	return name
}

// Needs returns a function that reports whether Vet may use the schema of a custom resource to analyze the
// documents, so that the schemas of other CRDs need not be decoded.
func Needs(documents []map[string]any) func(plural, kind string) bool {
	names := map[string]bool{}
	add := func(rules []rule) {
		for _, r := range rules {
			for _, item := range r.Resources {
				resource, _ := split(item)
				names[resource] = true
			}
		}
	}
	kinds := map[string]bool{}
	for _, doc := range documents {
		var d policyDocument
		var webhooks webhookConfiguration
		switch {
		case isPolicy(doc) && decode(doc, &d) == nil:
			add(d.Spec.MatchConstraints.ResourceRules)
			if k := d.Spec.ParamKind; k != nil {
				kinds[k.Kind] = true
			}
		case !isPolicy(doc) && decode(doc, &webhooks) == nil:
			for _, w := range webhooks.Webhooks {
				add(w.Rules)
			}
		}
	}
	return func(plural, kind string) bool { return names[plural] || kinds[kind] }
}
