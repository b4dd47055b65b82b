//go:build js && wasm

// Command wasm is the engine of the playground in a browser, where it runs in a Worker, and of the JavaScript
// package in npm/. It calls celadonReady(). Then, celadon(request, reply) passes the reply to a request, the
// same as in celadon playground, to the function reply. Both are bytes.
package main

import (
	"context"
	"syscall/js"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/gctuning"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground/service"
)

// A collection also scans 20 MB of tables, which takes tens of milliseconds. But the
// browser never gets memory back. Therefore garbage may be much larger than live
// memory, up to a limit that few CRDs reach.
const (
	garbagePercent = 400
	memoryLimit    = 48 << 20
)

type call struct {
	request []byte
	reply   js.Value
}

func main() {
	gctuning.CollectSeldom(garbagePercent, memoryLimit)
	calls := make(chan call, 1)
	js.Global().Set("celadon", js.FuncOf(func(_ js.Value, args []js.Value) any {
		request := make([]byte, args[0].Length())
		js.CopyBytesToGo(request, args[0])
		// If the channel is full, sending must not block JavaScript's event loop.
		go func() { calls <- call{request, args[1]} }()
		return nil
	}))
	svc := service.New()
	js.Global().Call("celadonReady")
	for c := range calls {
		reply := svc.Answer(context.Background(), c.request)
		text := js.Global().Get("Uint8Array").New(len(reply))
		js.CopyBytesToJS(text, reply)
		c.reply.Invoke(text)
	}
}
