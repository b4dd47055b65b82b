package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
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
	// maxFailures limits how often a list may break off or expire without a new object in between,
	// and how many consecutive pages may be empty.
	maxFailures = 5
)

// bounds limit the size of a whole list. They exceed the capacity of any etcd, so that only a list
// without an end reaches them.
type bounds struct {
	objects int
	bytes   int64
}

var (
	objectBounds = bounds{objects: 100_000_000, bytes: 1 << 40}
	crdBounds    = bounds{objects: 20_000, bytes: 512 << 20} // these are held in memory
)

// A listing reads a list page by page. If the list breaks off, it continues after the last object,
// because lists are ordered by key, as in etcd.
type listing struct {
	client *Client
	path   []string
	bounds bounds
	each   func(key string, raw []byte) error

	requests  int
	token     string
	last      string // key of the last object that was passed to each
	unordered bool   // the keys are not ascending, so the list cannot be continued
	skipSeen  bool   // objects up to last were passed to each before
	given     int
	bytes     int64
	seen      int // including repeated objects

	failures, empty int
	mark            int // the value of given at the last failure
	warned          bool
}

// list calls each with the key and JSON of every object of the list, once per object.
func (l *listing) list(ctx context.Context, wait func()) error {
	for {
		wait()
		if more, err := l.page(ctx); err != nil || !more {
			return err
		}
	}
}

// page reads the next page. more is false after the last page.
func (l *listing) page(ctx context.Context) (more bool, err error) {
	if l.requests++; l.requests > freeRequests+l.given/objectsPerRequest {
		return false, fmt.Errorf("the list does not end: %d requests returned %d objects", l.requests-1, l.given)
	}
	body, err := l.client.get(ctx, l.path, map[string]string{
		"limit": strconv.Itoa(pageSize), "continue": l.token, "labelSelector": l.client.selector,
	})
	if err != nil {
		return true, l.again(ctx, err)
	}
	defer body.Close()
	p, err := readPage(body, pageSize, maxPageBytes, l.take)
	if err != nil {
		return true, l.again(ctx, err)
	}
	if l.empty++; p.items > 0 {
		l.empty = 0
	}
	switch {
	case p.Continue == "":
		return false, nil
	case p.Continue == l.token:
		return false, errors.New("the server returns the same page repeatedly")
	case l.empty >= maxFailures:
		return false, errors.New("the server returns empty pages without end")
	}
	l.token = p.Continue
	return true, nil
}

// take passes an object to each, unless that was done before.
func (l *listing) take(raw []byte) error {
	key := keyOf(raw)
	if l.seen++; l.seen > (maxFailures+1)*l.bounds.objects {
		return errEndless
	}
	if l.skipSeen && key <= l.last {
		return nil
	}
	l.skipSeen = false
	l.unordered = l.unordered || l.given > 0 && key <= l.last
	l.last = key
	l.given++
	if l.bytes += int64(len(raw)); l.given > l.bounds.objects || l.bytes > l.bounds.bytes {
		return errEndless
	}
	return l.each(key, raw)
}

var errEndless = errors.New("the list does not end: more objects than any cluster has")

// again prepares to continue after the last object if err is an expired list or a broken connection.
// If the list expired, it continues with the token that the server sent, or from the beginning. It
// returns an error if the list cannot be continued.
func (l *listing) again(ctx context.Context, err error) error {
	expired := l.token != "" && (apierrors.IsResourceExpired(err) || apierrors.IsGone(err))
	broken := errors.Is(err, errBroken) && !errors.Is(err, errSlow) || utilnet.IsProbableEOF(err) || utilnet.IsConnectionRefused(err) ||
		utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err)
	if l.failures++; l.given > l.mark {
		l.failures, l.mark = 1, l.given
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !expired && !broken, l.failures >= maxFailures:
		return err
	case l.given > 0 && l.unordered:
		return fmt.Errorf("not read completely, because its objects are not sorted: %w", err)
	}
	if (expired || l.token == "") && l.given > 0 && !l.warned { // the rest has a newer state of the cluster
		l.warned = true
		l.client.Warn(fmt.Errorf("%s: the list %s after %d objects: the rest is newer (%w)", l.path[len(l.path)-1], ended(expired), l.given, err))
	}
	l.skipSeen = l.given > 0
	if !expired {
		return pause(ctx, time.Duration(l.failures)*l.client.pause)
	}
	l.token = ""
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		l.token = status.Status().Continue
	}
	return nil
}

func ended(expired bool) string {
	if expired {
		return "expired"
	}
	return "broke off"
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// keyOf returns the sort key of an object in a list: its namespace and name. It returns "" if raw is
// not an object.
func keyOf(raw []byte) string {
	var obj struct {
		Metadata struct{ Namespace, Name string }
	}
	if json.Unmarshal(raw, &obj) != nil {
		return ""
	}
	if obj.Metadata.Namespace == "" {
		return obj.Metadata.Name
	}
	return obj.Metadata.Namespace + "/" + obj.Metadata.Name
}
