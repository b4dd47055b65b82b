package repl

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// Config holds the initial settings of a session. The zero value is valid; without a Host, the
// session cannot access files.
type Config struct {
	// KubeVersion is the Kubernetes minor version that rules are written for, such as "1.33".
	// Expressions can then use only what API servers of that version accept in new rules. If it is
	// empty, everything that this build supports is allowed.
	KubeVersion string
	// Limits replaces the API server's cost limits. Zero fields keep the server's values.
	Limits cost.Limits
	// Subresource is "status" to evaluate writes of the status, or "" to evaluate writes of the
	// object.
	Subresource string
	Host        Host
}

// A Session is the state of a shell: a CRD and a version of it, an object and its old version, and a path in the
// schema. It performs no I/O except through its Host. A command that fails does not change the state. A Session is not
// safe for concurrent use.
type Session struct {
	host   Host
	limits cost.Limits
	state  *state
	// bare holds the location of expressions without a CRD for each Kubernetes version.
	bare map[string]*location
	// past and future are the states for :undo and :redo, the most recent last.
	past, future []*state
	// saved maps each CRD document, keyed by savedKey, to its text in the file.
	saved map[string]string
	// written is the text that :save wrote last, to any file.
	written string
	history []string // one entry per complete expression or command
	found   found
	// corrected is the line that :fix runs, or "".
	corrected string
	doing     string
	// partial is an unfinished expression, or a command with one, that the next line continues.
	partial  string
	progress lex.Progress
	last     lastLine
	warned   bool // the user was warned of unsaved rules
	// readStatus is set if the current line read a status that rules do not see. statusNoted is set
	// if the user was informed of it.
	readStatus, statusNoted bool
	oldNoted                bool // the user was informed how to try transition rules
	funcs                   *assist.Functions
	noPreview               bool // set by :set preview off
	// collection holds several objects besides the current object, or is nil. olds holds their old versions.
	collection *collection
	olds       *collection
	// crds are the CRDs that :load crd finds by kind or name.
	crds []Document
	// Width is the number of columns available for replies. 0 means unlimited.
	Width int
}

// A state is a snapshot of a session. It is immutable, except for values derived from the other
// fields.
type state struct {
	crd         *crd // nil if no CRD is loaded
	kube        string
	subresource string      // of the write that is evaluated: "" or statusName
	user        []string    // the name and the groups of its user, or nil for the administrator
	apply       apply.Write // how the object is written
	version     string
	steps       []engine.Step
	location    *location // nil without a CRD, or if it must be derived again
	object, old *object
	// seen holds object and old as rules see them. It is nil without an object, or if it must be derived
	// again.
	seen *engine.Prepared
	// policies is nil if none are loaded. policy is the policy whose variables expressions have, or "".
	policies *policies
	policy   string
	// rule is the index of the rule last added or changed, or -1.
	rule int
	// command is the command that created this state, or "" if no command did.
	command string
}

// NewSession returns a session in which nothing is loaded. It returns an error if KubeVersion or
// Subresource is unknown.
func NewSession(cfg Config) (*Session, error) {
	if _, err := types.ParseVersion(cfg.KubeVersion); err != nil {
		return nil, err
	}
	if cfg.Subresource != "" && cfg.Subresource != statusName {
		return nil, fmt.Errorf("subresource %q: want %s", cfg.Subresource, statusName)
	}
	return &Session{
		host:   cfg.Host,
		limits: cfg.Limits,
		state:  &state{kube: cfg.KubeVersion, subresource: cfg.Subresource, rule: -1},
		bare:   map[string]*location{},
		saved:  map[string]string{},
		funcs:  &assist.Functions{},
	}, nil
}

func (s *Session) config(kube string) engine.Config {
	cfg := engine.Config{KubeVersion: kube, Limits: s.limits}
	if kube != "" {
		cfg.Expressions = engine.New
	}
	return cfg
}

// LoadCRD makes doc the session's CRD. Loaded objects that the CRD does not define are dropped.
func (s *Session) LoadCRD(doc Document) error {
	c, err := newCRD(doc, s.config(s.state.kube))
	if err != nil {
		return err
	}
	if doc.builtin {
		c.builtins = cmp.Or(s.host.Builtins, &policyrequest.Builtins{})
	}
	next := *s.state
	next.crd, next.version, next.rule = c, "", -1
	for _, o := range []**object{&next.object, &next.old} {
		if *o != nil {
			if _, err := c.engine.VersionOf((*o).value); err != nil {
				*o = nil
			}
		}
	}
	if err := s.commit(&next, nil); err != nil {
		return err
	}
	s.saved[savedKey(doc)] = string(doc.Text)
	return nil
}

// LoadObject makes doc the session's object.
func (s *Session) LoadObject(doc Document) error { return s.load(doc, false) }

// LoadOld makes doc the old version of the session's object.
func (s *Session) LoadOld(doc Document) error { return s.load(doc, true) }

func (s *Session) load(doc Document, old bool) error {
	o, err := newObject(doc)
	if err != nil {
		return err
	}
	next := *s.state
	if old {
		next.old = o
	} else {
		next.object, next.version = o, ""
	}
	s.statusNoted = false
	return s.commit(&next, next.steps)
}

// settle derives the version, the prepared objects, and the location from the other fields of st. The
// location is at steps, or at the nearest parent of steps that exists.
func (st *state) settle(steps []engine.Step) error {
	if st.crd == nil {
		st.location = nil
		return nil
	}
	if err := st.crd.compile(); err != nil {
		return err
	}
	if err := st.choose(); err != nil {
		return err
	}
	if err := st.prepare(); err != nil {
		return err
	}
	for {
		p, err := newLocation(st.crd, st.version, steps, st.here())
		if err == nil {
			st.location, st.steps = p, p.steps
		}
		if err == nil || len(steps) == 0 {
			return err
		}
		steps = steps[:len(steps)-1]
	}
}

func (st *state) prepare() error {
	st.seen = nil
	if st.subresource == statusName && !st.crd.hasStatus(st.version) {
		return fmt.Errorf("version %s of the CRD has no %s subresource", st.version, statusName)
	}
	if st.old != nil { // as read from storage, independent of the object
		p, err := st.crd.prepare(engine.Request{Object: st.old.value, OldObject: st.old.value})
		if err != nil {
			return fmt.Errorf("%s: %w", st.old.doc.File, err)
		}
		old := *st.old
		old.prepared, st.old = p.Old, &old
	}
	if st.object == nil {
		return nil
	}
	p, err := st.prepareWrite(st.object.value, st.oldValue())
	if err != nil {
		return fmt.Errorf("%s: %w", st.object.doc.File, err)
	}
	object := *st.object
	object.prepared, st.object, st.seen = p.Self, &object, p
	return nil
}

// here returns the prepared objects. It returns nil without an object, or if the object's version differs from the
// version in use.
func (st *state) here() *engine.Prepared {
	if st.seen == nil || st.seen.Version != st.version {
		return nil
	}
	return st.seen
}

// visible returns o as rules of the version in use see it, or nil.
func (st *state) visible(o *object) map[string]any {
	if o == nil || st.here() == nil {
		return nil
	}
	return o.prepared
}

func (st *state) choose() error {
	e := st.crd.engine
	if st.object != nil {
		v, err := e.VersionOf(st.object.value)
		if err != nil {
			return fmt.Errorf("%s: %w", st.object.doc.File, err)
		}
		st.version = cmp.Or(st.version, v)
	}
	if st.version == "" || !slices.Contains(e.Info().Versions, st.version) {
		root, err := e.At("", "")
		if err != nil {
			return err
		}
		st.version = root.Version
	}
	return nil
}

const maxUndo = 50

// commit settles next and makes it the current state, as a step of :undo. If commit returns an error, the session has
// not changed.
func (s *Session) commit(next *state, steps []engine.Step) error {
	if err := next.settle(steps); err != nil {
		return err
	}
	next.command = s.doing
	s.past = append(s.past, s.state)
	s.past, s.future = s.past[max(0, len(s.past)-maxUndo):], nil
	s.enter(next)
	return nil
}

// enter makes the settled state next current. To save memory, it drops from the previous state the parts that settle
// derives again.
func (s *Session) enter(next *state) {
	before := s.state
	if before.crd != nil && before.crd != next.crd {
		before.crd.def, before.crd.engine, before.crd.writer = nil, nil, nil
	}
	before.location, before.seen = nil, nil
	s.state, s.warned = next, false
}

func savedKey(doc Document) string {
	return fmt.Sprintf("%s:%d", doc.File, doc.Line)
}

// Unsaved reports whether the CRD's text differs from its file.
func (s *Session) Unsaved() bool {
	c := s.state.crd
	return c != nil && s.saved[savedKey(c.doc)] != string(c.doc.Text)
}

// Prompt returns the text to display before the cursor. If it is wider than about half of Width, its beginning is cut
// off.
func (s *Session) Prompt() string {
	st := s.state
	switch {
	case s.partial != "":
		return "... "
	case st.crd == nil:
		return "celadon> "
	}
	text := fmt.Sprintf("%s/%s", st.crd.kind().Kind, st.version)
	if len(st.location.steps) > 0 {
		text += " " + st.location.path()
	}
	if st.policy != "" {
		text += " policy " + st.policy
	}
	if over := termwidth.Width(text) - s.Width/2; s.Width > 0 && over > 0 {
		text = termwidth.CutLeft(text, over)
	}
	return text + "> "
}
