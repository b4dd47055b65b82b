package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// pageSize is the limit in each request, in objects. An API server fills every page of custom
	// resources except the last, and never sends more.
	pageSize = 500
	// maxPageBytes allows each object of a page the 1.5 MiB that etcd accepts by default.
	maxPageBytes = pageSize * 3 << 20 / 2
	// A list takes at most freeRequests requests, plus one for each objectsPerRequest objects. This
	// stops a server that sends endless pages with a few objects each.
	freeRequests      = burst
	objectsPerRequest = pageSize / 10
)

// bounds limit the size of a whole list. They are so large that only a list without an end reaches them.
type bounds struct {
	objects int
	bytes   int64
}

var (
	objectBounds = bounds{objects: 100_000_000, bytes: 1 << 40}
	crdBounds    = bounds{objects: 20_000, bytes: 512 << 20} // these are held in memory
)

type listing struct {
	client *Client
	path   []string
	bounds bounds
	each   func(raw []byte) error

	requests int
	token    string
	given    int
	bytes    int64
	warned   bool
}

func (l *listing) list(ctx context.Context, wait func()) error {
	for {
		wait()
		if more, err := l.page(ctx); err != nil || !more {
			return err
		}
	}
}

func (l *listing) page(ctx context.Context) (more bool, err error) {
	if l.requests++; l.requests > freeRequests+l.given/objectsPerRequest {
		return false, fmt.Errorf("the list does not end: %d requests returned %d objects", l.requests-1, l.given)
	}
	body, err := l.client.get(ctx, l.path, map[string]string{
		"limit": strconv.Itoa(pageSize), "continue": l.token, "labelSelector": l.client.selector,
	})
	if err != nil {
		return true, l.expired(err)
	}
	defer body.Close()
	next, err := readPage(body, pageSize, maxPageBytes, l.take)
	if err == nil && next != "" && next == l.token {
		err = errors.New("the server returns the same page repeatedly")
	}
	l.token = next
	return err == nil && next != "", err
}

func (l *listing) take(raw []byte) error {
	l.given++
	if l.bytes += int64(len(raw)); l.given > l.bounds.objects || l.bytes > l.bounds.bytes {
		return errEndless
	}
	return l.each(raw)
}

var errEndless = errors.New("the list does not end: more objects than any cluster has")

// expired continues an expired list with the token that the server sends for that, if any. Otherwise, it returns
// err.
func (l *listing) expired(err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) || status.Status().Continue == "" {
		return err
	}
	if !l.warned { // the rest has a newer state of the cluster
		l.warned = true
		l.client.Warn(fmt.Errorf("%s: the list expired after %d objects: the rest is newer (%w)", l.path[len(l.path)-1], l.given, err))
	}
	l.token = status.Status().Continue
	return nil
}

const (
	// maxValue limits the size of a value in a list, such as an object. A server accepts objects of at most 3 MiB.
	maxValue  = 8 << 20
	maxFields = 100
)

// A page is a reader that limits the size of a page, and of each value in it.
type page struct {
	io.Reader
	dec      *json.Decoder
	maxItems int
	maxBytes int64
	left     int64
	err      error
}

// readPage reads a list of at most maxItems items and maxBytes bytes, and calls item with each complete item. It
// returns the token for the next page, or "". errBroken means that the connection broke.
func readPage(r io.Reader, maxItems int, maxBytes int64, item func([]byte) error) (next string, err error) {
	p := &page{Reader: r, maxItems: maxItems, maxBytes: maxBytes, left: maxBytes}
	p.dec = json.NewDecoder(p)
	next, err = p.list(item)
	switch {
	case p.err != nil && err != nil && !errors.Is(err, errEnough):
		err = fmt.Errorf("%w: %w", errBroken, p.err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("%w: %w", errBroken, io.ErrUnexpectedEOF)
	case errors.As(err, new(*json.SyntaxError)), errors.As(err, new(*json.UnmarshalTypeError)):
		err = fmt.Errorf("%w: %w", errList, err)
	}
	return next, err
}

var (
	errBroken    = errors.New("the list broke off")
	errList      = errors.New("the server's response is not a list")
	errLargePage = errors.New("the server sent a page that is too large")
	errLarge     = fmt.Errorf("more than %d MiB for one object: no server accepts that", maxValue>>20)
)

func (p *page) list(item func([]byte) error) (next string, err error) {
	if err := p.open('{'); err != nil {
		return "", err
	}
	listed := false
	for fields := 0; p.dec.More(); fields++ {
		if fields > maxFields {
			return "", errList
		}
		name, err := p.dec.Token()
		if err != nil {
			return "", err
		}
		var kind string
		var other json.RawMessage
		var metadata struct{ Continue string }
		switch name {
		case "items":
			listed = true
			err = p.items(item)
		case "kind":
			if err = p.dec.Decode(&kind); err == nil && !strings.HasSuffix(kind, "List") {
				err = errList // a Status in a successful response
			}
		case "metadata":
			err = p.dec.Decode(&metadata)
			next = metadata.Continue
		default:
			err = p.dec.Decode(&other)
		}
		if err != nil {
			return "", err
		}
	}
	if _, err = p.dec.Token(); err == nil && !listed {
		err = errList
	}
	return next, err
}

func (p *page) items(item func([]byte) error) error {
	if err := p.open('['); err != nil {
		return err
	}
	for n := 1; p.dec.More(); n++ {
		var raw json.RawMessage
		if err := p.dec.Decode(&raw); err != nil {
			return err
		}
		if n > p.maxItems {
			return fmt.Errorf("the server sent more than the %d requested objects", p.maxItems)
		}
		if err := item(raw); err != nil {
			return err
		}
	}
	_, err := p.dec.Token()
	return err
}

func (p *page) open(want json.Delim) error {
	got, err := p.dec.Token()
	if err == nil && got != want {
		err = errList
	}
	return err
}

func (p *page) Read(b []byte) (int, error) {
	if p.maxBytes-p.left-p.dec.InputOffset() > maxValue { // the decoder reads only to complete a value
		return 0, errLarge
	}
	if p.left == 0 {
		return 0, fmt.Errorf("%w: more than %d bytes", errLargePage, p.maxBytes)
	}
	n, err := p.Reader.Read(b[:min(int64(len(b)), p.left)])
	p.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		p.err = err
	}
	return n, err
}
