package repl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/linediff"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/internal/yaml/emit"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/crdfields"
	"github.com/celadon-cel/celadon/x/secret"
	"github.com/celadon-cel/celadon/x/valuediff"
)

func setCommand(_ context.Context, s *Session, arg string) (string, error) {
	switch {
	case arg == "preview on" || arg == "preview off":
		s.noPreview = arg == "preview off"
		return "", nil
	case !strings.Contains(arg, "="):
		return "", fmt.Errorf("want PATH = JSON, preview on, or preview off (got %q)", arg)
	}
	return "", s.change(false, func(value map[string]any) error { return s.assign(value, arg) })
}

func unset(_ context.Context, s *Session, arg string) (string, error) {
	return "", s.change(false, func(value map[string]any) error { return s.remove(value, arg) })
}

func oldObject(_ context.Context, s *Session, arg string) (string, error) {
	kind, rest, _ := strings.Cut(arg, " ")
	switch kind {
	case "set":
		return "", s.change(true, func(value map[string]any) error { return s.assign(value, rest) })
	case "unset":
		return "", s.change(true, func(value map[string]any) error { return s.remove(value, rest) })
	case "none", "copy":
		next := *s.state
		if next.old = nil; kind == "copy" {
			if next.object == nil {
				return "", errNoObject
			}
			next.old = next.object
		}
		return "", s.commit(&next, next.steps)
	case "", "show":
		if s.state.old == nil {
			return "", errNoOld
		}
		text, err := emit.YAML(s.state.old.prepared)
		return printable(string(text)), err
	}
	return "", fmt.Errorf(":old %s: want set, unset, copy, none, or no argument", kind)
}

func (s *Session) change(old bool, edit func(map[string]any) error) error {
	if s.state.crd == nil {
		return ErrNoCRD
	}
	next := *s.state
	target, missing := &next.object, errNoObject
	if old {
		target, missing = &next.old, errNoOld
	}
	if *target == nil {
		return missing
	}
	value := runtime.DeepCopyJSON((*target).value)
	if err := edit(value); err != nil {
		return err
	}
	edited, err := (*target).edited(value)
	if err != nil {
		return err
	}
	*target = edited
	return s.commit(&next, next.steps)
}

func (s *Session) assign(obj map[string]any, arg string) error {
	path, text, ok := strings.Cut(arg, "=")
	if !ok {
		return fmt.Errorf("want PATH = JSON (got %q)", arg)
	}
	value, err := decodeJSON(text)
	if err != nil {
		return err
	}
	steps, err := s.edited(path)
	if err != nil {
		return err
	}
	_, err = put(obj, steps, 0, value)
	return err
}

func (s *Session) remove(obj map[string]any, path string) error {
	steps, err := s.edited(path)
	if err != nil {
		return err
	}
	return take(obj, steps)
}

// edited parses the path of a change, which must lead to a single value.
func (s *Session) edited(path string) ([]engine.Step, error) {
	p := s.state.location
	steps, err := p.resolve(strings.TrimSpace(path))
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("path %q: the root cannot be changed: want a field", path)
	}
	if slices.ContainsFunc(steps, func(step engine.Step) bool { return step.Any }) {
		return nil, fmt.Errorf("path %q: want a single element, not [*]", strings.TrimSpace(path))
	}
	d := p.root
	for i, step := range steps {
		if d.Kind == types.Hidden || d.Schema.XPreserveUnknownFields {
			return steps, nil
		}
		at := d
		switch d = declBelow(d, step); {
		case d == nil && i > 0 && steps[0].Name == "metadata": // which is declared only in part
			return steps, nil
		case d == nil:
			return nil, fmt.Errorf("path %q: %s: no such field in %s%s", strings.TrimSpace(path), engine.FormatPath(steps[i:i+1]), at, p.suggestion(steps))
		}
	}
	return steps, nil
}

// decodeJSON decodes numbers as the API server does.
func decodeJSON(text string) (any, error) {
	text = strings.TrimSpace(text)
	var raw json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		if text == "" || strings.ContainsRune(`{["-0123456789`, rune(text[0])) {
			return nil, fmt.Errorf("value %s: not JSON: %w", termwidth.Cut(text, maxValue), err)
		}
		return nil, fmt.Errorf("value %s: want JSON: quote a string like %s", termwidth.Cut(text, maxValue), preview.JSON(termwidth.Cut(text, maxValue), 2*maxValue))
	}
	wrapped, err := engine.Decode([]byte(`{"value":` + text + `}`))
	if err != nil {
		return nil, err
	}
	return wrapped["value"], nil
}

// put returns v, the value at steps[:i], with a value at steps. It changes v and creates missing parents.
func put(v any, steps []engine.Step, i int, value any) (_ any, err error) {
	if i == len(steps) {
		return value, nil
	}
	step := steps[i]
	switch {
	case v == nil && step.Item:
		v = []any{}
	case v == nil:
		v = map[string]any{}
	}
	switch here := v.(type) {
	case map[string]any:
		if step.Item {
			return nil, fmt.Errorf("%s: not a list", engine.FormatPath(steps[:i]))
		}
		here[step.Name], err = put(here[step.Name], steps, i+1, value)
		return here, err
	case []any:
		if !step.Item || step.Index > len(here) {
			return nil, fmt.Errorf("%s: want an index up to %d", engine.FormatPath(steps[:i+1]), len(here))
		}
		if step.Index == len(here) {
			here = append(here, nil)
		}
		here[step.Index], err = put(here[step.Index], steps, i+1, value)
		return here, err
	}
	return nil, fmt.Errorf("%s: neither an object nor a list", engine.FormatPath(steps[:i]))
}

func take(obj map[string]any, steps []engine.Step) error {
	parent, last := steps[:len(steps)-1], steps[len(steps)-1]
	at, ok := valuediff.At(obj, parent...)
	switch here := at.(type) {
	case map[string]any:
		if _, ok := here[last.Name]; ok && !last.Item {
			delete(here, last.Name)
			return nil
		}
	case []any:
		if ok && last.Item && last.Index < len(here) {
			rest := slices.Delete(slices.Clone(here), last.Index, last.Index+1)
			_, err := put(obj, parent, 0, rest)
			return err
		}
	}
	return fmt.Errorf("%s: the object has no value there", engine.FormatPath(steps))
}

func check(ctx context.Context, s *Session, _ string) (string, error) {
	st := s.state
	var old *Document
	if st.old != nil {
		old = &st.old.doc
	}
	decide := s.host.Check
	if st.apply.Kind != "" && s.host.CheckApply != nil {
		decide = s.host.CheckApply(st.crd.writer, st.apply)
	}
	if st.subresource != "" {
		if decide = s.host.CheckStatus; old == nil {
			old = &st.object.doc
		}
	}
	if decide == nil {
		return "", errors.New("objects cannot be checked here")
	}
	if st.crd.builtins != nil {
		return decide(ctx, nil, &st.object.doc, old)
	}
	return decide(ctx, st.crd.engine, &st.object.doc, old)
}

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
