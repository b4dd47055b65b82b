package ruletest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

type own struct {
	reader *reader
	item   *position.Node
	// The object and, for an update, the old object: whole, or as a merge patch of base.
	object, old      map[string]any
	patch, oldPatch  map[string]any
	patched, updated bool // patch is given; old or oldPatch is given
	base             *based
	subresource      string
	fieldValidation  string
	expect           expectation
	// convert is the version to which the object is converted and back, which must not change it.
	// convertPatch, if any, is applied in between.
	convert      string
	convertAt    Position
	convertPatch map[string]any
	admission    admission
	apply        apply.Write
}

type based struct {
	object map[string]any
	node   *position.Node
	bytes  int
}

type expectation struct {
	position Position
	valid    bool
	// follows is set if the CRD must accept the object, and the verdict follows from decisions.
	follows bool
	// causes are all causes, if valid is not set. An empty list expects any rejection.
	causes []*expectedCause
	// decisions are all expected decisions of policies, if decided is set.
	decisions   []*expectedDecision
	decided     bool
	decisionsAt Position
	// warnings are all warnings, if warned is set.
	warnings []*expectedText
	warned   bool
	object   map[string]any
	objectAt Position
	maxCost  int64
	costed   bool
	costAt   Position
}

// expectedCause is a cause. Empty fields are not compared.
type expectedCause struct {
	Position
	field   *string
	reason  string
	message *expectedText
}

// expectedText is a whole message, or, after "~", a regular expression that must match part of it.
type expectedText struct {
	text string
	re   *regexp.Regexp
}

func (r *reader) own(s *Suite, m map[string]any) {
	f := r.fields("suite", r.doc.Root, "kind", "apiVersion", "name", "crd", "version", "base", "tests", "kubeVersions", "fieldValidation", "policies")
	if apiVersion := r.text(f[1]); apiVersion != APIVersion {
		r.addProblem(r.doc.Root, "suite: apiVersion %q: want %s", apiVersion, APIVersion)
	}
	s.Name, s.CRDPath, s.Version = r.text(f[2]), r.text(f[3]), r.text(f[4])
	s.CRDPosition, s.whole = s.Position, true
	if f[3].given() {
		s.CRDPosition = r.positionOf(f[3].key)
	}
	base := &based{}
	if f[5].given() {
		object, ok := m["base"].(map[string]any)
		if !ok {
			r.addProblem(f[5].key, "base: want an object")
		}
		base.object, base.node, base.bytes = object, f[5].value.Resolve(), sizeOf(object)
		s.Kind = groupKind(object)
	}
	kubeVersions, validation := r.kubeVersions(f[7]), r.fieldValidation(f[8])
	r.policyPaths(s, f[9])
	items := r.items(f[6])
	if !f[6].given() || len(items) == 0 && len(r.problems) == 0 {
		r.addProblem(r.doc.Root, "an empty suite: it has no test")
	}
	if len(items) > maxCases || base.bytes*len(items) > maxMerged {
		r.addProblem(f[6].key, "%s", tooMany("cases", len(items), min(maxCases, maxMerged/max(base.bytes, 1))))
		return
	}
	for i, item := range items {
		path := position.Path{position.Key("tests"), position.Item(i)}
		decoded, _ := entry(m["tests"], i).(map[string]any)
		b := &own{reader: r, item: item, base: base, fieldValidation: validation}
		r.ownCase(s, b, kubeVersions, path, decoded)
	}
}

func (r *reader) ownCase(s *Suite, b *own, versions []string, path position.Path, decoded map[string]any) {
	mark := len(r.problems)
	f := r.fields("test", b.item, "name", "object", "patch", "old", "oldPatch", "subresource", "expect", "kubeVersions", "skip", "only", "fieldValidation", "convert", "convertPatch", "params", "namespace", "user", "operation",
		"apply", "fieldManager", "force")
	c := &Case{Name: r.text(f[0]), Position: r.positionOf(b.item), Operation: opCreate, Subresource: r.text(f[5]), Only: r.flag(f[9]), path: path, versions: versions, body: b}
	if c.Name == "" {
		r.addProblem(b.item, "test: name is missing")
	}
	b.subresource = c.Subresource
	if b.subresource != "" && !slices.Contains(policyrequest.Updated, b.subresource) {
		r.addProblem(f[5].key, "subresource %q: want %s", b.subresource, phrase.Or(policyrequest.Updated))
	}
	b.object, _ = r.object(f[1], decoded)
	b.patch, b.patched = r.object(f[2], decoded)
	b.old, b.updated = r.object(f[3], decoded)
	if f[4].given() {
		b.oldPatch, b.updated = r.object(f[4], decoded)
	}
	if b.updated {
		c.Operation = opUpdate
	}
	r.admission(s, b, c, f[13:17], decoded)
	r.apply(b, f[17], f[18], f[19])
	r.ownWrites(b, f)
	if f[7].given() {
		c.versions = r.kubeVersions(f[7])
	}
	if f[8].given() {
		if c.Skip = strings.TrimSpace(r.text(f[8])); c.Skip == "" {
			r.addProblem(f[8].key, "skip: want a reason")
		}
	}
	if f[10].given() {
		b.fieldValidation = r.fieldValidation(f[10])
	}
	r.conversion(b, f[11], f[12], decoded)
	if c.Skip == "" || f[6].given() {
		c.open = r.expectation(b, f[6], decoded) && len(r.problems) == mark+1
		r.checkUse(s, b, f)
	}
	r.add(s, c, mark)
	if s.Kind.Empty() && b.object != nil {
		s.Kind = groupKind(b.object)
	}
}

func (r *reader) object(f field, decoded map[string]any) (object map[string]any, given bool) {
	if !f.given() {
		return nil, false
	}
	object, ok := decoded[f.key.Value].(map[string]any)
	if !ok {
		r.addProblem(f.key, "%s: want an object", f.key.Value)
	}
	return object, true
}

func (r *reader) ownWrites(b *own, f []field) {
	object, patch, old, oldPatch := f[1], f[2], f[3], f[4]
	switch {
	case object.given() && patch.given():
		r.addProblem(patch.key, "object and patch: want only one of them")
	case old.given() && oldPatch.given():
		r.addProblem(oldPatch.key, "old and oldPatch: want only one of them")
	case b.base.object == nil && patch.given():
		r.addProblem(patch.key, "patch: it changes base, but the suite has no base")
	case b.base.object == nil && oldPatch.given():
		r.addProblem(oldPatch.key, "oldPatch: it changes base, but the suite has no base")
	case f[8].given():
	case b.base.object == nil && !object.given() && !(b.admission.operation == opDelete && old.given()):
		r.addProblem(b.item, "test: want object, or patch and a base in the suite")
	case b.subresource != "" && !b.updated && b.admission.operation != opUpdate:
		r.addProblem(f[5].key, "subresource %s: want old or oldPatch: a subresource can only be updated", b.subresource)
	}
}

func (r *reader) apply(b *own, kind, manager, force field) {
	w := &b.apply
	w.Kind, w.Manager, w.Force = apply.Kind(r.text(kind)), cmp.Or(r.text(manager), apply.Kubectl), r.flag(force)
	switch {
	case kind.given() && !slices.Contains(apply.Kinds, w.Kind):
		r.addProblem(kind.key, "apply %q: want client, server, or replace", w.Kind)
	case kind.given() && (b.subresource != "" || b.admission.operation != "" && b.admission.operation != opCreate && b.admission.operation != opUpdate):
		r.addProblem(kind.key, "apply: it creates or updates an object: remove subresource and operation")
	case w.Kind == apply.Server:
	case manager.given():
		r.addProblem(manager.key, "fieldManager: only server-side apply has one: set apply: server")
	case force.given():
		r.addProblem(force.key, "force: only server-side apply has conflicts: set apply: server")
	}
}

func (r *reader) kubeVersions(f field) []string {
	versions := r.texts(f)
	for _, version := range versions {
		if _, err := types.ParseVersion(version); err != nil || version == "" {
			r.addProblem(f.key, "kubeVersions: %q: want versions in quotes, such as \"1.30\"", version)
		}
	}
	if f.given() && len(versions) == 0 {
		r.addProblem(f.key, "kubeVersions: want at least one")
	}
	return versions
}

func (r *reader) fieldValidation(f field) string {
	text := r.text(f)
	if f.given() && text != "Strict" && text != "Warn" && text != "Ignore" {
		r.addProblem(f.key, "fieldValidation %q: want Strict, Warn or Ignore", text)
	}
	return text
}

// expectation reads expect, and reports whether nothing is expected.
func (r *reader) expectation(b *own, f field, decoded map[string]any) (open bool) {
	e := &b.expect
	if !f.given() || f.null() {
		r.addProblem(b.item, "test: no expectation: want expect: valid, or the causes")
		return true
	}
	e.position = r.positionOf(f.key)
	if v := f.value.Resolve(); v.Kind == position.Scalar {
		if e.valid = v.Value == "valid"; !e.valid && v.Value != "invalid" {
			r.addProblem(v, "expect: %q: want valid, invalid, or the causes", v.Value)
		}
		return false
	}
	p := r.fields("expect", f.value, "valid", "causes", "warnings", "object", "maxCost", "policies")
	e.valid = r.flag(p[0])
	for _, item := range r.items(p[1]) {
		if cause := r.expectedCause(item); cause != nil {
			e.causes = append(e.causes, cause)
		}
	}
	e.warned = p[2].given()
	for _, text := range r.texts(p[2]) {
		e.warnings = append(e.warnings, r.expectedText(p[2], text))
	}
	if p[3].given() {
		expect, _ := decoded["expect"].(map[string]any)
		e.object, _ = r.object(p[3], expect)
		e.objectAt = r.positionOf(p[3].key)
	}
	if e.maxCost, e.costed = r.number(p[4]); e.costed {
		e.costAt = r.positionOf(p[4].key)
	}
	r.expectedDecisions(e, p[5])
	// Expectations that only make sense for an accepted object imply valid.
	implied := !p[0].given() && !p[1].given()
	e.valid = e.valid || implied && (e.object != nil || !e.decided && (e.warned || e.costed))
	e.follows = implied && e.decided && !e.valid
	switch {
	case e.valid && len(e.causes) > 0:
		r.addProblem(p[1].key, "expect: valid and causes: want only one of them")
	case !e.valid && e.object != nil:
		r.addProblem(p[3].key, "expect: causes and object: a rejected object is not persisted")
	case !e.valid && len(e.causes) == 0 && (p[1].given() || !p[0].given() && !e.decided):
		r.addProblem(f.key, "expect: no expectation: want valid: true, or causes")
		return true
	}
	return false
}

func (r *reader) expectedCause(n *position.Node) *expectedCause {
	f := r.fields("cause", n, "field", "reason", "message")
	c := &expectedCause{Position: r.positionOf(n), reason: r.text(f[1])}
	if f[0].given() {
		text := r.text(f[0])
		c.field = &text
	}
	if text := r.text(f[2]); text != "" {
		c.message = r.expectedText(f[2], text)
	}
	if c.field == nil && c.reason == "" && c.message == nil {
		r.addProblem(n, "cause: no expectation: want field, reason, or message")
	}
	return c
}

const maxPattern = 4 << 10

func (r *reader) expectedText(f field, text string) *expectedText {
	e := &expectedText{text: text}
	source, ok := strings.CutPrefix(text, "~")
	if !ok {
		return e
	}
	var err error
	if len(source) > maxPattern {
		err = fmt.Errorf("too long (got %d bytes, want at most %d)", len(source), maxPattern)
	} else if r.afford(source) {
		e.re, err = regexp.Compile(source)
	} else {
		err = errors.New("the suite's patterns have too many states: use fewer repetitions")
	}
	if err != nil {
		r.addProblem(f.key, "%s: not a regular expression: %v", f.key.Value, err)
	}
	return e
}

// afford adds a pattern to the suite's patterns, which are kept as long as the suite, and reports whether they stay
// below the limit of states.
func (r *reader) afford(pattern string) bool {
	if n, err := regexcost.States(pattern); err == nil {
		r.states += n
	}
	return r.states <= 4*regexcost.MaxStates
}

const (
	// OpenShift's largest suite has 170 KiB, 124 cases, and 12 changed CRDs.
	maxText  = 8 << 20
	maxCases = 20_000
	// maxChanged limits the number of changed CRDs in a suite, because each is compiled.
	maxChanged = 100
	maxPatches = 64 << 10
	// maxMerged limits the total bytes of base that a suite's patches are merged with.
	maxMerged = 512 << 20
	// maxShared limits the total bytes of objects that contain aliases, because aliases multiply
	// their content.
	maxShared      = 64 << 20
	maxPolicyPaths = 100
	maxParams      = 1000
)

func sizeOf(v any) int {
	data, _ := json.Marshal(v)
	return len(data)
}

func tooMany(subject string, got, limit int) string {
	return fmt.Sprintf("%s: too many in one suite (got %d, want at most %d)", subject, got, limit)
}
