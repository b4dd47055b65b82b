package policy

import (
	"context"
	"fmt"
	"strings"
)

// In a webhookConfiguration, fields that matching does not use have the type any.
type webhookConfiguration struct {
	Webhooks []struct {
		Name                    string           `json:"name"`
		ClientConfig            any              `json:"clientConfig"`
		Rules                   []resourceRule   `json:"rules"`
		FailurePolicy           *string          `json:"failurePolicy"`
		SideEffects             any              `json:"sideEffects"`
		TimeoutSeconds          any              `json:"timeoutSeconds"`
		AdmissionReviewVersions any              `json:"admissionReviewVersions"`
		ReinvocationPolicy      any              `json:"reinvocationPolicy"`
		MatchConditions         []matchCondition `json:"matchConditions"`
		matchResources
	} `json:"webhooks"`
}

type compiledWebhook struct {
	compiledPolicy
	configuration string
}

// A WebhookMatch describes whether the server calls a webhook for a request.
type WebhookMatch struct {
	// Kind and Configuration identify the webhook configuration; Webhook is the name of the webhook.
	Kind, Configuration, Webhook string
	// Called is set if the server calls the webhook.
	Called bool
	// Unmatched is the field that does not match the request: rules, namespaceSelector, or objectSelector. The fields
	// below it are then empty.
	Unmatched string
	// Condition is the name of the first matchCondition that is false, or, if Failure is set, that fails.
	Condition string
	// Failure is the error of matchConditions. Unless failurePolicy is Ignore, the server then denies
	// the request.
	Failure string
	Denied  bool
	// Cost is the cost of matchConditions in CEL cost units.
	Cost int64
	// Undecided is the reason why the result is not known, or "".
	Undecided string

	deciding *failing // with Condition
}

// Deciding returns the arguments with which Set.Explain explains the matchCondition that is false or fails. ok is false
// if there is none.
func (m *WebhookMatch) Deciding() (req Request, of *Evaluation, ok bool) {
	if m.deciding == nil {
		return Request{}, nil, false
	}
	return m.deciding.request, &m.deciding.evaluation, true
}

func (l *loader) loadWebhooks(doc map[string]any) error {
	var d webhookConfiguration
	if err := decode(doc, &d); err != nil {
		l.report(pathOf(err), err.Error())
		return nil
	}
	for i := range d.Webhooks {
		w := &d.Webhooks[i]
		path := fmt.Sprintf("webhooks[%d]", i)
		before := len(l.errs)
		w.matchResources.ResourceRules = w.Rules
		checkOneOf(w.FailurePolicy, path+".failurePolicy", false, l.report, "Fail", "Ignore")
		checkConditions(w.MatchConditions, path+".", l.report)
		c := newConstraints(&w.matchResources, path, l.report)
		if len(l.errs) > before {
			continue
		}
		var b body
		b.addConditions(path+".", w.MatchConditions)
		hook := &compiledWebhook{compiledPolicy{kind: l.kind, name: w.Name, constraints: c, ignore: isIgnore(w.FailurePolicy)}, l.name}
		if err := hook.use(l.set.settings, b, l.reportExpression); err != nil {
			return err
		}
		l.set.webhooks = append(l.set.webhooks, hook)
	}
	return nil
}

// Webhooks returns the number of valid webhooks in the set.
func (s *Set) Webhooks() int { return len(s.webhooks) }

// Kinds of webhook configurations.
const (
	MutatingWebhooks   = "MutatingWebhookConfiguration"
	ValidatingWebhooks = "ValidatingWebhookConfiguration"
)

// MatchWebhooks evaluates the webhook configurations of a kind in the order of their names, and returns their webhooks.
// A webhook that denies the request or is undecided is the last one: the server then calls no other mutating webhook,
// and no validating webhook at all. The result is empty for requests for which the server calls no webhooks, such as
// those for policies. Its errors are as in Evaluate.
func (s *Set) MatchWebhooks(ctx context.Context, req Request, kind string) (list []WebhookMatch, err error) {
	at := ""
	defer recovered(&at, &list, &err)
	if err := req.check(); err != nil {
		return nil, err
	}
	if isVirtual(&req) && s.settings.version.Minor >= webhooksSkipVirtual || isPolicy(&req) || isWebhook(&req) {
		return nil, nil
	}
	of := &situation{ctx: ctx, set: s, req: &req, workLeft: maxWork}
	for _, w := range s.webhooks {
		if at = w.name; w.kind != kind {
			continue
		}
		match, err := w.match(of)
		if err != nil {
			return nil, err
		}
		if list = append(list, match); match.Denied || match.Undecided != "" {
			for i := range list {
				list[i].Called = list[i].Called && kind == MutatingWebhooks
			}
			break
		}
	}
	return list, nil
}

// webhooksSkipVirtual is the first minor whose servers do not call webhooks for the resources that are not stored.
const webhooksSkipVirtual = 37

func isWebhook(req *Request) bool {
	return req.Kind.Group == registration && strings.HasSuffix(req.Kind.Kind, "WebhookConfiguration")
}

// A webhook without rules matches nothing.
func (w *compiledWebhook) match(s *situation) (m WebhookMatch, err error) {
	m = WebhookMatch{Kind: w.kind, Configuration: w.configuration, Webhook: w.name}
	if len(w.constraints.rules) == 0 {
		m.Unmatched = "rules"
		return m, nil
	}
	to, ok, matchErr := w.constraints.matches(s)
	if !ok && matchErr == nil {
		m.Unmatched = w.constraints.unmatched(s)
		return m, nil
	}
	if matchErr != nil {
		m.Undecided = matchErr.Error()
		return m, nil
	}
	objects := s.to(to)
	if objects.err != nil {
		m.Undecided = "the object cannot be converted: " + objects.err.Error()
		return m, nil
	}
	if s.workLeft < evaluationWork {
		m.Undecided = errWork.reason
		return m, nil
	}
	s.workLeft -= evaluationWork
	r := w.runs.Get().(*run)
	defer w.runs.Put(r)
	defer r.finish()
	s.begin(r, objects, nil)
	name, failure, excluded, cost := r.conditions(s, objects)
	undecided, err := s.end(r, w.name)
	if m.Cost, m.Undecided = cost, undecided; err != nil || undecided != "" {
		return m, err
	}
	m.Called, m.Condition, m.Failure = !excluded && failure == "", name, failure
	m.Denied = failure != "" && !w.ignore
	if name != "" {
		e := Evaluation{Policy: w.name, of: &w.compiledPolicy, to: to, Decisions: []Decision{{Condition: name}}}
		m.deciding = &failing{*s.req, e, -1}
	}
	return m, nil
}
