package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// maxValue is how much of one value of a list is held, which may be an object: a
	// server takes no more than 3 MiB of one.
	maxValue = 8 << 20
	// maxFields are those of a list beside its items.
	maxFields = 100
)

// page is what a list says beside its items.
type page struct {
	Continue string
	items    int
	maxItems int
	listed   bool // it had items, if none
}

// readPage reads a list of at most maxItems items and maxBytes bytes, and passes each item
// to item once it is complete. It returns an error of item unchanged. An error of the
// connection is errBroken.
func readPage(r io.Reader, maxItems int, maxBytes int64, item func([]byte) error) (*page, error) {
	m := &metered{r: r, maxBytes: maxBytes, left: maxBytes}
	p := &page{maxItems: maxItems}
	err := p.read(m, json.NewDecoder(m), item)
	switch {
	case m.err != nil && err != nil && !errors.Is(err, errEnough):
		err = fmt.Errorf("%w: %w", errBroken, m.err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("%w: %w", errBroken, io.ErrUnexpectedEOF)
	}
	return p, err
}

var (
	errBroken = errors.New("the list broke off")
	errList   = errors.New("the server sent what is no list")
)

func (p *page) read(m *metered, dec *json.Decoder, item func([]byte) error) error {
	if err := open(m, dec, '{'); err != nil {
		return err
	}
	for fields := 0; dec.More(); fields++ {
		if fields > maxFields {
			return errList
		}
		name, err := dec.Token()
		if err != nil {
			return wrong(err)
		}
		m.taken = 0
		switch name {
		case "items":
			p.listed = true
			err = p.list(m, dec, item)
		case "kind":
			var kind string
			if err = wrong(dec.Decode(&kind)); err == nil && !strings.HasSuffix(kind, "List") {
				err = errList // a Status, in an answer that is said to be good
			}
		case "metadata":
			err = wrong(dec.Decode(p))
		default:
			var other json.RawMessage
			err = wrong(dec.Decode(&other))
		}
		if err != nil {
			return err
		}
		m.taken = 0
	}
	_, err := dec.Token()
	if err == nil && !p.listed {
		err = errList
	}
	return wrong(err)
}

func (p *page) list(m *metered, dec *json.Decoder, item func([]byte) error) error {
	if err := open(m, dec, '['); err != nil {
		return err
	}
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return wrong(err)
		}
		m.taken = 0
		if p.items++; p.items > p.maxItems {
			return fmt.Errorf("the server sent more than the %d objects that the request asked for", p.maxItems)
		}
		if err := item(raw); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return wrong(err)
}

func open(m *metered, dec *json.Decoder, want json.Delim) error {
	got, err := dec.Token()
	if err != nil {
		return wrong(err)
	}
	if got != want {
		return errList
	}
	m.taken = 0
	return nil
}

// wrong tells what is no JSON from what ended too early.
func wrong(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errLarge) || errors.Is(err, errLargePage) || errors.Is(err, errList) {
		return err
	}
	return fmt.Errorf("%w: %w", errList, err)
}

// A metered reader ends a page that is too large, or that has a value that is.
type metered struct {
	r        io.Reader
	taken    int // since the last value
	maxBytes int64
	left     int64 // of maxBytes
	err      error // of reading, other than its end
}

var errLargePage = errors.New("the server sent a page that is too large")

var errLarge = fmt.Errorf("more than %d MiB for one object: no server takes that", maxValue>>20)

func (m *metered) Read(p []byte) (int, error) {
	if m.taken > maxValue {
		return 0, errLarge
	}
	if m.left == 0 {
		return 0, fmt.Errorf("%w: more than %d bytes", errLargePage, m.maxBytes)
	}
	n, err := m.r.Read(p[:min(int64(len(p)), m.left)])
	m.taken += n
	m.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		m.err = err
	}
	return n, err
}
