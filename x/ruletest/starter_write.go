package ruletest

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/valuediff"
)

func (w *suiteGenerator) write(cases []*started) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Written by celadon test init. Each case passed when it was written. Edit as you like.\nkind: %s\napiVersion: %s\n", Kind, APIVersion)
	writeField(&b, "", "name", w.Definition.Spec.Names.Plural+" "+w.Version)
	writeField(&b, "", "crd", w.CRDPath)
	writeField(&b, "", "version", w.Version)
	if w.base != nil {
		writeField(&b, "", "base", w.base)
	}
	b.WriteString("tests:\n")
	for _, c := range cases {
		for line := range strings.Lines(strings.TrimSpace(c.comment)) {
			fmt.Fprintf(&b, "# %s\n", untrusted.Line(strings.TrimRight(line, "\n")))
		}
		w.writeCase(&b, c)
	}
	return b.Bytes()
}

func (w *suiteGenerator) writeCase(b *bytes.Buffer, c *started) {
	var one bytes.Buffer
	writeField(&one, "  ", "name", c.name)
	switch {
	case c.skip != "":
		writeField(&one, "  ", "skip", c.skip)
	default:
		if w.base == nil || c.req.OldObject != nil || !reflect.DeepEqual(c.req.Object, w.base) {
			w.put(&one, "object", "patch", c.req.Object)
		}
		if c.req.OldObject != nil {
			w.put(&one, "old", "oldPatch", c.req.OldObject)
		}
		if c.req.Subresource != "" {
			writeField(&one, "  ", "subresource", c.req.Subresource)
		}
		c.writeExpected(&one)
	}
	b.WriteString("- ")
	b.Write(one.Bytes()[2:])
}

// writeExpected writes causes with their keys in the usual order.
func (c *started) writeExpected(b *bytes.Buffer) {
	if len(c.causes) == 0 {
		writeField(b, "  ", "expect", "valid")
		return
	}
	b.WriteString("  expect:\n    causes:\n")
	for _, cause := range c.causes {
		var one bytes.Buffer
		if cause.Field != "" {
			writeField(&one, "      ", "field", cause.Field)
		}
		writeField(&one, "      ", "reason", string(cause.Reason))
		if !strings.HasPrefix(cause.Message, "~") {
			writeField(&one, "      ", "message", cause.Message)
		}
		b.WriteString("    - ")
		b.Write(one.Bytes()[6:])
	}
}

// put writes an object, as a patch of base if that is shorter and produces the same object.
func (w *suiteGenerator) put(b *bytes.Buffer, whole, patch string, object map[string]any) {
	var long, short bytes.Buffer
	writeField(&long, "  ", whole, object)
	if w.base != nil {
		p := patchOf(w.base, object)
		if writeField(&short, "  ", patch, p); short.Len() < long.Len() && reflect.DeepEqual(valuediff.Merge(w.base, p), any(object)) {
			b.Write(short.Bytes())
			return
		}
	}
	b.Write(long.Bytes())
}

// patchOf returns a merge patch (RFC 7386) from one object to another.
func patchOf(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(from)) {
		if _, ok := to[key]; !ok {
			patch[key] = nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(to)) {
		v, was := to[key], from[key]
		below, isMap := v.(map[string]any)
		before, wasMap := was.(map[string]any)
		switch {
		case reflect.DeepEqual(v, was):
		case isMap && wasMap:
			patch[key] = patchOf(before, below)
		default:
			patch[key] = v
		}
	}
	return patch
}

// writeField writes a key and its value, indented.
func writeField(b *bytes.Buffer, indent, key string, v any) {
	data, err := untrusted.YAML(map[string]any{key: v})
	if err != nil { // impossible for decoded values
		return
	}
	for line := range strings.Lines(string(data)) {
		if line != "\n" {
			b.WriteString(indent)
		}
		b.WriteString(line)
	}
}
