package repl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// watch holds the stamps of the watched files, or nil if :watch is off.
type watch struct{ stamps map[string]string }

// watchCommand implements :watch [off|reload].
func watchCommand(ctx context.Context, s *Session, arg string) (string, error) {
	switch {
	case arg == "off":
		s.watch = watch{}
		return "", nil
	case s.host.Stamp == nil || s.host.Load == nil:
		return "", errNoFiles
	case arg == "reload":
		before, saved, stamps := s.undoPoint(), maps.Clone(s.saved), maps.Clone(s.watch.stamps)
		text, err := s.reload(ctx, s.watchedFiles(), true)
		if err != nil {
			s.restore(before)
			s.saved, s.watch.stamps = saved, stamps
		}
		return text, err
	case arg != "":
		return "", fmt.Errorf(":watch %s: want off, reload, or no argument", arg)
	}
	files := s.watchedFiles()
	if len(files) == 0 {
		return "", errors.New("no file is loaded: run :load crd FILE")
	}
	s.watch.stamps = map[string]string{}
	for _, file := range files {
		stamp, err := s.host.Stamp(file)
		if err != nil {
			s.watch = watch{}
			return "", err
		}
		s.watch.stamps[file] = stamp
	}
	return termwidth.Fold("watching "+fileList(files)+"\n", s.Width, 2), nil
}

// seen records the current content of a file as known.
func (w *watch) seen(host Host, file string) {
	if w.stamps == nil {
		return
	}
	if stamp, err := host.Stamp(file); err == nil {
		w.stamps[file] = stamp
	}
}

// loadedFiles returns the files of the CRD, the object, and the old object.
func (s *Session) loadedFiles() []string {
	var files []string
	add := func(file string) {
		if file != "" && file != "-" && file != foundFile && !strings.Contains(file, "#") && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	st := s.state
	if st.crd != nil {
		add(st.crd.doc.File)
	}
	for _, o := range []*object{st.object, st.old} {
		if o != nil {
			add(o.file)
		}
	}
	return files
}

// Poll reloads watched files that have changed since the last call, and returns the reply to print,
// or "" if nothing has changed. A terminal calls it while no line is executed.
func (s *Session) Poll(ctx context.Context) string {
	if s.watch.stamps == nil {
		return ""
	}
	var changed []string
	for _, file := range s.watchedFiles() {
		stamp, err := s.host.Stamp(file)
		if was, known := s.watch.stamps[file]; err != nil || known && stamp == was {
			continue // a file that is being replaced may be missing for a moment
		} else if s.watch.stamps[file] = stamp; known {
			changed = append(changed, file)
		}
	}
	if len(changed) == 0 {
		return ""
	}
	before := s.state
	text, err := s.reload(ctx, changed, false)
	if err != nil {
		text += s.Problem(err)
	}
	if s.changedCRD(before) {
		text += s.pinChanges(ctx)
	}
	return text
}

// reload loads files again and returns the new verdict. It does not discard unsaved changes unless
// discard is set.
func (s *Session) reload(ctx context.Context, files []string, discard bool) (string, error) {
	if file, keep := s.unsavedIn(files); file != "" && !discard {
		return "", fmt.Errorf("%s has changed on disk, and has changes here: run :watch reload to discard those here%s", file, keep)
	}
	loaded, many := s.loadedFiles(), s.collectedFiles()
	for _, file := range files {
		if slices.Contains(loaded, file) {
			if err := s.reloadFile(file); err != nil {
				return "", err
			}
		}
		s.watch.seen(s.host, file)
	}
	if slices.ContainsFunc(files, func(file string) bool { return slices.Contains(many, file) }) {
		c, err := s.readFiles(ctx, s.many().paths)
		if err != nil {
			return "", err
		}
		s.collection = c
	}
	text := termwidth.Fold("reloaded "+fileList(files)+"\n", s.Width, 2)
	if s.state.object != nil {
		verdict, err := s.verdictLine(ctx)
		if err != nil {
			return text, err
		}
		text += verdict
	}
	return text, nil
}

// unsavedIn returns the first of the files that has changes in the session, or "", and advice on how to keep
// the changes.
func (s *Session) unsavedIn(files []string) (changed, keep string) {
	st := s.state
	for _, file := range files {
		if st.crd != nil && st.crd.doc.File == file && s.Unsaved() {
			return file, ", or :save FILE to keep them"
		}
		for _, o := range []*object{st.object, st.old} {
			if o != nil && o.file == file && o.changed {
				return file, ""
			}
		}
	}
	return "", ""
}

// reloadFile loads the CRD and the objects of a file again.
func (s *Session) reloadFile(file string) error {
	if s.host.Stamp != nil { // the file may have been replaced by a folder
		if _, err := s.host.Stamp(file); err != nil {
			return err
		}
	}
	docs, err := s.host.Load(file)
	if err != nil {
		return err
	}
	if c := s.state.crd; c != nil && c.doc.File == file {
		kinds, crds := Definitions(docs)
		i := slices.Index(kinds, c.engine.Info().GroupKind)
		if i < 0 {
			return fmt.Errorf("%s: the CRD of %s is gone: its last form stays loaded", file, c.engine.Info().GroupKind.Kind)
		}
		path := s.state.steps
		if err := s.LoadCRD(crds[i]); err != nil {
			return err
		}
		_ = s.move(path) // stays at the root if the path is gone
	}
	for i, o := range []*object{s.state.object, s.state.old} {
		if o == nil || o.file != file {
			continue
		}
		id := identify(o.doc)
		at := slices.IndexFunc(docs, func(doc Document) bool { return identify(doc) == id })
		if at < 0 {
			return fmt.Errorf("%s: the object %s is gone: its last form stays loaded", file, id.name)
		}
		if err := s.load(docs[at], i == 1); err != nil {
			return err
		}
	}
	return nil
}

// verdictLine returns whether an API server accepts the session's write, with the first cause.
func (s *Session) verdictLine(ctx context.Context) (string, error) {
	st := s.state
	res, err := st.crd.engine.Validate(ctx, st.request())
	if err != nil {
		return "", err
	}
	text := identify(st.object.doc).name + " is "
	switch {
	case res.Allowed:
		text += "accepted"
	case len(res.Causes) == 0:
		text += "rejected: " + res.Failure.Message
	default:
		text += "rejected: " + causeWords(res.Causes)
	}
	return termwidth.Fold(printable(text)+"\n", s.Width, 2), nil
}

// causeWords returns the first cause and the number of other causes.
func causeWords(causes []engine.Cause) string {
	text := strings.TrimPrefix(causes[0].Field+": "+causes[0].Message, ": ")
	if more := len(causes) - 1; more > 0 {
		text += fmt.Sprintf(" (and %s)", phrase.Count(more, "other cause"))
	}
	return text
}
