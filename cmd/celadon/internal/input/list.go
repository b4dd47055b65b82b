package input

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// object reads the members of a JSON object as far as is needed to tell a List
// from an object.
type object struct {
	*splitter
	kind, apiVersion string
	items            int  // where the items begin, when that is known too early; else 0
	streamed         bool // the items were given away, one by one
	stopped          bool // by yield
}

// members reads the object at offset i to its end.
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

// member reads one field, whose name is at offset i.
func (o *object) member(i int) (int, error) {
	end, err := o.w.stringEnd(i)
	if err != nil {
		return end, err
	}
	name := string(o.w.rest()[i:end])
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
	if name == `"items"` && c == '[' && !o.streamed {
		return o.itemsAt(i)
	}
	if end, err = o.w.valueEnd(i, maxObject); err != nil {
		return end, err
	}
	switch value := strings.Trim(string(o.w.rest()[i:min(end, i+300)]), `"`); name {
	case `"kind"`:
		o.kind = value
	case `"apiVersion"`:
		o.apiVersion = value
	}
	return end, nil
}

// itemsAt gives items away at once where the object is known to be a List.
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
		return o.stream(i) // too large for anything else
	}
	o.items = i
	return end, err
}

func (o *object) isList() bool { return strings.HasSuffix(o.kind, "List") }

// finish is at the object's end.
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

// rest reads the members behind the items.
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

// stream gives away the items of the array at offset i, each as soon as its end
// is found. The window then stands behind the array.
func (o *object) stream(i int) (int, error) {
	index := o.index
	o.index++
	o.streamed = true
	o.w.skip(i + 1)
	comma := true // or the list's begin
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

// errAbandoned ends the reading of a List; it was reported before.
var errAbandoned = errors.New("abandoned")

// abandon gives up what is left of a List that cannot be told apart.
func (o *object) abandon() (int, error) {
	o.resume()
	return 0, errAbandoned
}

func (o *object) lost(index, item int, err error) Chunk {
	return Chunk{File: o.file, index: index, item: item, line: o.w.line, err: fmt.Errorf("not JSON: %w", err)}
}

// item gives away the item at the window's start; found is false when no later
// item can be found.
func (o *object) item(index, item int, before []byte) (more, found bool) {
	line, column := o.w.place(0)
	end, err := o.itemEnd(before)
	if err != nil {
		bad := o.lost(index, item, err)
		if o.inVain(end) {
			return o.yield(bad), false
		}
		found = o.nextItem(before)
		return o.yield(bad), found
	}
	c := Chunk{File: o.file, form: jsonItem, index: index, item: item, line: line, column: column, before: before}
	c.text = o.w.take(end)
	return o.yield(c), true
}

// itemEnd is where the item at the window's start ends. One that is cut off may
// look as if the items after it were its own, until the List ends too early: then
// an item that holds what looks like the next one is taken for cut off.
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

// ownLine is true for an item that begins a line, as in a List with an item a
// line: then they stand below each other.
func ownLine(before []byte) bool {
	return len(before) > 0 && len(bytes.TrimLeft(before, " \t")) == 0
}

// nextBelow is how an item below another one begins.
func nextBelow(before []byte) []byte {
	return slices.Concat(newline, before, []byte{'{'})
}

// maxBefore is how much of a line stands before an item in an excerpt.
const maxBefore = 120

// beforeOnLine is what stands before offset i on its line, as far as it is
// still there.
func (o *object) beforeOnLine(i int) []byte {
	line := o.w.rest()[:i]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	return bytes.Clone(line[max(0, len(line)-maxBefore):])
}

// itemStart is how the items of a List without line breaks begin.
var itemStart = regexp.MustCompile(`,\s*\{\s*"(?:apiVersion|kind)"\s*:`)

// nextItem goes from a bad item to the next one: a line that is indented as the
// bad one and begins as it, or else what begins as an object does.
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
	const overlap = 64 // a start may be cut in two by a read
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
