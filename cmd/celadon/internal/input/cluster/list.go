package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"

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

// list calls each with the JSON of every object of the list.
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
		return true, l.expired(err)
	}
	defer body.Close()
	p, err := readPage(body, pageSize, maxPageBytes, l.take)
	if err != nil {
		return false, err
	}
	switch {
	case p.Continue == "":
		return false, nil
	case p.Continue == l.token:
		return false, errors.New("the server returns the same page repeatedly")
	}
	l.token = p.Continue
	return true, nil
}

func (l *listing) take(raw []byte) error {
	l.given++
	if l.bytes += int64(len(raw)); l.given > l.bounds.objects || l.bytes > l.bounds.bytes {
		return errEndless
	}
	return l.each(raw)
}

var errEndless = errors.New("the list does not end: more objects than any cluster has")

// expired prepares to continue a list that has expired, with the token that the server sends for that. It returns all
// other errors.
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
