package conversion

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/celadon-cel/celadon/engine"
)

// Batched is like Reviews, but conversions of one kind to the same version that wait at the same time share a review,
// as the objects of a list do in the API server. If a shared review fails, its objects are sent again in smaller
// reviews, so that each failure belongs to one object. After three objects have timed out on their own, the other
// objects of the review fail. The context of a shared review is the context of one of its conversions.
func Batched(send func(ctx context.Context, review []byte) (answer []byte, err error)) *Converter {
	b := &batcher{exchange: exchangeBy(send), waiting: map[string][]*batched{}}
	return &Converter{make: b.convert}
}

const (
	maxBatch = 64
	// maxSlow is how many objects of a batch may time out, each in a review of its own, before the others are given up.
	maxSlow = 3
)

type batcher struct {
	exchange exchange
	mu       sync.Mutex
	waiting  map[string][]*batched // by kind and version; a key exists while a review for it is under way
}

type batched struct {
	q    engine.Conversion
	turn chan struct{} // closed when the conversion is done, or has to send the next review
	done bool
	out  map[string]any
	err  error
}

func (b *batcher) convert(ctx context.Context, q engine.Conversion) (map[string]any, error) {
	key := fmt.Sprint(kindOf(q.Object).GroupKind(), q.APIVersion)
	own := &batched{q: q, turn: make(chan struct{})}
	b.mu.Lock()
	queue, busy := b.waiting[key]
	b.waiting[key] = append(queue, own)
	b.mu.Unlock()
	if busy {
		<-own.turn
	}
	if !own.done {
		b.lead(ctx, key)
	}
	return own.out, own.err
}

func (b *batcher) lead(ctx context.Context, key string) {
	b.mu.Lock()
	n := min(len(b.waiting[key]), maxBatch)
	batch := b.waiting[key][:n:n]
	b.waiting[key] = b.waiting[key][n:]
	b.mu.Unlock()
	defer func() {
		for _, r := range batch[1:] {
			r.done = true
			close(r.turn)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if rest := b.waiting[key]; len(rest) > 0 {
			close(rest[0].turn)
		} else {
			delete(b.waiting, key)
		}
	}()
	slow := 0
	b.send(ctx, batch, &slow)
}

func (b *batcher) send(ctx context.Context, batch []*batched, slow *int) {
	qs := make([]engine.Conversion, len(batch))
	for i, r := range batch {
		qs[i] = r.q
		r.err = failed(TooSlow, r.q, "failed: %d other objects were not converted in time", maxSlow)
	}
	if *slow >= maxSlow || ctx.Err() != nil {
		return
	}
	out, err := b.exchange(ctx, qs)
	switch half := len(batch) / 2; {
	case err == nil:
		for i, r := range batch {
			r.out, r.err = out[i], nil
		}
	case half > 0:
		b.send(ctx, batch[:half], slow)
		b.send(ctx, batch[half:], slow)
	default:
		batch[0].err = err
		var late *Error
		if errors.As(err, &late) && late.Failure == TooSlow {
			*slow++
		}
	}
}
