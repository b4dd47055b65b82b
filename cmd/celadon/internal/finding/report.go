// Package finding defines the findings of all commands, and the report of celadon check. Package print writes them.
package finding

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// Verdicts of a report.
const (
	Valid      = "valid"
	Invalid    = "invalid"
	Skipped    = "skipped"
	Unreadable = "unreadable"
	// Undecided means that the verdict is not known: the object exceeds the work limit, for example, or the result depends
	// on something that is not given.
	Undecided = "undecided"
	// Ignored marks documents that are not validated, such as CRDs among the objects. Only verbose text reports and
	// partial reports list them.
	Ignored = "ignored"
	// Unselected marks objects that the user did not select. They are not reported.
	Unselected = "unselected"
	// Elsewhere marks objects that another shard validates. They are not reported.
	Elsewhere = "elsewhere"
)

// Object is the result for an object. The JSON form is a published contract.
type Object struct {
	// Source names the origin of the objects, if the run has a name for it.
	Source   string `json:"source,omitempty"`
	File     string `json:"file"`
	Document int    `json:"document"`
	Item     int    `json:"item"`
	Line     int    `json:"line"`
	Identity
	Operation   string `json:"operation,omitempty"`
	Subresource string `json:"subresource"`
	// Apply is the kind of a write that is not a plain create or replacement: client, server, or none. OldFile is
	// the file of the old object in git, if the object has moved.
	Apply    string   `json:"apply,omitempty"`
	OldFile  string   `json:"oldFile,omitempty"`
	Verdict  string   `json:"verdict"`
	Cost     int64    `json:"cost"`
	Status   *Status  `json:"status,omitempty"`
	Causes   []Cause  `json:"causes"`
	Warnings []string `json:"warnings"`
	// Policies holds the effects of validating policies, Mutations the effects of mutating policies,
	// and AuditAnnotations the annotations of the audit event.
	Policies         []PolicyDecision  `json:"policies,omitempty"`
	Mutations        []PolicyMutation  `json:"mutations,omitempty"`
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
	// UndecidedPolicies names the policies of a rejected object whose results are not known, with the reasons. The
	// server's message can be that of another one of them.
	UndecidedPolicies []string `json:"undecidedPolicies,omitempty"`
	// StructureOnly is set for an object of a built-in kind if only its structure and the policies are
	// checked, because the run has no code of the server for it.
	StructureOnly bool `json:"structureOnly,omitempty"`
	// Assumed lists the objects, such as "PriorityClass high", that an admission plugin of the server needs but that were
	// not given. The plugin did not decide.
	Assumed []string `json:"assumed,omitempty"`
	// Webhooks lists the admission webhooks that match the request.
	Webhooks []Webhook `json:"webhooks,omitempty"`
	// Encrypted is set for a skipped object that SOPS has encrypted.
	Encrypted bool `json:"encrypted,omitempty"`
	// Problem is the reason why an object is skipped, ignored, unreadable, or undecided.
	Problem string `json:"problem,omitempty"`
	// Upgrade describes the effect of another CRD on the object.
	Upgrade *Upgrade `json:"upgrade,omitempty"`
	// Known is set if a baseline contains all errors of the object, so that they do not fail the run.
	Known bool `json:"known,omitempty"`
	// Strict lists the positions of errors without causes, such as unknown and duplicate fields.
	Strict []Location `json:"strict,omitempty"`

	// Following holds the causes that the server would report once the fields of Strict or the
	// Causes are corrected, if requested.
	Following []Cause `json:"following,omitempty"`

	// RatchetedErrors holds the errors of an accepted update that the server ignores, without a warning,
	// because the update does not change the values.
	RatchetedErrors []Cause `json:"ratcheted,omitempty"`

	// Persisted is an accepted object as it would be stored, if requested. SelectableFields are the values for field
	// selectors.
	Persisted        map[string]any    `json:"persisted,omitempty"`
	SelectableFields map[string]string `json:"selectableFields,omitempty"`

	// Diff shows how the persisted object differs from the input.
	Diff []byte `json:"-"`
	// Row is the object's row in kubectl get.
	Row *Row `json:"-"`
	// Template is set if the file is a template. The whole file then counts as one object.
	Template bool `json:"-"`
	// Duplicate is set if Status is about duplicate keys in YAML. kubectl does not print such an
	// error, because it decodes YAML itself and keeps the last key.
	Duplicate bool `json:"-"`
	// Uncompiled is set if the object is rejected only because rules of its CRD do not compile.
	Uncompiled bool `json:"-"`
	// Unevaluated is set if the document could be evaluated as more than an object.
	Unevaluated Unevaluated `json:"-"`
	// Resource is the plural name of a denied object's resource, which kubectl prints.
	Resource string `json:"-"`
	// Bug is an internal error.
	Bug error `json:"-"`
	// Explained is the work of computing the values in rules.
	Explained uint64 `json:"-"`
	// Limit is the limit that an undecided object exceeds, or nil if it is undecided for another reason.
	Limit *engine.WorkLimitError `json:"-"`
	// Rules has a result for each rule that ran, if requested.
	Rules []engine.RuleResult `json:"-"`
	// Key identifies the object; it determines the shard. At is the object's index in the whole input.
	Key string `json:"-"`
	At  int64  `json:"-"`
}

// Conflicts reports whether server-side apply is rejected because others manage its fields.
func (o *Object) Conflicts() bool {
	return o.Apply == string(apply.Server) && o.Status != nil && o.Status.Reason == string(metav1.StatusReasonConflict) && len(o.Causes) > 0
}

// Identity holds the fields that identify an object.
type Identity = input.Identity

// Status is the API server's response to a rejected object.
type Status struct {
	Code    int32  `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Cause is a cause of a rejection. Reason, Field, and Message equal the API server's.
type Cause struct {
	Reason  string `json:"reason"`
	Field   string `json:"field"`
	Message string `json:"message"`
	// Kind identifies causes with a special meaning, such as the remark that rules did not run.
	Kind   engine.CauseKind `json:"kind,omitempty"`
	Rule   string           `json:"rule,omitempty"`
	File   string           `json:"file,omitempty"`
	Line   int              `json:"line,omitempty"`
	Column int              `json:"column,omitempty"`
	// Values are the values that the rule read, if requested.
	Values []Value `json:"values,omitempty"`
	// NotShown is the reason why Values is incomplete, or "".
	NotShown string `json:"valuesNotShown,omitempty"`
	// Code is the kind of mistake in the rule, as for celadon help. Summary is the mistake in a few words, Hint how to
	// fix it, and Fixed the rule without it.
	Code    string `json:"code,omitempty"`
	Summary string `json:"summary,omitempty"`
	Hint    string `json:"hint,omitempty"`
	Fixed   string `json:"fixed,omitempty"`
	// Certain is set if the author can have meant nothing but Fixed.
	Certain bool `json:"certain,omitempty"`

	Ref     *engine.RuleRef `json:"-"`
	Excerpt Excerpt         `json:"-"`
}

// NewCauses returns causes without positions.
func NewCauses(list []engine.Cause) []Cause {
	causes := make([]Cause, len(list))
	for i, c := range list {
		causes[i] = Cause{Reason: string(c.Reason), Field: c.Field, Message: c.Message, Kind: c.Kind, Ref: c.Rule}
		if c.Rule != nil {
			causes[i].Rule = c.Rule.Rule
		}
		if c.Type == field.ErrorTypeNotSupported {
			causes[i].Hint = valueHint(c.Value, c.Detail)
		}
	}
	return causes
}

var quotedStrings = lazy.New(`"(?:[^"\\]|\\.)*"`)

// valueHint suggests one of the values that detail, from the server's error, lists. It returns "" if no value is
// similar.
func valueHint(value any, detail string) string {
	text := reflect.ValueOf(value)
	if text.Kind() != reflect.String {
		return ""
	}
	var supported []string
	for _, quoted := range quotedStrings.FindAllString(detail, -1) {
		if known, err := strconv.Unquote(quoted); err == nil {
			supported = append(supported, known)
		}
	}
	if near := spell.Nearest(text.String(), supported); len(near) > 2 { // L is not similar to XL
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// Incomplete reports whether the cause is the server's remark that some rules did not run because of the other causes.
func (c *Cause) Incomplete() bool { return c.Kind == engine.CauseRulesSkipped }

// Location returns the location of the cause.
func (c *Cause) Location() Location {
	at := Location{File: c.File, Line: c.Line, Column: c.Column, Field: c.Field, Excerpt: c.Excerpt}
	if c.Rule == "" && c.Summary == "" {
		at.Hint = c.Hint
	}
	return at
}

// Value is a subexpression of a rule with its value as shortened JSON.
type Value struct {
	Expr string `json:"expr"`
	Text string `json:"value"`
}

// Location is a position in a file, with the field there.
type Location struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Field  string `json:"field"`
	// Message is the server's message for this location, the type that a value there should have, or "".
	Message string `json:"message,omitempty"`
	// Hint suggests a fix, as in "did you mean replicas?" or "remove one of them", or is "".
	Hint    string  `json:"hint,omitempty"`
	Excerpt Excerpt `json:"-"`
}

func (p Location) String() string {
	text := p.Place()
	if p.Field != "" {
		text += ": " + p.Field
	}
	return text
}

// Place returns the file, with the line and column if they are known.
func (p Location) Place() string {
	text := p.File
	for _, n := range []int{p.Line, p.Column} {
		if n > 0 {
			text += ":" + strconv.Itoa(n)
		}
	}
	return text
}

// errorTypes are the types of errors that a warning about an unchanged value can have.
var errorTypes = []field.ErrorType{
	field.ErrorTypeInvalid, field.ErrorTypeRequired, field.ErrorTypeForbidden, field.ErrorTypeNotSupported, field.ErrorTypeDuplicate,
	field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid, field.ErrorTypeNotFound, field.ErrorTypeInternal,
}

// Ratcheted reports whether a warning about the object is an error that the update did not introduce. In an update, the
// server words only these warnings as errors of a field.
func (o *Object) Ratcheted(warning string) bool {
	if o.Operation != "update" {
		return false
	}
	path, message, ok := strings.Cut(warning, ": ")
	return ok && !strings.HasPrefix(path, "Validation failed for ") && slices.ContainsFunc(errorTypes, func(t field.ErrorType) bool {
		return message == t.String() || strings.HasPrefix(message, t.String()+": ")
	})
}

// AlreadySo explains a ratcheted warning.
const AlreadySo = "the old object already has this value, so the server accepts it until it changes"

// NothingChanged explains ratcheted errors about which the server does not warn.
const NothingChanged = "nothing changed here, so the server accepts it without a warning"

// Table holds the common properties of the rows of a kind and version.
type Table struct {
	Kind       schema.GroupVersionKind
	Namespaced bool
	// Columns are the names of the columns after NAMESPACE and NAME.
	Columns []string
}

// Row is an object as a row of kubectl get.
type Row struct {
	*Table
	Namespace, Name string
	// Cells has one cell per column; nil is an empty cell.
	Cells []any
}

// PolicyDecision is an effect of an admission policy on an object.
type PolicyDecision = policyrequest.Decision

// Deny is the action of a decision that denies the request.
const Deny = "Deny"

// Denied reports whether a policy denies the request.
func (o *Object) Denied() bool {
	return o.Verdict == Invalid && slices.ContainsFunc(o.Policies, func(d PolicyDecision) bool { return d.Action == Deny })
}

// PolicyMutation is a run of a mutating policy on an object. The JSON form is a published contract.
type PolicyMutation struct {
	Policy  string `json:"policy"`
	Binding string `json:"binding"`
	Params  string `json:"params,omitempty"`
	// Changed is set if the policy changed the object.
	Changed bool `json:"changed"`
	// Excluded is set if matchConditions exclude the object.
	Excluded bool `json:"excluded,omitempty"`
	// Reinvoked is set if the policy ran again.
	Reinvoked bool  `json:"reinvoked,omitempty"`
	Cost      int64 `json:"cost"`
	// Errors holds the errors of the policy and of its mutations. Explanation explains the first.
	Errors []string `json:"errors,omitempty"`
	policyrequest.Explanation
}

// NewPolicyMutation returns the report about an evaluation. why explains its first error.
func NewPolicyMutation(e *policy.MutationEvaluation, why policyrequest.Explanation) PolicyMutation {
	m := PolicyMutation{
		Policy: e.Policy, Binding: e.Binding, Params: e.Params, Changed: e.Changed, Excluded: e.Excluded, Reinvoked: e.Reinvoked,
		Cost: e.Cost + e.MatchCost, Explanation: why,
	}
	if e.Failure != "" {
		m.Errors = append(m.Errors, e.Failure)
	}
	for _, one := range e.Mutations {
		if one.Failure != "" {
			m.Errors = append(m.Errors, one.Failure)
		}
	}
	return m
}

// A Webhook is an admission webhook whose rules match a request. Celadon never calls it.
type Webhook struct {
	Kind          string `json:"kind"`
	Configuration string `json:"configuration"`
	Webhook       string `json:"webhook"`
	// Called is set if a server calls it.
	Called bool `json:"called"`
	// Unmatched is the selector that does not select the request: namespaceSelector or objectSelector.
	Unmatched string `json:"unmatched,omitempty"`
	// Condition is the name of the first matchCondition that is false, or with Error, that fails. Error is the
	// error of matchConditions. In both cases, a server does not call the webhook.
	Condition string `json:"condition,omitempty"`
	Error     string `json:"error,omitempty"`
	// Undecided is why it is not known whether the webhook is called.
	Undecided string `json:"undecided,omitempty"`
	// The explanation is that of the Condition, or else only the position of the webhook.
	policyrequest.Explanation
}
