package input

import (
	"bytes"
	"strings"
)

// scanIdentity returns the apiVersion, kind, name, generateName, and namespace of a JSON object without
// decoding the rest. The values equal those that decoding would return. It returns nil if that is
// not certain.
func (c *Chunk) scanIdentity() map[string]any {
	switch {
	case c.form != jsonValue && c.form != jsonItem && c.form != liveObject, len(c.text) == 0 || c.text[0] != '{':
		return nil
	}
	w := bytesWindow(c.text)
	top, ok := fields(w, 0, "apiVersion", "kind", "metadata")
	if !ok {
		return nil
	}
	obj, meta := map[string]any{}, map[string]any{}
	if c.form == liveObject && top["apiVersion"] == nil && top["kind"] == nil {
		obj["apiVersion"], obj["kind"] = c.apiVersion, c.kind
	}
	if !plainTexts(obj, top, "apiVersion", "kind") || obj["apiVersion"] == nil || obj["kind"] == nil || strings.HasSuffix(obj["kind"].(string), "List") {
		return nil
	}
	if value := top["metadata"]; value != nil {
		within, ok := fields(bytesWindow(value), 0, "name", "generateName", "namespace")
		if !ok || !plainTexts(meta, within, "name", "generateName", "namespace") {
			return nil
		}
	}
	obj["metadata"] = meta
	return obj
}

// fields returns the raw values of the wanted fields of the JSON object at offset i. It returns
// false if a wanted field occurs twice, or if a name contains an escape sequence and could therefore
// be a wanted name.
func fields(w *window, i int, wanted ...string) (map[string][]byte, bool) {
	found := map[string][]byte{}
	if c, ok := w.at(i); !ok || c != '{' {
		return nil, false
	}
	for sep := byte('{'); ; {
		start, ok := w.blank(i + 1)
		c, _ := w.at(start)
		if ok && c == '}' && sep == '{' {
			return found, isAtEnd(w, start+1)
		}
		if !ok || c != '"' {
			return nil, false
		}
		after, err := w.stringEnd(start)
		if err != nil {
			return nil, false
		}
		name := w.rest()[start+1 : after-1]
		colon, ok := w.blank(after)
		if c, _ = w.at(colon); !ok || c != ':' || bytes.IndexByte(name, '\\') >= 0 {
			return nil, false
		}
		if start, ok = w.blank(colon + 1); !ok {
			return nil, false
		}
		if after, err = w.valueEnd(start, maxObject); err != nil {
			return nil, false
		}
		for _, text := range wanted {
			if string(name) != text {
				continue
			}
			if found[text] != nil {
				return nil, false
			}
			found[text] = w.rest()[start:after]
		}
		if i, ok = w.blank(after); !ok {
			return nil, false
		}
		if sep, _ = w.at(i); sep == '}' {
			return found, isAtEnd(w, i+1)
		} else if sep != ',' {
			return nil, false
		}
	}
}

// isAtEnd reports whether only white space follows.
func isAtEnd(w *window, i int) bool {
	i, _ = w.blank(i)
	_, more := w.at(i)
	return !more
}

// plainTexts sets the named fields that were found in into. It reports whether all their values are
// strings of printable ASCII characters without escape sequences.
func plainTexts(into map[string]any, found map[string][]byte, names ...string) bool {
	for _, name := range names {
		value := found[name]
		if value == nil {
			continue
		}
		if len(value) < 2 || value[0] != '"' || bytes.ContainsFunc(value, func(r rune) bool { return r == '\\' || r < ' ' || r > '~' }) {
			return false
		}
		into[name] = string(value[1 : len(value)-1])
	}
	return true
}
