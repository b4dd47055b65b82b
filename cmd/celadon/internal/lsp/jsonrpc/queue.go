package jsonrpc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// send queues a message.
func (c *Conn) send(m *message) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return err
	}
	text := frame(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil && c.waiting+len(text) > maxWaiting {
		c.err = fmt.Errorf("more than %d MiB wait to be read", maxWaiting>>20)
		c.stop()
	}
	if c.err != nil {
		return c.err
	}
	c.queue = append(c.queue, text)
	c.waiting += len(text)
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

// write writes queued messages until the connection is over. Then it writes the rest.
func (c *Conn) write() {
	for last := false; ; {
		c.mu.Lock()
		queue := c.queue
		c.queue = nil
		c.mu.Unlock()
		for _, text := range queue {
			if _, err := c.out.Write(text); err != nil {
				c.mu.Lock()
				c.err, c.queue = err, nil
				c.mu.Unlock()
				c.stop()
				return
			}
			c.mu.Lock()
			c.waiting -= len(text)
			c.mu.Unlock()
		}
		if len(queue) > 0 {
			continue
		}
		if last {
			return
		}
		select {
		case <-c.wake:
		case <-c.over:
			last = true
		}
	}
}
