package repl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/linediff"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/crdfields"
	"github.com/celadon-cel/celadon/x/secret"
)

// persisted implements :persisted. It prints the object as a server would store it, with passwords
// removed.
func persisted(ctx context.Context, s *Session, arg string) (string, error) {
	st := s.state
	if arg != "" && arg != "diff" {
		return "", fmt.Errorf(":persisted %s: want diff or no argument", arg)
	}
	req := st.request()
	res, err := st.validate(ctx)
	switch {
	case err != nil:
		return "", err
	case !res.Allowed:
		return "", errors.New("the object is rejected, so it is not persisted: run :check for details")
	}
	mask := secret.MaskOf(st.crd.def, req.Object, req.OldObject, res.Object)
	kept := mask.Object(res.Object)
	if arg == "diff" {
		diff, err := linediff.Persisted(st.object.doc.File, mask.Object(req.Object), kept)
		return printable(string(diff)), err
	}
	text, err := untrusted.YAML(kept)
	return printable(string(text)) + s.selectable(kept), err
}

// selectable returns a line that lists the selectable fields of obj, or "" if its CRD declares no
// selectable fields.
func (s *Session) selectable(obj map[string]any) string {
	version, err := s.state.crd.engine.VersionOf(obj)
	if err != nil {
		return ""
	}
	found, err := crdfields.SelectableOf(&s.state.crd.def.Spec.Versions[s.state.crd.version(version)], false)
	if err != nil {
		return ""
	}
	values, err := found.Values(obj)
	if err != nil || len(values) == 0 {
		return ""
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, name+"="+values[name])
	}
	return "# selectable fields: " + string(untrusted.Line(strings.Join(pairs, ","))) + "\n"
}
