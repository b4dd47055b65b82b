package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	pageSize = 500
	// maxPages is more than any etcd holds of one kind.
	maxPages = 200_000
	// maxFailures is how often in a row a list may break off, expire or give an
	// empty page, without an object between.
	maxFailures = 5
)

// listing reads a list page by page.
type listing struct {
	client *Client
	path   []string
	each   func([]byte) error

	token string
	last  []byte // the object that was given last
	// behind is the key of the object that the next one stands behind, after a list
	// broke off: lists are in the order of their keys, as etcd has them.
	behind          string
	given, failures int
	told            bool
}

// list gives each the objects at a path, none of them twice.
func (c *Client) list(ctx context.Context, path []string, wait func(), each func([]byte) error) error {
	l := &listing{client: c, path: path, each: each}
	for range maxPages {
		wait()
		if more, err := l.page(ctx); err != nil || !more {
			return err
		}
	}
	return fmt.Errorf("more than %d pages: no cluster has as many objects", maxPages)
}

// page reads one page; more is false behind the last.
func (l *listing) page(ctx context.Context) (more bool, err error) {
	body, err := l.client.get(ctx, l.path, map[string]string{
		"limit": strconv.Itoa(pageSize), "continue": l.token, "labelSelector": l.client.selector,
	})
	if err != nil {
		return l.expired(err)
	}
	defer body.Close()
	before := l.given
	p, err := readPage(body, l.take)
	if l.given > before {
		l.failures = 0
	} else {
		l.failures++
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, errBroken) && l.failures < maxFailures:
		l.skip()
		return true, nil
	case err != nil:
		return false, err
	case p.Continue == "":
		return false, nil
	case p.Continue == l.token:
		return false, errors.New("the server gives a page again and again")
	case l.failures >= maxFailures:
		return false, errors.New("the server gives empty pages without end")
	}
	l.token = p.Continue
	return true, nil
}

// take gives an object away, unless it was given before.
func (l *listing) take(raw []byte) error {
	if l.behind != "" && keyOf(raw) <= l.behind {
		return nil
	}
	l.behind, l.last = "", raw
	l.given++
	return l.each(raw)
}

// skip lets the next page begin behind the last object.
func (l *listing) skip() {
	if l.last != nil {
		l.behind = keyOf(l.last)
	}
}

// expired goes on with a list that the server has forgotten: as it is now, from where
// it was. The server says how; one that does not is asked from the beginning.
func (l *listing) expired(err error) (more bool, _ error) {
	var status apierrors.APIStatus
	gone := apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
	if l.failures++; !gone || l.token == "" || l.failures >= maxFailures || !errors.As(err, &status) {
		return false, err
	}
	if !l.told {
		l.told = true
		l.client.Tell(fmt.Errorf("%s: the list expired behind %d objects: the rest is as it is now (%w)", l.path[len(l.path)-1], l.given, err))
	}
	l.skip()
	l.token = status.Status().Continue
	return true, nil
}

// keyOf is what objects are ordered by; "" of what is none.
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
