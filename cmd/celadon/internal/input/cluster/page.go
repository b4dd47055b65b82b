package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// maxValue limits the size of a value in a list, such as an object. A server accepts objects of at most 3 MiB.
	maxValue = 8 << 20
	// maxFields limits the fields of a list other than its items.
	maxFields = 100
)

// A page holds the metadata of a page of a list.
type page struct {
	Continue string
	items    int
	maxItems int
	listed   bool // the list has the field items, perhaps empty
}

// readPage reads a list of at most maxItems items and maxBytes bytes, and calls item with each
// complete item. It returns errors of item unchanged. It returns errBroken if the connection breaks.
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
	errList   = errors.New("the server's response is not a list")
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
				err = errList // a Status in a successful response
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
			return fmt.Errorf("the server sent more than the %d requested objects", p.maxItems)
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

// wrong wraps JSON errors in errList. It returns other errors unchanged, in particular the end of the data.
func wrong(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errLarge) || errors.Is(err, errLargePage) || errors.Is(err, errList) {
		return err
	}
	return fmt.Errorf("%w: %w", errList, err)
}

// A metered reader returns an error if a page, or a value in it, is too large.
type metered struct {
	r        io.Reader
	taken    int // bytes since the last value
	maxBytes int64
	left     int64 // of maxBytes
	err      error // from reading, except io.EOF
}

var errLargePage = errors.New("the server sent a page that is too large")

var errLarge = fmt.Errorf("more than %d MiB for one object: no server accepts that", maxValue>>20)

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
