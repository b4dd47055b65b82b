package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/assist"
)

// Config is what a session starts with. The zero value knows no files.
type Config struct {
	// KubeVersion is the Kubernetes minor that rules are written for, as
	// "1.33": expressions then know what its servers accept in new rules. ""
	// is all that this build knows.
	KubeVersion string
	// Limits replaces the API server's cost limits; zero fields keep them.
	Limits cost.Limits
	// Subresource is "status" to evaluate writes of the status; "" evaluates writes of the object.
	Subresource string
	Host        Host
}

// Session is what a shell knows: a CRD and one of its versions, an object, its
// old form, and a place in the schema. It does no I/O of its own: what it needs
// of the world it asks its Host. A command that fails changes nothing. It is
// not safe for concurrent use.
type Session struct {
	host   Host
	limits cost.Limits
	state  *state
	// past and future are what :undo and :redo go to.
	past, future []*state
	// saved is the text of each CRD file as it stands there.
	saved   map[string]string
	history []string // what was answered, each expression or command whole
	lets    []let
	found   *search.Witness // by :find
	// doing is the command that is being answered.
	doing string
	// partial is an expression that is not finished yet.
	partial string
	last    lastLine
	warned  bool // of unsaved rules
	// readStatus is set if the current line read a status that rules do not see, toldStatus if the user knows about it.
	readStatus, toldStatus bool
	funcs                  *assist.Functions
	// Width is how many columns answers may use; 0 is any number.
	Width int
}

// state is one moment of a session. It never changes, but for what it derives.
type state struct {
	crd         *crd // nil: none loaded
	kube        string
	subresource string // of the write that is evaluated: "" or statusName
	version     string
	steps       []engine.Step
	place       *place // nil without a CRD, or when it is to be made again
	object, old *object
	// seen is what rules see of the two; nil without an object.
	seen *engine.Prepared
	// rule is the rule last added or changed, from 0; -1 is none.
	rule int
	// made is the command that made the state of the one before; "" for none.
	made string
}

// NewSession returns a session with nothing loaded. It returns an error if KubeVersion or Subresource is unknown.
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

// LoadCRD makes doc the session's CRD. Objects of another kind are dropped.
func (s *Session) LoadCRD(doc Document) error {
	c, err := newCRD(doc, s.config(s.state.kube))
	if err != nil {
		return err
	}
	next := *s.state
	next.crd, next.version, next.rule = c, "", -1
	for _, o := range []**object{&next.object, &next.old} {
		if *o != nil && !c.owns((*o).value) {
			*o = nil
		}
	}
	if err := s.commit(&next, nil); err != nil {
		return err
	}
	s.saved[savedKey(doc)] = string(doc.Text)
	return nil
}

func (c *crd) owns(obj map[string]any) bool {
	_, err := c.engine.VersionOf(obj)
	return err == nil
}

// LoadObject makes doc the session's object, LoadOld its old form.
func (s *Session) LoadObject(doc Document) error { return s.load(doc, false) }

// LoadOld is LoadObject for the object before the change.
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
	s.toldStatus = false
	return s.commit(&next, next.steps)
}

// errNoCRD says that a command needs one.
var errNoCRD = errors.New("no CRD is loaded: :load crd FILE")

// settle derives what a state's parts mean together, at the place that steps
// name, or the nearest above it.
func (st *state) settle(steps []engine.Step) error {
	if st.crd == nil {
		st.place = nil
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
		p, err := newPlace(st.crd, st.version, steps, st.here())
		if err == nil {
			st.place, st.steps = p, p.steps
		}
		if err == nil || len(steps) == 0 {
			return err
		}
		steps = steps[:len(steps)-1]
	}
}

// prepare makes of the objects what rules see, as for a verdict.
func (st *state) prepare() error {
	st.seen = nil
	if err := st.checkSubresource(); err != nil {
		return err
	}
	if st.old != nil { // as storage gives it, whatever the object is
		p, err := st.crd.engine.Prepare(engine.Request{Object: st.old.value, OldObject: st.old.value})
		if err != nil {
			return fmt.Errorf("%s: %w", st.old.doc.File, err)
		}
		st.old = st.old.as(p.Old())
	}
	if st.object == nil {
		return nil
	}
	p, err := st.crd.engine.Prepare(st.request())
	var unknown *engine.NotCheckedError
	if errors.As(err, &unknown) { // only a webhook could convert the old object
		alone := *st
		alone.old = nil
		p, err = st.crd.engine.Prepare(alone.request())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", st.object.doc.File, err)
	}
	st.seen, st.object = p, st.object.as(p.Self())
	return nil
}

// as is the object with another form that rules see.
func (o *object) as(prepared map[string]any) *object {
	kept := *o
	kept.prepared = prepared
	return &kept
}

// here is what rules of the version in use see; nil where there is no object, or
// one of another version.
func (st *state) here() *engine.Prepared {
	if st.seen == nil || st.seen.Version() != st.version {
		return nil
	}
	return st.seen
}

// visible is the object as rules of the version in use see it, else nil.
func (st *state) visible(o *object) map[string]any {
	if o == nil || st.here() == nil {
		return nil
	}
	return o.prepared
}

// choose settles the version: the object's, else the one in use, else the
// storage version.
func (st *state) choose() error {
	e := st.crd.engine
	if st.object != nil {
		v, err := e.VersionOf(st.object.value)
		if err != nil {
			return fmt.Errorf("%s: %w", st.object.doc.File, err)
		}
		if st.version == "" {
			st.version = v
		}
	}
	if st.version == "" || !slices.Contains(e.Versions(), st.version) {
		root, err := e.At("", "")
		if err != nil {
			return err
		}
		st.version = root.Version()
	}
	return nil
}

// maxUndo bounds how many states are kept, maxCompiled how many engines.
const (
	maxUndo     = 200
	maxCompiled = 4
)

// commit makes next the session's state, and the one before it what :undo goes
// back to. Where it fails nothing has changed.
func (s *Session) commit(next *state, steps []engine.Step) error {
	if err := next.settle(steps); err != nil {
		return err
	}
	next.made = s.doing
	s.past = append(s.past, s.state)
	if len(s.past) > maxUndo {
		s.past = slices.Delete(s.past, 0, 1)
	}
	s.future = nil
	s.enter(next)
	return nil
}

// enter makes a settled state the session's, and lets go of what the engines
// of older ones hold.
func (s *Session) enter(next *state) {
	s.state, s.warned = next, false
	kept := map[*crd]bool{next.crd: true}
	for _, states := range [][]*state{s.past, s.future} {
		for i := len(states) - 1; i >= 0; i-- {
			c := states[i].crd
			if c == nil || kept[c] {
				continue
			}
			if len(kept) < maxCompiled {
				kept[c] = true
				continue
			}
			c.engine, states[i].place, states[i].seen = nil, nil, nil
		}
	}
}

// moment is where a session is, and where :undo and :redo go.
type moment struct {
	state        *state
	past, future []*state
}

func (s *Session) moment() moment {
	return moment{s.state, slices.Clone(s.past), slices.Clone(s.future)}
}

func (s *Session) restore(m moment) { s.state, s.past, s.future = m.state, m.past, m.future }

// undo goes a state back, redo forward again. They say which command that was.
func undo(_ context.Context, s *Session, _ string) (string, error) {
	made := s.state.made
	return "undid " + changeText(made), s.travel(&s.past, &s.future, "undo")
}

func redo(_ context.Context, s *Session, _ string) (string, error) {
	err := s.travel(&s.future, &s.past, "redo")
	return "did again " + changeText(s.state.made), err
}

func changeText(made string) string {
	if made == "" {
		return "what was loaded\n"
	}
	return termwidth.Cut(lex.OneLine(made), maxValue) + "\n"
}

func (s *Session) travel(from, to *[]*state, what string) error {
	n := len(*from)
	if n == 0 {
		return fmt.Errorf("nothing to %s", what)
	}
	target := *(*from)[n-1]
	if target.place == nil {
		if err := target.settle(target.steps); err != nil {
			return err
		}
	}
	*from = (*from)[:n-1]
	*to = append(*to, s.state)
	s.enter(&target)
	return nil
}

// move goes to another place, which :undo does not know.
func (s *Session) move(steps []engine.Step) error {
	if s.state.crd == nil {
		return errNoCRD
	}
	next := *s.state
	next.rule = -1
	p, err := newPlace(next.crd, next.version, steps, next.here())
	if err != nil {
		return err
	}
	next.place, next.steps = p, p.steps
	s.state = &next
	return nil
}

func savedKey(doc Document) string {
	return fmt.Sprintf("%s:%d", doc.File, doc.Line)
}

// Unsaved is true when the CRD's text differs from its file's.
func (s *Session) Unsaved() bool {
	c := s.state.crd
	return c != nil && s.saved[savedKey(c.doc)] != string(c.doc.Text)
}

// Prompt is what stands before the cursor: kind, version and place. On a narrow
// screen it is the end of that.
func (s *Session) Prompt() string {
	switch st := s.state; {
	case s.partial != "":
		return "... "
	case st.crd == nil:
		return "celadon> "
	default:
		text := fmt.Sprintf("%s/%s", st.crd.engine.GroupKind().Kind, st.version)
		if len(st.place.steps) > 0 {
			text += " " + st.place.path()
		}
		if over := termwidth.Width(text) - s.Width/2; s.Width > 0 && over > 0 {
			text = termwidth.CutLeft(text, over)
		}
		return text + "> "
	}
}
