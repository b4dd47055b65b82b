package input

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An object reads the members of a JSON object until it is clear whether it is a List.
type object struct {
	*splitter
	kind, apiVersion string
	items            int  // offset of the items if they come before the kind, else 0
	streamed         bool // the items were yielded, individually
	stopped          bool // yield returned false
}

// members reads the object at offset i and returns the offset after it.
func (o *object) members(i int) (end int, err error) {
	i++
	for first := true; ; first = false {
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

// member reads the field whose name is at offset i.
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

// itemsAt reads the array of items at offset i. It yields the items immediately if the object is
// known to be a List.
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

// finish handles the end of the object. If the object turned out to be a List, it yields the items.
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
		return o.rest(end)
	}
	return end, nil
}

// rest reads the members that follow the items.
func (o *object) rest(i int) (int, error) {
	for {
		c, i2, err := o.next(i)
		if err != nil {
			return i2, err
		}
		i = i2
		switch c {
		case '}':
			return o.finish(i + 1)
		case ',':
			if _, i, err = o.next(i + 1); err == nil {
				i, err = o.member(i)
			}
			if err != nil {
				return i, err
			}
		default:
			return i, fmt.Errorf("invalid character %q after a field's value", c)
		}
	}
}

// stream yields the items of the array at offset i, each as soon as its end is found. Afterwards,
// the window starts after the array.
func (o *object) stream(i int) (int, error) {
	index := o.index
	o.index++
	o.streamed = true
	o.w.skip(i + 1)
	comma := true // or the beginning of the array
	for item := 0; ; {
		c, i, err := o.next(0)
		if err != nil {
			o.stopped = o.stopped || !o.yield(o.lost(index, item, errCut))
			return o.abandon()
		}
		before := o.beforeOnLine(i)
		switch o.w.skip(i); c {
		case ']':
			o.w.skip(1)
			return 0, nil
		case ',':
			o.w.skip(1)
			comma = true
			continue
		}
		if !comma {
			o.stopped = !o.yield(o.lost(index, item, errNoComma))
		}
		comma = false
		more, found := o.item(index, item, before)
		item++
		if !more || o.stopped {
			o.stopped = true
			return 0, nil
		}
		if !found {
			return o.abandon()
		}
	}
}

var errNoComma = errors.New("a comma is missing before an item")

// errAbandoned ends the reading of a List. The cause has been reported before.
var errAbandoned = errors.New("abandoned")

// abandon skips the rest of a List whose items cannot be distinguished.
func (o *object) abandon() (int, error) {
	o.resume()
	return 0, errAbandoned
}

func (o *object) lost(index, item int, err error) Chunk {
	return Chunk{File: o.file, index: index, item: item, line: o.w.line, err: fmt.Errorf("not JSON: %w", err)}
}

// item yields the item at the window's start. It returns more as false if yield returned false, and
// found as false if the next item cannot be found.
func (o *object) item(index, item int, before []byte) (more, found bool) {
	line, column := o.w.lineColumn(0)
	end, err := o.itemEnd(before)
	if err != nil {
		bad := o.lost(index, item, err)
		if o.countFutile(end) {
			return o.yield(bad), false
		}
		found = o.nextItem(before)
		return o.yield(bad), found
	}
	c := Chunk{File: o.file, form: jsonItem, index: index, item: item, line: line, column: column, before: before}
	c.text = o.w.take(end)
	return o.yield(c), true
}

// itemEnd returns the end of the item at the window's start. If an item is truncated, the items
// after it may seem to be part of it until the List ends too early. Therefore an item that contains
// something like the beginning of the next item is considered truncated.
func (o *object) itemEnd(before []byte) (int, error) {
	end, err := o.w.valueEnd(0, maxObject)
	if err != nil {
		return end, err
	}
	if ownLine(before) && !bytes.Contains(o.w.rest()[:end], nextBelow(before)) {
		return end, nil
	}
	if c, _, err := o.next(end); err == nil && (c == ',' || c == ']') {
		return end, nil
	}
	if !ownLine(before) && !itemStart.Match(o.w.rest()[:end]) {
		return end, nil
	}
	return end, errCut
}

// ownLine reports whether an item begins a line. In a List with one item per line, the items then
// have the same indentation.
func ownLine(before []byte) bool {
	return len(before) > 0 && len(bytes.TrimLeft(before, " \t")) == 0
}

// nextBelow returns the bytes with which the next item begins if items begin lines.
func nextBelow(before []byte) []byte {
	return slices.Concat(newline, before, []byte{'{'})
}

// maxBefore limits the bytes before an item on its line that are kept for excerpts.
const maxBefore = 120

// beforeOnLine returns the bytes before offset i on its line, as far as they are still in the window.
func (o *object) beforeOnLine(i int) []byte {
	line := o.w.rest()[:i]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	return bytes.Clone(line[max(0, len(line)-maxBefore):])
}

// itemStart matches the beginning of an item in a List without line breaks.
var itemStart = regexp.MustCompile(`,\s*\{\s*"(?:apiVersion|kind)"\s*:`)

// nextItem skips from a malformed item to the next one: a line with the same indentation that begins
// an object, or, in a List without line breaks, the next match of itemStart. It reports whether
// it found an item or the end of the List.
func (o *object) nextItem(before []byte) bool {
	if !ownLine(before) {
		return o.nextInline()
	}
	begin := nextBelow(before)[len(newline):]
	for n := 0; n < maxObject; {
		length := o.w.lineEnd(n)
		if length == 0 {
			return false
		}
		n += length
		o.w.lineEnd(n)
		next := o.w.rest()[n:]
		trimmed := bytes.TrimLeft(next, " \t")
		closing := len(trimmed) > 0 && trimmed[0] == ']' && len(next)-len(trimmed) < len(before)
		if closing || bytes.HasPrefix(next, begin) {
			o.w.skip(n)
			return true
		}
	}
	return false
}

func (o *object) nextInline() bool {
	const overlap = 64 // the beginning of an item may be split between two reads
	for from := 0; ; {
		if at := itemStart.FindIndex(o.w.rest()[from:]); at != nil {
			o.w.skip(from + at[0])
			return true
		}
		from = max(0, len(o.w.rest())-overlap)
		if from > maxObject || !o.w.more() {
			return false
		}
	}
}
