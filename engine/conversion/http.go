package conversion

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
)

// This file handles responses as k8s.io/client-go/rest does, without importing its packages.

const maxRetries = 10

func (c *client) post(ctx context.Context, review []byte, into runtime.Object) error {
	for try := 0; ; try++ {
		a, err := c.once(ctx, review)
		if err != nil {
			return err
		}
		if wait, again := a.again(); again && try < maxRetries {
			if err := sleep(ctx, wait); err != nil {
				return err
			}
			continue
		}
		return a.read(c.codec, into)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

type answer struct {
	code   int
	header http.Header
	body   []byte
}

func (c *client) once(ctx context.Context, review []byte) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(review))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, */*")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "celadon")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", err)
	}
	c.answered.Store(true)
	if int64(len(body)) > c.MaxBytes {
		return nil, fmt.Errorf("the response is too large (got more than %d bytes)", c.MaxBytes)
	}
	return &answer{resp.StatusCode, resp.Header, body}, nil
}

// A response requests a retry with Retry-After if its code is 429 or 5xx.
func (a *answer) again() (time.Duration, bool) {
	if a.code != http.StatusTooManyRequests && a.code < http.StatusInternalServerError {
		return 0, false
	}
	seconds, ok := a.retryAfter()
	return time.Duration(seconds) * time.Second, ok
}

func (a *answer) retryAfter() (seconds int, ok bool) {
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	return seconds, err == nil
}

func (a *answer) read(codec runtime.Codec, into runtime.Object) error {
	contentType := a.header.Get("Content-Type")
	if contentType == "" {
		contentType = runtime.ContentTypeJSON
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if a.code < http.StatusOK || a.code > http.StatusPartialContent {
		return a.rejection(codec, strings.HasPrefix(media, "text/") || a.header.Get("Content-Type") == "")
	}
	if len(a.body) == 0 {
		return fmt.Errorf("0-length response with status code: %d and content type: %s", a.code, contentType)
	}
	return decode(codec, a.body, into)
}

const maxText = 2048

func (a *answer) rejection(codec runtime.Codec, text bool) error {
	message := "unknown"
	if text {
		message = strings.TrimSpace(string(a.body[:min(len(a.body), maxText)]))
	}
	seconds, _ := a.retryAfter()
	err := apierrors.NewGenericServerResponse(a.code, http.MethodPost, runtimeschema.GroupResource{}, "", message, seconds, true)
	if len(a.body) == 0 || checkSize(a.body) != nil {
		return err
	}
	out, _, notDecoded := codec.Decode(a.body, &runtimeschema.GroupVersionKind{Version: "v1"}, nil)
	if status, ok := out.(*metav1.Status); ok && notDecoded == nil && status.Status == metav1.StatusFailure {
		return apierrors.FromObject(status)
	}
	return err
}
