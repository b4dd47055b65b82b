package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/repl/internal/objectstore"
	"github.com/celadon-cel/celadon/x/assist"
)

// objects implements :objects. It loads, describes, or drops the collection.
func objects(ctx context.Context, s *Session, arg string) (string, error) {
	if s.state.crd == nil {
		return "", ErrNoCRD
	}
	words, err := splitWords(arg)
	switch {
	case err != nil:
		return "", err
	case len(words) == 0:
		c, err := s.needMany()
		if err != nil {
			return "", err
		}
		return s.describe(ctx, c)
	case len(words) == 1 && words[0] == "-":
		s.collection = nil
		return "", nil
	}
	var c *collection
	if words[0] == "--cluster" {
		c, err = s.readCluster(ctx, words[1:])
	} else {
		c, err = s.readFiles(ctx, words)
	}
	if err != nil {
		return "", err
	}
	s.collection = c
	return printable(s.loadedText(c)) + "\n", nil
}

// readFiles reads the objects of the CRD's kind in files and folders.
func (s *Session) readFiles(ctx context.Context, paths []string) (*collection, error) {
	if s.host.Read == nil {
		return nil, errNoFiles
	}
	for _, path := range paths {
		switch {
		case path == "-":
			return nil, errors.New(":objects - drops the objects: use it without other paths")
		case strings.HasPrefix(path, "-"):
			return nil, fmt.Errorf("%s: unknown flag: use :objects PATH…, or :objects --cluster [-n NAMESPACE]", path)
		}
	}
	c := newCollection(s.state.crd.engine.Info().GroupKind, paths, objectstore.NewTable())
	err := s.host.Read(ctx, paths, func(in *Input) error { return c.take(in, paths) })
	return c.complete(err)
}

// readCluster reads the objects of the CRD's kind in a cluster. words are the arguments after --cluster.
func (s *Session) readCluster(ctx context.Context, words []string) (*collection, error) {
	if s.host.ReadCluster == nil {
		return nil, errors.New("clusters are not available here")
	}
	namespace := ""
	switch {
	case len(words) == 2 && (words[0] == "-n" || words[0] == "--namespace"):
		namespace = words[1]
	case len(words) > 0:
		return nil, fmt.Errorf(":objects --cluster %s: want nothing else, or -n NAMESPACE", strings.Join(words, " "))
	}
	c := newCollection(s.state.crd.engine.Info().GroupKind, nil, objectstore.NewTable())
	name, err := s.host.ReadCluster(ctx, s.state.crd.def, namespace, func(in *Input) error { return c.take(in, nil) })
	c.sources = []string{name}
	return c.complete(err)
}

// complete ends the reading of c. It returns an error if there are no objects.
func (c *collection) complete(err error) (*collection, error) {
	c.store.Done()
	switch {
	case errors.Is(err, context.Canceled):
		return nil, errInterrupted
	case err != nil:
		return nil, err
	}
	if c.store.Len() == 0 {
		text := fmt.Sprintf("%s: no object of kind %s", strings.Join(c.sources, ", "), c.kind.Kind)
		if skipped := c.skipped.text(); skipped != "" {
			text += "; " + skipped
		}
		return nil, errors.New(text)
	}
	return c, nil
}

// take adds a document, if it is of the collection's kind. It returns an error if a path that the user named
// cannot be read.
func (c *collection) take(in *Input, named []string) error {
	if err := unreadable(in, named); err != nil {
		return err
	}
	err := in.Err
	if err == nil && groupKindOf(in.Object) == c.kind {
		if err = c.add(in); err == nil || errors.Is(err, objectstore.ErrFull) {
			return err
		}
	}
	c.skipped.skip(in, err)
	return nil
}

// unreadable returns the error of a document that is a whole file that the user named.
func unreadable(in *Input, named []string) error {
	if in.Err == nil || in.Line > 0 {
		return nil
	}
	if !slices.Contains(named, in.File) {
		return nil
	}
	return fmt.Errorf("%s: %w", in.File, in.Err)
}

// loadedText describes a collection on one line.
func (s *Session) loadedText(c *collection) string {
	text := fmt.Sprintf("%s of %s from %s", counted(c.store.Len(), "object"), c.kind.Kind, shortened(strings.Join(c.sources, ", ")))
	if s.state.crd.engine.Info().Namespaced {
		text += " in " + counted(len(c.namespaces), "namespace")
	}
	if skipped := c.skipped.text(); skipped != "" {
		text += "; " + skipped
	}
	return text
}

// describe returns a summary of the collection.
func (s *Session) describe(ctx context.Context, c *collection) (string, error) {
	v, err := s.verdicts(ctx, c)
	if err != nil {
		return "", err
	}
	cells := [][]string{{"objects", fmt.Sprintf("%s of %s", count(c.store.Len()), c.kind.Kind)}, {"from", shortened(strings.Join(c.sources, ", "))}}
	add := func(name, text string) { cells = append(cells, []string{name, text}) }
	if s.state.crd.engine.Info().Namespaced {
		add("namespaces", count(len(c.namespaces))+": "+groupText(c.namespaces))
	}
	if len(c.versions) > 1 {
		add("versions", groupText(c.versions))
	}
	if s.knownOlds() != nil {
		add("updates", fmt.Sprintf("%s with an old object", count(s.updates(c))))
	}
	if n, first := c.duplicates(); n > 0 {
		add("duplicates", fmt.Sprintf("%s with the name of another (%s)", counted(n, "object"), c.name(first, s.state.crd.engine.Info().Namespaced)))
	}
	add("rejected", listText(s, c, &v.rejected, "none"))
	if v.undecided.n > 0 {
		add("undecided", listText(s, c, &v.undecided, ""))
	}
	if skipped := c.skipped.text(); skipped != "" {
		add("skipped", printable(skipped))
	}
	return table(cells, s.Width), nil
}

func listText(s *Session, c *collection, l *objectList, none string) string {
	if l.n == 0 {
		return none
	}
	return fmt.Sprintf("%s (%s)", count(l.n), s.names(c, l.first, l.n))
}

// updates returns the number of objects with an old version.
func (s *Session) updates(c *collection) (n int) {
	for i := range c.store.Len() {
		if s.knownOlds().has(identityOf(c.store.Head(i))) {
			n++
		}
	}
	return n
}

// duplicates returns the number of objects with the identity of an earlier one, and the first of them.
func (c *collection) duplicates() (n, first int) {
	seen := make(map[[2]string]struct{}, c.store.Len())
	for i := range c.store.Len() {
		id := identityOf(c.store.Head(i))
		if _, repeated := seen[id]; !repeated {
			seen[id] = struct{}{}
		} else if n++; n == 1 {
			first = i
		}
	}
	return n, first
}

// An acceptance holds which objects of a collection the CRD rejects.
type acceptance struct {
	crd                 *crd
	subresource         string
	rejected, undecided objectList
}

// verdicts validates all objects as celadon check does.
func (s *Session) verdicts(ctx context.Context, c *collection) (*acceptance, error) {
	st := s.state
	if v := c.verdicts; v != nil && v.crd == st.crd && v.subresource == st.subresource {
		return v, nil
	}
	all := &acceptance{crd: st.crd, subresource: st.subresource}
	err := sweep(ctx, c.store.Len(), func(from, to int) *acceptance {
		var block acceptance
		for i := from; i < to && ctx.Err() == nil; i++ {
			req := st.write(c.store.Object(i), s.knownOlds().of(c.store.Head(i)))
			req.FieldValidation = "Strict"
			switch res, err := st.crd.engine.Validate(ctx, req); {
			case err != nil:
				block.undecided.add(i)
			case !res.Allowed:
				block.rejected.add(i)
			}
		}
		return &block
	}, func(block *acceptance) {
		all.rejected.append(&block.rejected)
		all.undecided.append(&block.undecided)
	})
	if err != nil {
		return nil, err
	}
	c.verdicts = all
	return all, nil
}

// objectCommand implements :object. It makes an object of the collection the session's object.
func objectCommand(_ context.Context, s *Session, arg string) (string, error) {
	c, err := s.needMany()
	if err != nil {
		return "", err
	}
	found := c.find(arg, maxListed)
	if len(found) == 0 {
		return "", c.notFound(arg)
	}
	first := identityOf(c.store.Head(found[0]))
	same := []int32{}
	for _, i := range found {
		if identityOf(c.store.Head(i)) != first {
			return "", fmt.Errorf("%s objects are named %s: want NAMESPACE/NAME: %s", count(len(found)), shortened(arg), s.names(c, indexes(found), len(found)))
		}
		same = append(same, int32(i))
	}
	if err := s.current(c, found[0]); err != nil {
		return "", err
	}
	if len(same) > 1 {
		h := c.store.Head(found[0])
		return fmt.Sprintf("note: %s have this name; this is that of %s\n", counted(len(same), "object"), printable(fmt.Sprintf("%s:%d", h.File, h.Line))), nil
	}
	return "", nil
}

func indexes(list []int) []int32 {
	out := make([]int32, len(list))
	for i, n := range list {
		out[i] = int32(n)
	}
	return out
}

// maxCompletions limits the names of objects that are offered.
const maxCompletions = 100

// completeObject completes the name of an object of the collection. Names that are long or cannot be
// printed are left out.
func completeObject(s *Session, arg string) assist.Completion {
	c := s.many()
	if c == nil {
		return assist.Completion{}
	}
	namespaced := s.state.crd.engine.Info().Namespaced
	names := c.namesBegun(arg, namespaced, strings.Contains(arg, "/"))
	if len(names) == 0 && namespaced {
		names = c.namesBegun(arg, true, true) // arg may begin a namespace
	}
	return wordsOf(names...).Only(arg)
}

// namesBegun returns names of objects that begin with prefix, with their namespaces if qualified is set.
func (c *collection) namesBegun(prefix string, namespaced, qualified bool) (names []string) {
	for i := 0; i < c.store.Len() && len(names) < maxCompletions; i++ {
		h := c.store.Head(i)
		name := h.Name
		if qualified {
			name = namespaceOf(h) + "/" + name
		}
		if name != "" && strings.HasPrefix(name, prefix) && shortened(name) == name && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// completeObjects completes the last path, or --cluster.
func completeObjects(s *Session, arg string) assist.Completion {
	at := strings.LastIndexByte(arg, ' ') + 1
	c := completeFiles(s, arg[at:])
	if at == 0 {
		c.Candidates = append(c.Candidates, wordsOf("--cluster").Only(arg).Candidates...)
	}
	c.Start += len([]rune(arg[:at]))
	return c
}

// completeRules completes the argument of :rules.
func completeRules(s *Session, arg string) assist.Completion {
	number, flag, second := strings.Cut(arg, " ")
	if !second {
		return wordsOf(append(s.ruleNumbers(), "all")...).Only(arg)
	}
	c := wordsOf(rejectedFlag).Only(flag)
	c.Start = len([]rune(number)) + 1
	return c
}

// splitWords splits arguments at spaces. A word with spaces is in quotes.
func splitWords(text string) (words []string, err error) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if quote := text[0]; quote == '"' || quote == '\'' {
			word, rest, closed := strings.Cut(text[1:], string(quote))
			if !closed {
				return nil, fmt.Errorf("%s: the quote is not closed", text)
			}
			words, text = append(words, word), rest
			continue
		}
		word, rest, _ := strings.Cut(text, " ")
		words, text = append(words, word), rest
	}
	return words, nil
}

// LoadOlds reads the old versions of the objects of the CRD's kind from a file or folder.
func (s *Session) LoadOlds(ctx context.Context, path string) error {
	switch {
	case s.state.crd == nil:
		return ErrNoCRD
	case s.host.Read == nil:
		return errNoFiles
	}
	c := newCollection(s.state.crd.engine.Info().GroupKind, []string{path}, objectstore.NewTable())
	err := s.host.Read(ctx, c.sources, func(in *Input) error { return c.take(in, c.sources) })
	if c, err = c.complete(err); err == nil {
		s.olds = newOldVersions(c)
	}
	return err
}

// OldOf returns the old version of an object, by its namespace and name, or nil.
func (s *Session) OldOf(object map[string]any) map[string]any {
	return s.knownOlds().of(headOf(&Input{Object: object}))
}
