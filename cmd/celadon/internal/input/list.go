package input

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// An object reads a JSON object, and yields its items if it is a List.
type object struct {
	*splitter
	kind, apiVersion string
	items            int // offset of the items if they were not streamed, else 0
	streamed         bool
	stopped          bool
}

// members reads the members of the object from offset i, which is after its bracket or after a member.
func (o *object) members(i int, first bool) (end int, err error) {
	for ; ; first = false {
		c, i2, err := o.next(i)
		if err != nil {
			return i2, err
		}
		i = i2
		if c == '}' {
			return o.finish(i + 1)
		}
		if !first {
			if c != ',' {
				return i, fmt.Errorf("invalid character %q after a field's value", c)
			}
			if c, i, err = o.next(i + 1); err != nil {
				return i, err
			}
		}
		if c != '"' {
			return i, fmt.Errorf("invalid character %q: want a field's name", c)
		}
		if i, err = o.member(i); err != nil || o.stopped {
			return i, err
		}
	}
}

func (o *object) next(i int) (c byte, at int, err error) {
	i, ok := o.w.blank(i)
	if !ok {
		return 0, i, errCut
	}
	c, _ = o.w.at(i)
	return c, i, nil
}

func (o *object) member(i int) (int, error) {
	end, err := o.w.stringEnd(i)
	if err != nil {
		return end, err
	}
	// The name is compared here, because reading on can move the buffer.
	name := o.w.rest()[i:end]
	isItems, isKind, isAPIVersion := string(name) == `"items"`, string(name) == `"kind"`, string(name) == `"apiVersion"`
	c, i, err := o.next(end)
	if err != nil {
		return i, err
	}
	if c != ':' {
		return i, fmt.Errorf("invalid character %q after a field's name", c)
	}
	if c, i, err = o.next(i + 1); err != nil {
		return i, err
	}
	if isItems && c == '[' && !o.streamed {
		return o.itemsAt(i)
	}
	if end, err = o.w.valueEnd(i, maxObject); err != nil {
		return end, err
	}
	switch value := bytes.Trim(o.w.rest()[i:min(end, i+300)], `"`); {
	case isKind:
		o.kind = string(value)
	case isAPIVersion:
		o.apiVersion = string(value)
	}
	return end, nil
}

// itemsAt reads the array of items at offset i. It yields the items if the object is a List, as far as that is known.
// Otherwise, finish yields them if the object turns out to be a List.
func (o *object) itemsAt(i int) (int, error) {
	if o.isList() || o.kind == "" && o.apiVersion == "v1" {
		return o.stream(i)
	}
	limit := maxObject
	if o.kind == "" {
		limit = maxUndecided
	}
	end, err := o.w.valueEnd(i, i+limit)
	if errors.Is(err, errTooLong) && o.kind == "" {
		return o.stream(i) // only a List can be this large
	}
	o.items = i
	return end, err
}

func (o *object) isList() bool { return strings.HasSuffix(o.kind, "List") }

func (o *object) finish(end int) (int, error) {
	switch {
	case o.streamed:
		o.w.skip(end)
		return 0, nil
	case o.items > 0 && o.isList():
		end, err := o.stream(o.items)
		if err != nil || o.stopped {
			return end, err
		}
		o.items = 0
		return o.members(end, false)
	}
	return end, nil
}

// stream yields the items of the array at offset i, each as soon as its end is found, and consumes the input. It
// stops at the first error: the items after it cannot be distinguished from its parts.
func (o *object) stream(i int) (int, error) {
	index := o.index
	o.index++
	o.streamed = true
	o.w.skip(i + 1)
	comma := true // or the beginning of the array
	for item := 0; ; {
		c, i, err := o.next(0)
		if err != nil {
			return o.abandon(index, item, errCut)
		}
		before := o.beforeOnLine(i)
		switch o.w.skip(i); {
		case c == ']':
			o.w.skip(1)
			return 0, nil
		case c == ',':
			o.w.skip(1)
			comma = true
			continue
		case !comma:
			o.stopped = !o.yield(o.lost(index, item, errNoComma))
			return 0, errAbandoned // the rest may be objects of their own
		}
		comma = false
		chunk := Chunk{File: o.file, form: jsonItem, index: index, item: item, before: before}
		chunk.line, chunk.column = o.w.lineColumn(0)
		end, err := o.w.valueEnd(0, maxObject)
		if err != nil {
			o.countFutile(end)
			return o.abandon(index, item, err)
		}
		chunk.text = o.w.take(end)
		if item++; !o.yield(chunk) {
			o.stopped = true
			return 0, nil
		}
	}
}

var errNoComma = errors.New("a comma is missing before an item")

var errAbandoned = errors.New("abandoned")

func (o *object) abandon(index, item int, err error) (int, error) {
	o.stopped = !o.yield(o.lost(index, item, err))
	o.resume()
	return 0, errAbandoned
}

func (o *object) lost(index, item int, err error) Chunk {
	return Chunk{File: o.file, index: index, item: item, line: o.w.line, err: fmt.Errorf("not JSON: %w", err)}
}

// maxBefore limits the bytes before an item on its line that are kept for excerpts.
const maxBefore = 120

// beforeOnLine misses bytes that are no longer in the window.
func (o *object) beforeOnLine(i int) []byte {
	line := o.w.rest()[:i]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	return bytes.Clone(line[max(0, len(line)-maxBefore):])
}
