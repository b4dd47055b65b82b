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
	// pageSize is the limit in each request, in objects. An API server fills each
	// page of custom resources but the last, and never sends more.
	pageSize = 500
	// maxPageBytes allows each object of a page the 1.5 MiB that etcd accepts by default.
	maxPageBytes = pageSize * 3 << 20 / 2
	// A list takes at most freeRequests and one request more for each objectsPerRequest
	// objects. That bounds a server that sends a few objects on each of endless pages.
	freeRequests      = burst
	objectsPerRequest = pageSize / 10
	// maxFailures is how often in a row a list may break off or expire without a new
	// object between, and how many pages may be empty.
	maxFailures = 5
)

// bounds are what a list may have in all, which is more than any etcd does; a server
// that does not end is told from a large one by them.
type bounds struct {
	objects int
	bytes   int64
}

var (
	objectBounds = bounds{objects: 100_000_000, bytes: 1 << 40}
	crdBounds    = bounds{objects: 20_000, bytes: 512 << 20} // these are held
)

// listing reads a list page by page, and goes on where it broke off: lists are in the
// order of their keys, as etcd has them.
type listing struct {
	client *Client
	path   []string
	bounds bounds
	each   func(key string, raw []byte) error

	requests  int
	token     string
	last      string // the key of the object that was given last
	unordered bool   // keys did not grow: nobody knows what stands behind the last
	behind    bool   // what is not behind the last was given before
	given     int
	bytes     int64
	seen      int // with what was given before

	failures, empty int
	mark            int // given at the last failure
	told            bool
}

// list gives each the objects at a path with their keys, none of them twice.
func (l *listing) list(ctx context.Context, wait func()) error {
	for {
		wait()
		if more, err := l.page(ctx); err != nil || !more {
			return err
		}
	}
}

// page reads one page; more is false behind the last.
func (l *listing) page(ctx context.Context) (more bool, err error) {
	if l.requests++; l.requests > freeRequests+l.given/objectsPerRequest {
		return false, fmt.Errorf("the list has no end: %d requests returned %d objects", l.requests-1, l.given)
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
		return false, errors.New("the server gives a page again and again")
	case l.empty >= maxFailures:
		return false, errors.New("the server gives empty pages without end")
	}
	l.token = p.Continue
	return true, nil
}

// take gives an object away, unless it was given before.
func (l *listing) take(raw []byte) error {
	key := keyOf(raw)
	if l.seen++; l.seen > (maxFailures+1)*l.bounds.objects {
		return errEndless
	}
	if l.behind && key <= l.last {
		return nil
	}
	l.behind = false
	l.unordered = l.unordered || l.given > 0 && key <= l.last
	l.last = key
	l.given++
	if l.bytes += int64(len(raw)); l.given > l.bounds.objects || l.bytes > l.bounds.bytes {
		return errEndless
	}
	return l.each(key, raw)
}

var errEndless = errors.New("the list has no end: more objects than any cluster has")

// again prepares to read on behind the last object: where the server has forgotten the
// list, as it says, or else from the beginning; and where the connection broke.
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
		return fmt.Errorf("not read to its end, for its objects are in no order: %w", err)
	}
	if (expired || l.token == "") && l.given > 0 && !l.told { // another state of the cluster
		l.told = true
		l.client.Tell(fmt.Errorf("%s: the list %s behind %d objects: the rest is as it is now (%w)", l.path[len(l.path)-1], ended(expired), l.given, err))
	}
	l.behind = l.given > 0
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

// keyOf is what objects are ordered by, their namespace and name; "" of what is none.
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
